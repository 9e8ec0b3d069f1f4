"""The values that travel between the rooms, and the glossary of shapes.

Shapes
------
R replicas (independent runs advanced in lock-step), n variables, m constraints, k directions. The replica axis
always comes first: x is (R, n), a batch of probes is (R, k, n), dual variables are (R, m).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Evaluation(NamedTuple):
    """The values (f, h) that one joint oracle call returns at each point.

    Attributes
    ----------
    f : Array, shape (...,)
        Objective, minimised.
    h : Array, shape (..., m)
        Constraints; a point is feasible iff ``h <= 0``.
    """

    f: Array
    h: Array

    @property
    def stacked(self) -> Array:
        """All functions side by side, f first, shape (..., m + 1)."""
        return np.concatenate([self.f[..., None], self.h], axis=-1)

    @property
    def finite(self) -> np.ndarray:
        """Whether all values at a point are finite, shape (...,)."""
        return np.isfinite(self.f) & np.isfinite(self.h).all(axis=-1)

    def where(self, mask: np.ndarray, other: Evaluation) -> Evaluation:
        """Return these values at the points of the mask (...,), the other's at the rest."""
        return Evaluation(np.where(mask, self.f, other.f), np.where(mask[..., None], self.h, other.h))


class Estimate(NamedTuple):
    """A gradient estimate with its measured variance and the value at the point itself.

    Attributes
    ----------
    gradient : Array, shape (R, n)
    variance : Array, shape (R,)
        Trace of the covariance of ``gradient``, measured from the samples that it is the mean of; NaN where one
        sample leaves it unmeasurable.
    base : Evaluation or None
        Value at the point itself, where the estimator needed it.
    cut : ndarray of bool, shape (R,), or None
        Replicas of which bounds cut a step, so that the probes are not centred at the point; None where none is.
    """

    gradient: Array
    variance: Array
    base: Evaluation | None
    cut: np.ndarray | None = None


class Iterate(NamedTuple):
    """A solver's iterate by its roles (point, multipliers, slack ...); None where a method has no such thing.

    Attributes
    ----------
    x : Array, shape (R, n)
        The point to be measured: the last iterate, or what the solver reports.
    dual : Array, shape (R, m), or None
        Multipliers of h, at least 0; NaN where an external library tells none.
    value : Evaluation or None
        The oracle's own value at ``x``.
    row_dual : Array, shape (R, p), or None
        Multipliers of linear rows A x = b, of either sign.
    slack : Array, shape (R, s), or None
        t <= 0 of linear rows A x - t = b; s = 0 for equations.
    centre : Array, shape (R, n), or None
        Centre of a proximal term.
    resets : Array, shape (R,), or None
        How many times the multipliers were reset.
    inner : Array, shape (R, d), or None
        The follower's y of a bilevel problem.
    system : Array, shape (R, d), or None
        The approximate solution v of a bilevel problem's linear system, with which the next round is played.
    solved : Array, shape (R, d), or None
        Instead of ``system``, that of a method which solves each round's system in that round: the last round's.
    """

    x: Array
    dual: Array | None = None
    value: Evaluation | None = None
    row_dual: Array | None = None
    slack: Array | None = None
    centre: Array | None = None
    resets: Array | None = None
    inner: Array | None = None
    system: Array | None = None
    solved: Array | None = None


class Sketch(NamedTuple):
    """The region in which one replica of a solver trusts its model, and the last points at which it asked for values.

    Attributes
    ----------
    centre : Array, shape (n,)
        The middle of the region: where the next step begins.
    reach : Array, shape (n,)
        Half the region's width in each variable.
    points : Array, shape (q, n)
        The last batch.
    purpose : str
        What that batch was for, in a word or two.
    """

    centre: Array
    reach: Array
    points: Array
    purpose: str


class ExactValues(NamedTuple):
    """A problem's exact values and gradients at points, computed once and not charged.

    Attributes
    ----------
    x : Array, shape (R, n)
    value : Evaluation
        f (R,) and h (R, m).
    gradients : tuple of Array, or None
        Of f (R, n) and of h (R, m, n); None where they are not known.
    """

    x: Array
    value: Evaluation
    gradients: tuple[Array, Array] | None


class Sample(SimpleNamespace):
    """A draw of a stochastic problem: arrays with the replica axis first, and whatever all replicas share.

    ``sample[rows]`` is the same with the rows of these replicas only.
    """

    def __getitem__(self, rows: Any) -> Sample:
        return Sample(**{k: v[rows] if isinstance(v, np.ndarray) else v for k, v in vars(self).items()})


class Tally(Protocol):
    """A sum of measures over every iteration of a run, also those whose rows its trace does not keep."""

    def add(self, before: Iterate, after: Iterate, sample: Any) -> None:
        """Take in one step, from the iterates before and after it and the sample that it used."""

    def row(self) -> dict[str, Array]:
        """Return the columns (R,) of the sums so far."""

    def snapshot(self) -> dict[str, Any]:
        """Return the sums so far as data for a checkpoint."""

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from the sums of a snapshot."""


@dataclass(frozen=True)
class Optimum:
    """A known optimum of a problem.

    Attributes
    ----------
    value : float
        Objective value at the solution.
    point : Array, shape (n,)
    multipliers : Array, shape (m,)
        NaN where they are not known.
    source : str
        How it is known: a closed form, a certificate, a publication.
    """

    value: float
    point: Array
    multipliers: Array
    source: str


class Provenance(Enum):
    """The source of a step-size rule's constants: known, measured or assumed."""

    ANALYTIC = "analytic"
    """From the problem's own data: bounds over its domain."""
    MEASURED = "measured"
    """From differences of values, by charged calls at the start."""
    ASSUMED = "assumed"
    """From nothing: every constant is 1, as a library's own user would have it."""


