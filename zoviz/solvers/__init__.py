"""Solvers, one file per algorithm; a new file here is a new solver everywhere."""

from zoviz.core.registry import LazyExports
from zoviz.solvers.base import Solver as Solver

__getattr__ = LazyExports(__name__, globals(), Solver)
__dir__ = __getattr__.names
