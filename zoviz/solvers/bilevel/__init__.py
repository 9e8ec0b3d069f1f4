"""Solvers for online bilevel problems."""