@dataclass(frozen=True)
class StepConstants:
    """The constants that step-size rules take, with their provenance.

    Attributes
    ----------
    provenance : Provenance
    calls : int
        Oracle calls per replica that measuring took.
    """

    provenance: Provenance = field(default=Provenance.ANALYTIC, kw_only=True)
    calls: int = field(default=0, kw_only=True)

    @property
    def measured(self) -> bool:
        """Whether the constants come from differences near the start, and not from the problem."""
        return self.provenance is Provenance.MEASURED

    @property
    def source(self) -> str:
        """The provenance in words: "analytic", "measured (N calls)" or "assumed"."""
        return f"measured ({self.calls} calls)" if self.measured else self.provenance.value


_LEAST_SHARE = 0.1
"""The constraints' slope counts as at least this share of what it is around the start (chosen by us): where it was
measured on flat ground, multipliers would seem to have no bound."""
_DUAL_ROOM = 100.0
"""How many times the expected size of multipliers they may reach before the cap holds them (chosen by us): a bound
that is meant to stay out of reach."""
_FLAT = 1e-8
"""A guard against division by zero where f or h is flat."""


@dataclass(frozen=True)
class Constants(StepConstants):
    """The curvatures, slopes and noise of a constrained problem that step-size rules take.

    Attributes
    ----------
    curvature : float
        Lipschitz constant L_f of the objective's gradient.
    constraint_curvature : float
        Lipschitz constant L_h of the constraints' gradients (Frobenius norm over the constraints).
    slope, constraint_slope : float
        Bounds G_f and G_h on the norms of the objective's gradient and of the constraints' Jacobian over the domain
        (where they are measured: near the start).
    start_slope : float
        G_0, the root mean square of the Jacobian's norm over the starting points.
    weak_convexity : float
        Smallest rho >= 0 such that f + rho/2 ||x||^2 is convex; NaN where unknown.
    noise : float
        Standard deviation of the independent noise of one value of f; where it is measured, of round-off at least.
    constraint_noise : float
        The same of h, root of the sum over the constraints.
    objective_start_slope : float or None
        The root mean square of ||grad f|| over the starting points; None: not known but for its bound, or measured
        there, G_f.
    """

    curvature: float
    constraint_curvature: float
    slope: float
    constraint_slope: float
    start_slope: float
    weak_convexity: float
    noise: float = 0.0
    constraint_noise: float = 0.0
    objective_start_slope: float | None = None

    def plain(self) -> dict[str, Any]:
        """Return them as plain numbers and text by name; ``of`` is the inverse."""
        return asdict(self) | {"provenance": self.provenance.value}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Constants:
        """Return constants of the values that ``plain`` gave."""
        return cls(**{**values, "provenance": Provenance(values["provenance"])})

    @classmethod
    def assumed(cls) -> Constants:
        """Return constants of 1, for methods whose rules need none; the weak convexity is unknown."""
        return cls(1.0, 1.0, 1.0, 1.0, 1.0, weak_convexity=np.nan, provenance=Provenance.ASSUMED)

    def gradient_size(self, radius: float) -> float:
        """Return the size of the objective's gradient at the starts, and at least what it changes by within radius."""
        slope = self.slope if self.objective_start_slope is None else self.objective_start_slope
        return max(slope, self.curvature * radius)

    @property
    def multiplier(self) -> float:
        """The size y = G_f / G_h that multipliers may be expected to have, G_h >= G_0 / 10; 0 where h is flat."""
        if not self.constraint_slope:
            return 0.0
        return self.slope / max(self.constraint_slope, _LEAST_SHARE * self.start_slope)

    @property
    def dual_cap(self) -> float:
        """A bound 100 max(1, G_f / G_h) on multipliers, out of reach of those of the solution; 100 where h is flat."""
        ratio = self.slope / self.constraint_slope if self.constraint_slope else 1.0
        return _DUAL_ROOM * max(1.0, ratio)

    @property
    def safe_start_slope(self) -> float:
        """The constraints' slope G_0 at the start, made positive where they are flat, to divide by."""
        return max(self.start_slope, _FLAT)

    @property
    def safe_slope(self) -> float:
        """The objective's slope G_f, made positive where it is flat, to divide by."""
        return max(self.slope, _FLAT)

    @property
    def lagrangian_noise(self) -> float:
        """The standard deviation (sigma_f^2 + y^2 sigma_h^2)^(1/2) of f + <y, h> at multipliers of size y."""
        return math.hypot(self.noise, self.multiplier * self.constraint_noise)

    def lagrangian_curvature(self, least: float) -> float:
        """Return L_f + y L_h, with y = ``least``, or a larger multiplier where the constants were measured."""
        return self.curvature + self.constraint_curvature * (max(least, self.multiplier) if self.measured else least)


class Printed(NamedTuple):
    """The output of one evaluation, or the end of it.

    Attributes
    ----------
    call : int
        Number of the call, from 1.
    attempt : int
        1, more for a retry.
    status : str
        How it ended, e.g. "exit status 0".
    seconds : float
        How long it took.
    output, errors : str
        From standard output and standard error.
    """

    call: int
    attempt: int
    status: str
    seconds: float
    output: str
    errors: str

    def __str__(self) -> str:
        head = f"--- call {self.call}, attempt {self.attempt}: {self.status}"
        return "\n".join([head, *(part.rstrip("\n") for part in (self.output, self.errors) if part.strip())])


def all_finite(numbers: Array) -> bool:
    """Return whether an array of any shape has neither NaN nor an infinite number."""
    # One product begins in half the time of a reduction. Where it overflows, each number is looked at.
    return math.isfinite(np.vdot(numbers, numbers)) or bool(np.isfinite(numbers).all())
