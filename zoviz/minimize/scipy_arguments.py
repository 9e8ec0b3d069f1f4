"""The arguments of SciPy's ``minimize`` that values alone do not need, its options, and a method for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.errors import suggestion
from zoviz.core.types import Array
from zoviz.runs.engine.result import OptimizeResult
from zoviz.solvers.base import Solver

OPTIONS = {"maxiter": "iterations", "maxfev": "max_calls", "seed": "seed"}
"""SciPy's options that have a keyword of their own here; ``disp`` is the fourth that is understood."""


class FirstValue:
    """A function x -> function(x, ...)[0], of one that returns its gradient too, as with SciPy's ``jac=True``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, x: Array, *arguments: Any) -> Any:
        """Return the value without the gradient."""
        return self._function(x, *arguments)[0]


def values_alone(fun: Any, jac: Any, hess: Any, hessp: Any, integrality: Any) -> Any:
    """Return the function to be minimised, with a warning where derivatives are given: values alone are used.

    Parameters
    ----------
    fun : callable or Problem
    jac, hess, hessp : object
        As SciPy takes them. With ``jac=True`` the function returns a pair, and the gradient in it is left out.
    integrality : array_like, optional

    Raises
    ------
    ValueError
        For variables that are to stay integer; None and zeros are fine.

    Warns
    -----
    RuntimeWarning
        In SciPy's words, as its own methods without derivatives do.
    """
    if integrality is not None and np.any(integrality):
        raise ValueError(
            "Expected continuous variables, got integrality: no method here keeps variables integer. Round in fun, or "
            "use scipy.optimize.differential_evolution."
        )
    given = {"gradient information (jac)": callable(jac) or jac is True}
    given |= {
        "Hessian information (hess)": callable(hess),
        "Hessian-vector product information (hessp)": callable(hessp),
    }
    for name, present in given.items():
        if present:
            warnings.warn(f"zoviz does not use {name}: values are enough.", RuntimeWarning, stacklevel=3)
    return FirstValue(fun) if jac is True and callable(fun) else fun


class ReadOptions(NamedTuple):
    """The options of ``minimize`` by purpose: its own keywords, the solver's parameters, and printing."""

    keywords: dict[str, Any]
    solver: dict[str, Any]
    display: bool

    def shown(self, result: OptimizeResult) -> OptimizeResult:
        """Return a result; print its message and its figures, one per line, if ``disp`` is set."""
        if self.display:
            figures = {"fun": result.fun, "maxcv": result.maxcv, "calls": result.calls, "iterations": result.nit}
            print("\n".join([result.message, *(f"{name:>12}: {value:.6g}" for name, value in figures.items())]))
        return result


def read(options: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> ReadOptions:
    """Return the options sorted by purpose.

    Parameters
    ----------
    options : mapping, optional
        ``maxiter``, ``maxfev``, ``seed``, ``disp``, and parameters of the solver.
    keywords : mapping
        What was given under the names that these have here; None for nothing.

    Raises
    ------
    ValueError
        Where they are no mapping, or the same thing is given twice.
    """
    if not isinstance(options, Mapping | None):
        raise ValueError(f'Expected options such as {{"maxiter": 100}}, got {options!r:.80}.')
    rest = dict(options or {})
    display = bool(rest.pop("disp", False))
    own = {}
    for option, name in OPTIONS.items():
        if (value := rest.pop(option, None)) is None:
            continue
        if keywords[name] is not None:
            raise ValueError(f"Expected {name}= or options[{option!r}], got both: leave one of them out.")
        own[name] = value
    return ReadOptions(own, rest, display)


def set_options(solver: Solver, options: Mapping[str, Any]) -> None:
    """Set parameters of a solver by their (dotted) names.

    Warns
    -----
    OptimizeWarning
        For names that it does not have, as SciPy's methods do.
    """
    unknown = []
    for name, value in options.items():
        try:
            solver.owner(name)
        except (AttributeError, ValueError):
            unknown.append(name)
        else:
            solver.set(name, value)
    if not unknown:
        return
    from scipy.optimize import OptimizeWarning  # here: importing it takes longer than most runs

    own = [key for key in solver.param if key != "name"]
    own += [f"estimator.{key}" for key in getattr(solver.estimator, "param", ()) if key != "name"]
    hint = suggestion(unknown[0], own, f"{type(solver).__name__} has {', '.join(own)}.")
    warnings.warn(f"Unknown solver options: {', '.join(unknown)}: {hint}", OptimizeWarning, stacklevel=5)
