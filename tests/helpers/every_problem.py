"""Every problem in the registry, and points of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.every_solver import PROBLEMS, SMALL
from zoviz.core.errors import MissingExtra
from zoviz.core.types import Array
from zoviz.problems.base import Problem

EACH_CLASS = pytest.mark.parametrize("cls", PROBLEMS.values(), ids=PROBLEMS.keys())


def small(cls: type[Problem], n: int = 10, **settings: Any) -> Problem:
    """An instance of modest size; where the package that it needs is missing, the test is skipped."""
    settings = (SMALL.get(cls.__name__, {}) if cls.costly else {}) | settings
    problem = cls(n=n, **settings) if "n" in cls.param else cls(**settings)
    try:
        _ = problem.domain
    except MissingExtra as error:
        pytest.skip(str(error))
    return problem


def inside(problem: Problem, *shape: int, seed: int = 0) -> Array:
    return problem.domain.sample(np.random.default_rng(seed).random((*shape, problem.domain.n)))
