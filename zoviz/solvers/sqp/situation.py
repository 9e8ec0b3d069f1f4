"""The facts that a step of ZOSQP depends on: the box of the free variables, the live parameters, the calls left."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.solvers.restart_rules import FAR, NEAR, in_box, moved, unit_lengths
from zoviz.solvers.sqp.constants import STANDARD, SQPConstants
from zoviz.solvers.sqp.kept_rows import NONE_KEPT, KeptRows

Asks = Generator[Any, Any, Any]
"""A part of a loop (``zoviz.solvers.batches``), which asks for values before it returns."""


class Space(NamedTuple):
    """The free variables of one replica; those that equal bounds fix are kept from both arms.

    Attributes
    ----------
    lower, upper, scale, start : Array, shape (n,)
        Bounds, unit lengths and start of the free variables.
    tolerance : Array, shape (m,)
        Largest h that counts as feasible.
    constants : SQPConstants
        Of the method.
    kept : KeptRows
        Rows that are to hold for every call.
    """

    lower: Array
    upper: Array
    scale: Array
    start: Array
    tolerance: Array
    constants: SQPConstants = STANDARD
    kept: KeptRows = NONE_KEPT

    @property
    def n(self) -> int:
        """The number of free variables."""
        return len(self.start)

    def clip(self, x: Array) -> Array:
        """Return the points of the box nearest to points x (..., n)."""
        return np.minimum(np.maximum(x, self.lower), self.upper)

    def scaled(self, length: Array) -> Space:
        """Return the same with the unit lengths times ``length``, (n,)."""
        return self._replace(scale=self.scale * length)


class Settings(NamedTuple):
    """The values of ZOSQP's live parameters at one step."""

    trust_scale: float
    restart_share: float
    batch_multiplier: float
    penalty: float
    back_off: float
    verification_share: float


@dataclass
class StepContext:
    """The settings and the remaining budget of one step of a replica.

    Attributes
    ----------
    settings : Settings
    left, budget : int
        Calls that the replica may still make, and all of them.
    width : int
        The points of its batch at most.
    common, may_differ : bool
        Whether the calls of a step share one sample of the noise, and whether two at one point may give other values.
    seed : int
        A number of this step from the replica's own stream.
    parallel : int
        Calls that are made at a time: workers that are free begin with what may be needed next.
    used : bool
        Whether the step has asked for its batch.
    """

    settings: Settings
    left: int
    budget: int
    width: int
    common: bool
    may_differ: bool
    seed: int
    parallel: int = 1
    used: bool = False

    @cached_property
    def generator(self) -> np.random.Generator:
        """The step's random numbers."""
        return np.random.default_rng(self.seed)


def space_of(
    box: Box, start: Array, tolerance: Array, constants: SQPConstants = STANDARD, kept: KeptRows = NONE_KEPT
) -> Space:
    """Return the free variables of a box, in the units of ``unit_lengths``.

    Parameters
    ----------
    box : Box
    start : Array, shape (n,)
    tolerance : Array, shape (m,)
    constants : SQPConstants
    kept : KeptRows
        Rows that are to hold for every call.
    """
    lower, upper, x0 = box.lower[box.variable], box.upper[box.variable], start[box.variable]
    return Space(lower, upper, unit_lengths(lower, upper, x0), x0, tolerance, constants, kept)


def elsewhere(turn: int, best: Array, space: Space, generator: np.random.Generator) -> Array:
    """Return a point to start from, (n,): by turns near the best point, anywhere in the box, and around the start."""
    n, scale = space.n, space.scale
    normal = generator.standard_normal(n)
    if turn % 3 == 2:
        return moved(space.lower, space.upper, best, scale * 10.0 ** generator.uniform(*NEAR) * normal)
    if turn % 3 == 1:
        return moved(space.lower, space.upper, space.start, scale * 10.0 ** generator.uniform(*FAR) * normal)
    far = moved(space.lower, space.upper, space.start, scale * 10.0 ** generator.uniform(-1.0, 1.3) * normal)
    return space.clip(in_box(space.lower, space.upper, scale, generator.random(n), far))
