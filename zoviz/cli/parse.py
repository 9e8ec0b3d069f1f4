"""Parses ``name=value`` as a parameter of a problem or a solver."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import param

from zoviz.cli.command import UsageError
from zoviz.core import registry
from zoviz.estimators import GradientEstimator
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.solvers.parameter_lookup import owner

_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def split(words: Iterable[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Separate plain words from pairs ``name=value``."""
    plain, pairs = [], []
    for word in words:
        name, sign, value = word.partition("=")
        if sign:
            pairs.append((name.strip(), value.strip()))
        else:
            plain.append(word)
    return plain, pairs


def assign(problem: Problem, solver: Solver, name: str, text: str) -> None:
    """Set a parameter of the problem or of the solver.

    Parameters
    ----------
    name : str
        ``n``, ``primal_step``, ``estimator.batch_size``; ``problem.`` or ``solver.`` in front where both have it.

    Raises
    ------
    UsageError
        For no such parameter, or a value that it does not take.
    """
    put(*owner(problem, solver, name), name, text)


def put(holder: param.Parameterized, own: str, name: str, text: str) -> None:
    """Set the parameter ``own`` of its holder, which the command line calls ``name``; raises as ``assign`` does."""
    value = read(holder.param[own], text, name)
    try:
        setattr(holder, own, value)
    except (ValueError, TypeError) as error:
        raise UsageError(f"Expected another value for {name}, got {text!r}: {error}") from None


def read(parameter: param.Parameter, text: str, name: str) -> Any:
    """Return the value that a text denotes, in the parameter's type.

    Raises
    ------
    UsageError
        Where it stands for none.
    """
    word = text.casefold()
    if parameter.allow_None and word in ("", "none", "auto"):
        return None
    try:
        if isinstance(parameter, param.Boolean):
            return _truth(word)
        if isinstance(parameter, param.Integer):
            return _whole(text)
        if isinstance(parameter, param.Number):
            return float(text)
    except ValueError:
        kind = {"Boolean": "true or false", "Integer": "a whole number"}.get(type(parameter).__name__, "a number")
        raise UsageError(f"Expected {kind} for {name}, got {text!r}.") from None
    if isinstance(parameter, param.ClassSelector):
        return _instance(parameter, text)
    if isinstance(parameter, param.Selector):
        names = {str(one): one for one in parameter.objects}
        if text not in names:
            raise UsageError(f"Expected one of {', '.join(names)} for {name}, got {text!r}.")
        return names[text]
    if isinstance(parameter, param.String):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _truth(word: str) -> bool:
    if word not in _TRUE + _FALSE:
        raise ValueError
    return word in _TRUE


def _whole(text: str) -> int:
    value = float(text)
    if not value.is_integer():
        raise ValueError
    return int(value)


def _instance(parameter: param.ClassSelector, text: str) -> Any:
    """Return an estimator or an inner solver by its class's name."""
    classes = parameter.class_ if isinstance(parameter.class_, tuple) else (parameter.class_,)
    if issubclass(classes[0], GradientEstimator):
        return registry.named("zoviz.estimators", GradientEstimator, text, "estimator")()
    return registry.named("zoviz.solvers", Solver, text, "solver")()
