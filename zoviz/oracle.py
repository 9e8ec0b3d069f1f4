"""The only road from a solver to a problem: counts, noise, shapes, failures and the best point queried so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from zoviz.problems.base import Problem
from zoviz.sets import Set
from zoviz.streams import Streams
from zoviz.types import Array, BudgetSpent, Evaluation, OracleError

_ON_BOUNDARY = 1e-9
"""How far a point may lie outside the domain, by round-off, and still count as inside."""


class Oracle:
    """Joint values (f, h) of one run, for R replicas at once.

    Parameters
    ----------
    problem : Problem
    streams : Streams
        Source of the noise; also says R.
    limit : int, optional
        Budget of oracle calls per replica: a request that would exceed it raises ``BudgetSpent`` before anything is
        evaluated.
    feasibility_tolerance : float
        Largest h that counts as feasible for ``best_x``.

    Attributes
    ----------
    calls : ndarray of int, shape (R,)
        One joint call per point.
    failures : ndarray of int, shape (R,)
        Points at which the black box returned a non-finite value.
    active : ndarray of bool, shape (R,)
        Replicas that still run; a frozen one is neither evaluated nor charged.
    all_active : bool
    failed : ndarray of bool, shape (R,)
        Replicas that cannot go on since the last ``freeze``; ``any_failed`` says whether there are some.
    best_f : Array, shape (R,)
        Lowest noise-free objective among the feasible points queried so far, +inf before the first.
    best_x : Array, shape (R, n)
        Where; NaN before the first.
    """

    def __init__(
        self,
        problem: Problem,
        streams: Streams,
        limit: int | None = None,
        feasibility_tolerance: float = 1e-6,
    ) -> None:
        replicas = streams.replicas
        self._problem, self._streams, self._limit = problem, streams, limit
        self._tolerance = feasibility_tolerance
        self._noisy = problem.noise != "deterministic" and problem.noise_scale > 0
        self._iteration, self._sample, self._shared_noise = -1, None, None
        self._spent = 0
        self.domain: Set = problem.domain
        self.n, self.m, self.contract = self.domain.n, problem.m, problem.noise
        self.calls = np.zeros(replicas, dtype=np.int64)
        self.failures = np.zeros(replicas, dtype=np.int64)
        self.active = np.ones(replicas, dtype=bool)
        self.failed = np.zeros(replicas, dtype=bool)
        self.any_failed = False
        self.all_active = True
        self.best_f = np.full(replicas, np.inf)
        self.best_x = np.full((replicas, self.n), np.nan)
        self.resample()

    @property
    def scalar_evaluations(self) -> np.ndarray:
        """Values of single functions, as some papers count: (m + 1) per joint call, shape (R,)."""
        return self.calls * (self.m + 1)

    @property
    def spent(self) -> int:
        """Calls of a replica that was never frozen."""
        return self._spent

    def resample(self) -> None:
        """Begin a new sample xi: from here on, points that share their noise share a new one."""
        self._iteration += 1
        if self.contract == "common":
            self._sample = self._problem.draw(self._iteration, self._streams)
            if self._noisy:
                self._shared_noise = self._noise(())

    def __call__(self, x: Array) -> Evaluation:
        """Evaluate the black box.

        Parameters
        ----------
        x : Array, shape (R, n) or (R, q, n)
            A base point, or q probes, for each replica.

        Returns
        -------
        Evaluation
            f of shape (R,) or (R, q), h with m more; NaN where the point failed or its replica is frozen.

        Raises
        ------
        BudgetSpent
            Before evaluating, if the call budget does not allow it.
        OracleError
            If the black box returns other shapes.
        """
        points = 1 if x.ndim == 2 else x.shape[1]
        if self._limit is not None and self._spent + points > self._limit:
            raise BudgetSpent
        value = self._evaluate(x)
        self._spent += points
        self.calls += points if self.all_active else points * self.active
        if not math.isfinite(value.f.sum() + value.h.sum()):
            value = self._count_failures(x, value)
        self._remember(x, value)
        if not self._noisy:
            return value
        noise = self._shared_noise if self.contract == "common" else self._noise(x.shape[1:-1])
        if self.contract == "common" and x.ndim == 3:
            noise = noise[:, None]
        return Evaluation(value.f + noise[..., 0], value.h + noise[..., 1:])

    def freeze(self, mask: np.ndarray) -> None:
        """Stop evaluating and charging these replicas."""
        self.active &= ~mask
        self.all_active = bool(self.active.all())
        self.failed[:] = False
        self.any_failed = False

    def fail(self, mask: np.ndarray) -> None:
        """Report replicas that cannot go on, e.g. because every direction of a batch failed.

        They are not evaluated any more from here on: what a step still derives from NaN is not shown to the black box.
        """
        self.failed |= mask & self.active
        self.any_failed = bool(self.failed.any())
        self.active &= ~self.failed
        self.all_active = bool(self.active.all())

    def _evaluate(self, x: Array) -> Evaluation:
        sample = self._sample
        if self.contract == "independent":
            sample = self._problem.draw(self._iteration, self._streams, x.shape[1:-1])
        if self.all_active:
            return self._checked(x, self._problem.evaluate(x, sample))
        value = Evaluation(np.full(x.shape[:-1], np.nan), np.full((*x.shape[:-1], self.m), np.nan))
        if self.active.any():
            if sample is not None:
                sample = sample[self.active]
            part = self._checked(x[self.active], self._problem.evaluate(x[self.active], sample))
            value.f[self.active], value.h[self.active] = part
        return value

    def _checked(self, x: Array, value: Any) -> Evaluation:
        try:
            f, h = value
            shapes = f.shape, h.shape
        except (TypeError, ValueError, AttributeError):
            raise OracleError(
                f"Expected an Evaluation of two arrays f and h, got {type(value).__name__}: return Evaluation(f, h)."
            ) from None
        if shapes[0] != x.shape[:-1]:
            raise OracleError(
                f"Expected f of shape {x.shape[:-1]} for x of shape {x.shape}, got {f.shape}: return one number per "
                "point."
            )
        if shapes[1] != (*x.shape[:-1], self.m):
            raise OracleError(
                f"Expected h of shape {(*x.shape[:-1], self.m)} for x of shape {x.shape}, got {h.shape}: return one "
                "column per constraint."
            )
        return value

    def _count_failures(self, x: Array, value: Evaluation) -> Evaluation:
        bad = ~(np.isfinite(value.f) & np.isfinite(value.h).all(axis=-1))
        bad &= self.active.reshape(-1, *[1] * (x.ndim - 2))
        if not bad.any():
            return value
        self.failures += bad.reshape(len(bad), -1).sum(axis=1)
        if x.ndim == 2:
            self.fail(bad)
        return Evaluation(np.where(bad, np.nan, value.f), np.where(bad[..., None], np.nan, value.h))

    def _remember(self, x: Array, value: Evaluation) -> None:
        better = value.f < (self.best_f if x.ndim == 2 else self.best_f[:, None])
        if not better.any():
            return
        better &= (value.h <= self._tolerance).all(axis=-1)
        if better.any():
            better[better] = self.domain.contains(x[better], _ON_BOUNDARY)
        if x.ndim == 2:
            rows = np.flatnonzero(better)
            self.best_f[rows], self.best_x[rows] = value.f[rows], x[rows]
        elif better.any():
            rows = np.flatnonzero(better.any(axis=1))
            columns = np.argmin(np.where(better[rows], value.f[rows], np.inf), axis=1)
            self.best_f[rows], self.best_x[rows] = value.f[rows, columns], x[rows, columns]

    def _noise(self, shape: tuple[int, ...]) -> Array:
        problem = self._problem
        if problem.noise_distribution == "student_t":
            draw = self._streams.student_t("noise", problem.noise_degrees, *shape, self.m + 1)
        else:
            draw = self._streams.normal("noise", *shape, self.m + 1)
        return problem.noise_scale * draw


class Composed:
    """An oracle seen through a function of the points: the same budget, counts and failures.

    It is how a solver estimates the gradient of something wider than (f, h), e.g. of a saddle function on (x, y).

    Parameters
    ----------
    oracle : Oracle or Composed
    evaluate : callable
        Maps points (R, ..., d) to an ``Evaluation``, through ``oracle``.
    """

    def __init__(self, oracle: Oracle | Composed, evaluate: Callable[[Array], Evaluation]) -> None:
        self._evaluate = evaluate
        self.contract, self.fail = oracle.contract, oracle.fail

    def __call__(self, points: Array) -> Evaluation:
        """Values at the points, shape (R, ..., d)."""
        return self._evaluate(points)
