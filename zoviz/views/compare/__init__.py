"""The room in which runs are set side by side."""
