"""The problems: objectives and constraints that solvers see by their values; one file for each problem."""

from zoviz.core.registry import LazyExports
from zoviz.problems.base import Problem as Problem

__getattr__ = LazyExports(__name__, globals(), Problem)
__dir__ = __getattr__.names
