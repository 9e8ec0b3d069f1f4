"""Solvers, one file per algorithm; a new file here is a new solver everywhere."""

from typing import TYPE_CHECKING, Any

from zoviz.core.registry import export
from zoviz.solvers.base import Solver

__all__ = ["Solver", *export(__name__, globals(), Solver)]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What ``export`` puts here: a type checker cannot see it."""
