"""Augmented Lagrangian methods that measure everything they need: no constants are told them."""
