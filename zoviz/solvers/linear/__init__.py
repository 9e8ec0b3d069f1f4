"""Solvers for stochastic problems with linear constraints."""
