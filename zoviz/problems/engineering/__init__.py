"""Engineering design problems with published optima."""
