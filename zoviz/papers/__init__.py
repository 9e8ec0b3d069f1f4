"""The papers' experiments, one file per paper, with the published numbers beside what runs here."""
