"""Zeroth-order solvers for constrained problems."""
