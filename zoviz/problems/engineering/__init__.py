"""Engineering design problems with published solutions."""
