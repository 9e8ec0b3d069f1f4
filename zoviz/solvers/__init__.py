"""Solvers, one file per algorithm; a new file here is a new solver everywhere."""

from zoviz.core.registry import export
from zoviz.solvers.base import Solver

__all__ = ["Solver", *export(__name__, globals(), Solver)]
