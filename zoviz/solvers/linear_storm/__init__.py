"""Competitors of the smoothed methods for linear constraints that reduce variance by a recursion (STORM)."""
