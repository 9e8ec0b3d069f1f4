"""The groups in which lists have solvers."""

from __future__ import annotations

from zoviz.solvers.base import Solver

METHODS = {
    "saddle": "Zeroth-order, constrained",
    "linear": "Linear constraints",
    "bilevel": "Online bilevel",
    "single_level": "Online, single-level",
    "augmented_lagrangian": "General black boxes",
    "sqp": "General black boxes",
    "portfolio": "General black boxes",
    "bayesian": "Bayesian",
    "external": "Other libraries",
}
"""Groups of solvers by the folder of ``zoviz.solvers``."""
_ELSE = "Your own"


def solver_group(solver: Solver) -> str:
    """Return the group of the list in which a solver stands."""
    for cls in type(solver).__mro__:
        path = cls.__module__.split(".")
        if path[:2] == ["zoviz", "solvers"] and len(path) > 3:
            return METHODS.get(path[2], _ELSE)
    return _ELSE
