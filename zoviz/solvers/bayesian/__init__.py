"""Constrained Bayesian optimisation on Gaussian processes of BoTorch."""
