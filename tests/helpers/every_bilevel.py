"""Every solver of online bilevel problems and every such problem that it accepts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from helpers.arrays import assert_same_arrays
from helpers.every_solver import EVERY, EVERY_PROBLEM
from zoviz.core.errors import MissingExtra
from zoviz.core.types import Array
from zoviz.problems.bilevel import OnlineBilevel

FORM = "online bilevel"
SOLVERS = {name: cls for name, cls in EVERY.items() if FORM in cls.forms}
PROBLEMS = {name: cls for name, cls in EVERY_PROBLEM.items() if cls.form == FORM}
# Cheap ones in closed form; the pairs with others are slow tests.
CORE = {"QuadraticBilevel": {"n": 4, "d": 5}, "CurvedBilevel": {"n": 4, "d": 5}, "ToyBilevel": {"variant": "rapid"}}


def accepted(solver: str, problem: str) -> bool:
    """Whether the solver takes the problem; where that needs an extra that is missing, its tests are skipped."""
    try:
        return SOLVERS[solver]().accepts(PROBLEMS[problem]()) is None
    except MissingExtra:
        return True


PAIRS = [pair for pair in itertools.product(SOLVERS, PROBLEMS) if accepted(*pair)]
CORE_PAIRS = [pair for pair in PAIRS if pair[1] in CORE]
EACH_SOLVER = pytest.mark.parametrize("cls", SOLVERS.values(), ids=SOLVERS.keys())
EACH_PROBLEM = pytest.mark.parametrize("cls", PROBLEMS.values(), ids=PROBLEMS.keys())
EACH_PAIR = pytest.mark.parametrize(
    "solver, problem",
    [pytest.param(*pair, id="-".join(pair), marks=() if pair in CORE_PAIRS else pytest.mark.slow) for pair in PAIRS],
)
# One of them for each solver, in turn; the others are slow tests, too.
IN_TURN = [
    pairs[i % len(pairs)] for i, name in enumerate(SOLVERS) if (pairs := [p for p in CORE_PAIRS if p[0] == name])
]
EACH_CORE_PAIR = pytest.mark.parametrize(
    "solver, problem",
    [pytest.param(*pair, id="-".join(pair), marks=() if pair in IN_TURN else pytest.mark.slow) for pair in CORE_PAIRS],
)
EACH_PAIR_IN_TURN = pytest.mark.parametrize(
    "solver, problem",
    [pytest.param(*pair, id="-".join(pair), marks=() if pair in IN_TURN else pytest.mark.slow) for pair in PAIRS],
)
EACH_NOISE = pytest.mark.parametrize("noise", ["deterministic", "common"])


def small(name: str, **settings: Any) -> OnlineBilevel:
    """An instance of modest size."""
    return PROBLEMS[name](**CORE.get(name, {}), **settings)


def arrays(state: Any) -> list[Array]:
    """Every array of a state, those of nested parts and of kept samples included."""
    results = []
    for part in state:
        if isinstance(part, tuple):
            results += arrays(part)
        elif isinstance(part, np.ndarray):
            results.append(part)
        elif hasattr(part, "__dict__"):
            results += arrays(vars(part).values())
    return results


def assert_equal_states(one: Any, other: Any) -> None:
    assert_same_arrays(arrays(one), arrays(other))


DERIVATIVES = ("outer_gradients", "inner_gradient", "inner_hessian_vector", "inner_jacobian_vector")
