"""Drawings of engineering designs, to scale, with the constraints that are at their limit."""
