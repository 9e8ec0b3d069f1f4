"""Quadratic problems whose optimum is known."""
