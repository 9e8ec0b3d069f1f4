"""The plots of a run: the board, its lines and marks; the plots themselves are in ``catalogue``."""
