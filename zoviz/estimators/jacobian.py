"""Gradients of several functions of one oracle, each estimated by itself, from directions that they share or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zoviz.core.streams import RandomSource, draw_subset
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import GradientEstimator
from zoviz.estimators.known_part import ProximalOracle
from zoviz.estimators.scalars import objective
from zoviz.oracle import DerivedOracle, ProblemOracle


class Jacobian(NamedTuple):
    """The estimated gradients of p functions, with the variance of each.

    Attributes
    ----------
    gradients : Array, shape (R, p, n)
    variances : Array, shape (R, p)
        Trace of the covariance of each gradient.
    perturbed : Array, shape (R, p)
        Mean value of each function over the probes of its own directions; a known part counts at x itself, and so
        does the function where bounds cut a step and its value is known there.
    base : Evaluation or None
        The value at x, where it was given or the estimator asked for it.
    """

    gradients: Array
    variances: Array
    perturbed: Array
    base: Evaluation | None


def jacobian(
    estimator: GradientEstimator,
    x: Array,
    oracle: ProblemOracle,
    streams: RandomSource,
    *,
    base: Evaluation | None,
    shared: bool,
    with_objective: bool,
) -> Jacobian:
    """Estimate the gradients of every h_i, or of f and every h_i, at ``x`` (R, n).

    Shared directions cost one estimate in oracle calls, separate ones p estimates: a probe then serves one function.
    The estimator sees p replicas for each of ours, and neither base values nor directions are paid for twice.
    """
    if isinstance(oracle, ProximalOracle):
        raw = None if base is None else oracle.without(x, base)
        jacobians = jacobian(estimator, x, oracle.raw, streams, base=raw, shared=shared, with_objective=with_objective)
        slopes, offset = np.moveaxis(_stacked(oracle.slopes(x), with_objective), -1, 1), oracle.known_part(x)
        whole = None if jacobians.base is None else oracle.add(x, jacobians.base)
        perturbed = jacobians.perturbed + _stacked(offset, with_objective)
        return Jacobian(jacobians.gradients + slopes, jacobians.variances, perturbed, whole)
    count = oracle.m + with_objective
    folded = _FoldedOracle(oracle, len(x), count, shared, with_objective)
    known_base = None if base is None else Evaluation(_stacked(base, with_objective).reshape(-1), _NOTHING)
    estimate = estimator.estimate(
        objective, np.repeat(x, count, axis=0), folded, _FoldedNumbers(streams, count, shared), base=known_base
    )
    shape = (len(x), count)
    perturbed = (folded.total / folded.good).reshape(shape)
    base = folded.base if base is None else base
    if estimate.cut is not None and base is not None:  # the mean of steps that are cut is not 0
        perturbed = np.where(estimate.cut.reshape(shape), _stacked(base, with_objective), perturbed)
    gradients = estimate.gradient.reshape(*shape, -1)
    return Jacobian(gradients, estimate.variance.reshape(shape), perturbed, base)


_NOTHING = np.empty(0)
"""Constraints of a scalar function: none are looked at."""


class _FoldedOracle(DerivedOracle):
    """An oracle of R p replicas: row r p + i is replica r seen through its function i."""

    def __init__(self, oracle: ProblemOracle, replicas: int, count: int, shared: bool, with_objective: bool) -> None:
        super().__init__(oracle, self._values, oracle.bounds)
        self._count, self._shared, self._with_objective = count, shared, with_objective
        self.base: Evaluation | None = None
        self.total, self.good = np.zeros(replicas * count), np.zeros(replicas * count)

    def fail(self, mask: np.ndarray | np.bool) -> None:
        """Fail the replicas that have a failed row among these, (R p,) of bool."""
        super().fail(mask.reshape(-1, self._count).any(axis=1))

    def _values(self, points: Array) -> Evaluation:
        p = self._count
        if points.ndim == 2:
            self.base = self._oracle(points[::p])
            return Evaluation(_stacked(self.base, self._with_objective).reshape(-1), _NOTHING)
        rows, probes, n = len(points) // p, points.shape[1], points.shape[2]
        if self._shared:
            values = _stacked(self._oracle(points[::p]), self._with_objective).swapaxes(1, 2)
        else:
            # Probe by probe, then function by function: noise comes in the same order however a batch is cut.
            spread = points.reshape(rows, p, probes, n).swapaxes(1, 2).reshape(rows, probes * p, n)
            table = _stacked(self._oracle(spread), self._with_objective).reshape(rows, probes, p, p)
            values = np.einsum("rqpp->rpq", table)
        values = values.reshape(rows * p, probes)
        finite = np.isfinite(values)
        self.total += np.where(finite, values, 0.0).sum(axis=1)
        self.good += finite.sum(axis=1)
        return Evaluation(values, _NOTHING)


class _FoldedNumbers:
    """Random numbers of R replicas for R p rows: the same for the p rows of a replica, or separate ones."""

    def __init__(self, source: RandomSource, count: int, shared: bool) -> None:
        self._source, self._count, self._shared = source, count, shared

    @property
    def replicas(self) -> int:
        """The number R p of rows."""
        return self._source.replicas * self._count

    def normal(self, purpose: str, *shape: int) -> Array:
        """Return standard normal numbers, (R p, *shape)."""
        return self._fold(self._source.normal, purpose, shape)

    def uniform(self, purpose: str, *shape: int) -> Array:
        """Return uniform numbers on [0, 1), (R p, *shape)."""
        return self._fold(self._source.uniform, purpose, shape)

    def subset(self, purpose: str, n: int, size: int, repeats: int = 1) -> np.ndarray:
        """Return sorted subsets of {0..n-1}, (R p, repeats, size)."""
        return draw_subset(self, purpose, n, size, repeats)

    def _fold(self, draw: Callable[..., Array], purpose: str, shape: tuple[int, ...]) -> Array:
        if self._shared:
            return np.repeat(draw(purpose, *shape), self._count, axis=0)
        # Direction by direction, then function by function: the sequence does not depend on how a batch is cut.
        numbers = draw(purpose, shape[0], self._count, *shape[1:]).swapaxes(1, 2)
        return numbers.reshape(-1, *shape)


def _stacked(value: Evaluation, with_objective: bool) -> Array:
    """Stack the functions of a value along the last axis."""
    return value.stacked if with_objective else value.h
