"""Solvers for online problems without a follower, from values alone."""
