"""Experiments of paper sogd."""
