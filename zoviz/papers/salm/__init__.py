"""Experiments of paper salm."""
