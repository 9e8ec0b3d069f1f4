"""Quadratic problems with known optima."""
