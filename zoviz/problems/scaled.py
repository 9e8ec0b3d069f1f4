"""A problem in its solver's units: variables, objective and constraints of order 1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from zoviz.core.sets import Set
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, ExactValues, Optimum
from zoviz.core.units import Units
from zoviz.problems.base import Problem


class Scaled(Problem):
    """Another problem in a solver's units, for step-size rules and theory; ``metrics`` answers in the user's.

    It has the members of ``Problem`` alone: what a user's class has beyond them is in the user's units.

    Parameters
    ----------
    problem : Problem
        The problem in the user's units.
    units : Units
    """

    __abstract = True

    domain: Set
    n: int
    m: int

    def __init__(self, problem: Problem, units: Units) -> None:
        super().__init__(
            noise=problem.contract,
            noise_distribution=problem.noise_distribution,
            noise_scale=problem.noise_scale,
            noise_constraint_scale=problem.noise_constraint_scale,
            noise_degrees=problem.noise_degrees,
            scaled=problem.scaled,
        )
        self._problem, self._units = problem, units
        self.domain = units.domain
        self.n, self.m = units.domain.n, problem.m
        # The user's problem tells these: instance attributes, which shadow the class attributes of the same names.
        vars(self).update(
            title=problem.title,
            analytic=problem.analytic,
            stochastic=problem.stochastic,
            keeps_bounds=problem.keeps_bounds,
        )

    @property
    def keeps_rows(self) -> bool:
        return self._problem.keeps_rows

    @property
    def kept_rows(self) -> np.ndarray:
        return self._problem.kept_rows

    def clone(self) -> Self:
        """Return a clone around a clone of the problem."""
        return type(self)(self._problem.clone(), self._units)

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Return values in the solver's units, f (...) and h (..., m), at the solver's points (..., n)."""
        return self._units.value(self._problem.evaluate(self._units.point(x), xi))

    def draw(
        self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: int | tuple[int, ...] = 1
    ) -> Any:
        """Draw the sample of the problem itself."""
        return self._problem.draw(iteration, streams, shape, size)

    def gradient(self, x: Array, xi: object = None) -> tuple[Array, Array] | None:
        """Return the gradients (..., n) and (..., m, n) of the scaled functions in the scaled coordinates."""
        gradients = self._problem.gradient(self._units.point(x), xi)
        return None if gradients is None else self._units.gradients(gradients)

    def initial(self, streams: Streams) -> Array:
        """Return starting points in the solver's units, (R, n)."""
        return self._units.inverse(self._problem.initial(streams))

    @property
    def known_optimum(self) -> Optimum | None:
        """The solution in the solver's units."""
        optimum, units = self._problem.known_optimum, self._units
        if optimum is None:
            return None
        value = (optimum.value - units.level) / units.f
        return Optimum(value, units.inverse(optimum.point), optimum.multipliers * units.h / units.f, optimum.source)

    @property
    def constants(self) -> Constants | None:
        """Bounds from the problem's own constants, the largest width and the smallest s_i: not tight."""
        constants, units = self._problem.constants, self._units
        if constants is None:
            return None
        width, f = float(units.width.max()), units.f
        h = float(units.h.min()) if units.h.size else 1.0
        return replace(
            constants,
            curvature=constants.curvature * width**2 / f,
            constraint_curvature=constants.constraint_curvature * width**2 / h,
            slope=constants.slope * width / f,
            constraint_slope=constants.constraint_slope * width / h,
            start_slope=constants.start_slope * width / h,
            weak_convexity=constants.weak_convexity * width**2 / f,
            noise=constants.noise / f,
            constraint_noise=constants.constraint_noise / h,
        )

    @property
    def noise_variances(self) -> Array:
        """The variances (m + 1,) of the additive noise on the scaled functions."""
        return self._problem.noise_variances / np.square(np.append(self._units.f, self._units.h))

    def exact_values(self, x: Array) -> None:
        """Return None: measures are the problem's own, which evaluates in the user's units."""
        return None

    def metrics(
        self, x: Array, y: Array | None, value: Evaluation | None, exact: ExactValues | None = None
    ) -> dict[str, Array]:
        """Measure a solver's iterate (R, n) by the problem's own measures (R,), in the user's units."""
        units = self._units
        return self._problem.metrics(
            units.point(x),
            None if y is None else units.dual(y),
            None if value is None else units.user_value(value),
        )
