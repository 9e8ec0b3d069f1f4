"""The papers' experiments, one folder per paper, with the published numbers beside what runs here."""
