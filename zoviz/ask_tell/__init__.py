"""Solvers that ask for points and are told their values."""
