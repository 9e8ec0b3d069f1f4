"""Augmented Lagrangian methods that need no constants of the problem: they measure scales and noise themselves."""
