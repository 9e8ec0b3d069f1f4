"""The facts that a step of ZOSQP depends on: the box of the free variables, the live parameters, the calls left."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.oracle.quantum import quantum
from zoviz.solvers.restart_rules import unit_lengths


class Space(NamedTuple):
    """The free variables of one replica; those that equal bounds fix are kept from both arms.

    Attributes
    ----------
    lower, upper, scale, start : Array, shape (n,)
        Bounds, unit lengths and start of the free variables.
    tolerance : Array, shape (m,)
        Largest h that counts as feasible.
    """

    lower: Array
    upper: Array
    scale: Array
    start: Array
    tolerance: Array

    @property
    def n(self) -> int:
        """The number of free variables."""
        return len(self.start)

    def clip(self, x: Array) -> Array:
        """Return the points of the box nearest to points x (..., n)."""
        return np.minimum(np.maximum(x, self.lower), self.upper)


class Settings(NamedTuple):
    """The values of ZOSQP's live parameters at one step."""

    trust_scale: float
    restart_share: float
    batch_multiplier: float
    penalty: float
    back_off: float
    verification_share: float


def _plain_quantum(values: Array, scattered: bool) -> Array:
    return quantum(values, scattered=scattered)


class Situation(NamedTuple):
    """The search space, settings, calls left and random generator of one replica's step.

    Attributes
    ----------
    space : Space
    settings : Settings
    left, budget : int
        Calls that the replica may still make, and all of them.
    generator : numpy.random.Generator
        Made for this step from the replica's own stream.
    quantum : callable
        Values (q, 1 + m), and whether their points are scattered, to the steps (1 + m,) of the outputs that are
        rounded, as ``Oracle.quantum``.
    """

    space: Space
    settings: Settings
    left: int
    budget: int
    generator: np.random.Generator
    quantum: Callable[[Array, bool], Array] = _plain_quantum

    def in_units(self, length: Array) -> Situation:
        """Return the same with the variables' unit lengths times ``length``, (n,)."""
        return self._replace(space=self.space._replace(scale=self.space.scale * length))


def space_of(box: Box, start: Array, tolerance: Array) -> Space:
    """Return the free variables of a box, in the units of ``unit_lengths``.

    Parameters
    ----------
    box : Box
    start : Array, shape (n,)
    tolerance : Array, shape (m,)
    """
    lower, upper, x0 = box.lower[box.variable], box.upper[box.variable], start[box.variable]
    return Space(lower, upper, unit_lengths(lower, upper, x0), x0, tolerance)
