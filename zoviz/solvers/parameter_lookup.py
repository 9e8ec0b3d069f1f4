"""The look-up of a (dotted) parameter in a problem or its solver."""

from __future__ import annotations

import param

from zoviz.core.errors import suggestion
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver


def owner(problem: Problem, solver: Solver, name: str) -> tuple[param.Parameterized, str]:
    """Return the object that has a parameter, and the parameter's own name there.

    Parameters
    ----------
    problem, solver
    name : str
        ``n``, ``primal_step``, ``estimator.batch_size``; ``problem.`` or ``solver.`` in front where both have it.

    Raises
    ------
    ValueError
        For no such parameter, with those that are near, or one of both.
    """
    place, _, rest = name.partition(".")
    owners: list[tuple[param.Parameterized, str]] = []
    if place != "solver" and (rest if place == "problem" else name) in settable(problem):
        owners.append((problem, rest if place == "problem" else name))
    path = rest if place == "solver" else name
    if place != "problem" and path in _dotted_names(solver):
        owners.append(solver.owner(path))
    if len(owners) == 1:
        return owners[0]
    if owners:
        raise ValueError(f"Expected one parameter, got {name!r} of both: write problem.{name} or solver.{name}.")
    names = [*settable(problem), *_dotted_names(solver)]
    whose = f"{type(problem).__name__} or {type(solver).__name__}"
    hint = suggestion(name, names, f"there are {', '.join(names)}.")
    raise ValueError(f"Expected a parameter of {whose}, got {name!r}: {hint}")


def settable(holder: param.Parameterized) -> list[str]:
    """Return the names of parameters that may be set from outside."""
    return [
        name
        for name, one in holder.param.objects().items()
        if name != "name" and not one.constant and not name.startswith("_") and not isinstance(one, param.Callable)
    ]


def _dotted_names(solver: Solver) -> list[str]:
    """Return the names of settable parameters of a solver and its parts."""
    return [f"{prefix}{name}" for prefix, part in solver.parts().items() for name in settable(part)]
