"""The constrained functions of COCO, by number, instance and dimension."""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import param

from zoviz.core.optional import require
from zoviz.core.sets import Box
from zoviz.core.types import Array, Optimum
from zoviz.problems.collection import CollectionProblem

FUNCTIONS, DIMENSIONS = range(1, 55), (2, 3, 5, 10, 20, 40)
_SUITE = "bbob-constrained"
_WRITE_SOLUTION = 'import cocoex, sys; cocoex.Suite(*sys.argv[1:]).get_problem(0)._best_parameter("print")'
_SOLUTION_FILE = "._bbob_problem_best_parameter.txt"
_LINEAR = (*range(1, 7), *range(13, 19), *range(37, 43))
"""Functions whose constraints share no nonlinear change of variables with the objective."""


class Instance:
    """A function of the suite, which cocoex evaluates; a copy of it, as an unpickled one, is made anew.

    Parameters
    ----------
    function, instance, n : int
        Its number, its instance, and the number of variables.

    Raises
    ------
    MissingExtra
        Where the package is not installed.
    """

    def __init__(self, function: int, instance: int, n: int) -> None:
        self._key = function, instance, n
        self._foreign: Any = require("cocoex", "coco").Suite(*_words(*self._key)).get_problem(0)
        self.name, self.m = str(self._foreign.id), int(self._foreign.number_of_constraints)
        self.start = np.array(self._foreign.initial_solution, dtype=float)
        self.domain = Box(self._foreign.lower_bounds, self._foreign.upper_bounds)

    def __reduce__(self) -> tuple[type[Instance], tuple[int, int, int]]:
        return type(self), self._key

    def value(self, x: Array) -> tuple[float, Array]:
        """Return f and h (m,) at one point (n,)."""
        return float(self._foreign(x)), np.array(self._foreign.constraint(x))

    @property
    def optimum(self) -> Optimum:
        """The solution from which the function was made."""
        point = np.array(_solution(*self._key))
        return Optimum(self.value(point)[0], point, np.full(self.m, np.nan), "by construction")


class BBOBConstrained(CollectionProblem):
    """A function of COCO's suite bbob-constrained in [-5, 5]^n, from the feasible start that COCO gives.

    Functions 1 to 6 have the objective sphere, the next six an ellipsoid, then linear slope, rotated ellipsoid, discus,
    bent cigar, different powers, Rastrigin and rotated Rastrigin. In each group of six there are 1, 3, 9, 9 + 3n/4,
    9 + 3n/2 and 9 + 9n/2 constraints, rounded down. They are linear, but bent with the objective where it is neither a
    sphere nor a slope nor a sum of different powers.

    Raises
    ------
    MissingExtra
        Without the package coco-experiment, as soon as the data are needed.

    References
    ----------
    Hansen, Auger, Ros, Mersmann, Tusar and Brockhoff (2021), COCO: a platform for comparing continuous optimizers in a
    black-box setting, Optim. Methods Softw. 36, 114-144.
    """

    title = "COCO suite (bbob-constrained)"
    order = 91

    function = param.Integer(
        default=1, bounds=(1, FUNCTIONS[-1]), label="Function", doc="Its number; six in a row share an objective."
    )
    dimension: param.Selector[int] = param.Selector(
        default=5, objects=list(DIMENSIONS), label="Dimension n", doc="The number of variables."
    )
    instance = param.Integer(
        default=1, bounds=(1, 15), label="Instance", doc="Which of the function's variants, with other solutions."
    )

    def build(self) -> Instance:
        return Instance(self.function, self.instance, self.dimension)

    @property
    def name_in_collection(self) -> str:
        """COCO's name of the problem."""
        return self.data.name

    @property
    def constraint_kind(self) -> str:
        """Whether the constraints are linear."""
        return "linear constraints" if self.function in _LINEAR else "nonlinear constraints"


def _words(function: int, instance: int, n: int) -> tuple[str, str, str]:
    """Return what cocoex makes a suite of one problem from."""
    return _SUITE, f"instances:{instance}", f"dimensions:{n} function_indices:{function}"


@functools.cache
def _solution(function: int, instance: int, n: int) -> tuple[float, ...]:
    """Return the solution of a function, which cocoex tells only by a file in the working directory."""
    with tempfile.TemporaryDirectory() as folder:  # a process of its own, as threads share the working directory
        command = [sys.executable, "-c", _WRITE_SOLUTION, *_words(function, instance, n)]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return tuple(np.loadtxt(Path(folder) / _SOLUTION_FILE).tolist())
