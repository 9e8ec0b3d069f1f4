"""Problems: black boxes with black-box constraints, one file each; a new file here is a new problem everywhere."""

from zoviz.problems.base import Problem
from zoviz.registry import export

__all__ = ["Problem", *export(__name__, globals(), Problem)]
