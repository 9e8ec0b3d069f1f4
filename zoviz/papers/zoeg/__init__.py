"""Experiments of paper zoeg."""
