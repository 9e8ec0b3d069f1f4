"""Experiments of paper conex."""
