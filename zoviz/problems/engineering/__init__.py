"""Smooth problems in a box with published solutions: engineering designs, and a toy."""
