"""The base class of Bayesian methods: a design, a surrogate of each replica, a proposal a step, a recommendation."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.ranking import first, is_feasible, ranks
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.threads.blas import quiet_pytorch
from zoviz.core.types import Array, Constants, Evaluation
from zoviz.oracle import Oracle, Purpose
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.solvers.bayesian.surrogate import Numbers, Surrogate
from zoviz.solvers.theory import Info


class BayesianState(NamedTuple):
    """The state of a Bayesian method: the recommended point and all data.

    Attributes
    ----------
    x : Array, shape (R, n)
        The recommended point, one that was evaluated.
    y : Array, shape (R, m)
        Multipliers, NaN for a method without any.
    value : Evaluation
        What the oracle gave at ``x``.
    points : Array, shape (R, N, n)
        All points that were evaluated, in the unit box.
    values : Array, shape (R, N, 1 + m)
        Their values, f first; NaN where there is none.
    design : Array, shape (R, D, n)
        Points to begin with, in the unit box.
    hyper : Array, shape (R, 1 + m, n + 2)
        The surrogates' hyper-parameters; 0 before the first fit.
    fitted : Array, shape (R,)
        Number of points at the last fit.
    memory : Array, shape (R, k)
        What the method keeps: a penalty, a trust region.
    """

    x: Array
    y: Array
    value: Evaluation
    points: Array
    values: Array
    design: Array
    hyper: Array
    fitted: Array
    memory: Array


class Evidence(NamedTuple):
    """One replica's data as its method sees them.

    Attributes
    ----------
    points : Array, shape (N, n)
        In the unit box, in the order of evaluation.
    f, h : Array, shapes (N,) and (N, m)
        Values where they are exact, else the posterior's means.
    sure : ndarray of bool, shape (N,)
        Points that count as feasible: h within the tolerance, or each h <= 0 with the level's probability.
    chance : Array, shape (N,)
        Logarithm of the probability that all h <= 0; 0 or -inf where values are exact.
    """

    points: Array
    f: Array
    h: Array
    sure: np.ndarray
    chance: Array

    @property
    def best(self) -> int:
        """The index of the point to recommend: the least f of those sure, else the one nearest to feasibility."""
        if self.sure.any():
            return int(np.argmin(np.where(self.sure, self.f, np.inf)))
        if np.isfinite(self.chance).any():
            return int(np.argmax(self.chance))
        return int(np.argmin(self.h.max(axis=1, initial=-np.inf)))


class BayesianSolver(Solver):
    """A method that models f and every h by Gaussian processes and evaluates one point a step where that pays most.

    A Latin hypercube of ``initial_points``, the start among them, is evaluated first, a point a step. Then every step
    fits or conditions the surrogate of each replica, proposes a point by ``acquire``, and evaluates it: one call. ``x``
    is the recommendation: the least f among evaluated points that are feasible; under noise, the least posterior mean
    of f among those whose constraints each hold with probability ``feasibility_level``, the most probable one where
    there is none.

    Notes
    -----
    A surrogate costs O(N^3) for N evaluations, and acquisitions lose their edge with the dimension: meant for up to
    about 20 variables and a few hundred evaluations. The loop over replicas is Python's, as each has a surrogate of its
    own: a joint fit's line search would make them depend on each other. An evaluation that fails leaves the data.
    """

    __abstract = True

    needs_box = True
    needs: ClassVar[tuple[str, ...]] = ("torch", "botorch", "gpytorch")
    extra: ClassVar[str] = "bo"
    live: ClassVar[tuple[str, ...]] = ("refit_every", "candidates", "restarts", "feasibility_level")

    initial_points = param.Integer(
        default=None,
        allow_None=True,
        bounds=(2, 10_000),
        softbounds=(4, 60),
        label="Initial points",
        doc="Number of points evaluated before the first model, with the start. Auto: 2 (n + 1).",
    )
    refit_every = param.Integer(
        default=5, bounds=(1, 1000), softbounds=(1, 20), label="Refit every", doc="Evaluations between two fits."
    )
    candidates = param.Integer(
        default=400,
        bounds=(8, 100_000),
        softbounds=(100, 2000),
        label="Candidates",
        doc="Points at which the acquisition is compared before the best are improved.",
    )
    restarts = param.Integer(
        default=3, bounds=(1, 100), softbounds=(1, 10), label="Restarts", doc="Candidates that L-BFGS improves."
    )
    feasibility_level = param.Number(
        default=0.95,
        bounds=(0.5, 1.0),
        inclusive_bounds=(True, False),
        label="Feasibility level",
        doc="Probability of h ≤ 0 from which on a noisy constraint counts as met.",
    )

    memory_size: ClassVar[int] = 1
    """Numbers that the method keeps for each replica, besides one for each constraint."""

    draws: ClassVar[int] = 1
    """Joint draws of all functions at the candidates that a step may need."""

    @property
    def missing_package(self) -> str:
        missing = super().missing_package
        return missing and f"{missing.removesuffix('.')}, after a build of PyTorch of your choice."

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return a sentence for a box that has no ends; None otherwise."""
        box = Box.of(problem.domain)
        if not (np.isfinite(box.lower).all() and np.isfinite(box.upper).all()):
            return (
                f"{self.title} needs finite bounds of all variables, got infinite ones: choose ZO-SPLM, or set bounds."
            )
        return None

    def measure_constants(self, problem: Problem, oracle: Oracle, x0: Array, streams: Streams) -> Constants:
        """Assume every constant to be 1, at no call: no rule needs any."""
        return Constants.assumed()

    def acquire(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers) -> Array:
        """Return the point (n,) of the unit box to evaluate next, for one replica with its memory (k,)."""
        raise NotImplementedError(f"{type(self).__name__} must define acquire(surrogate, evidence, memory, numbers).")

    def score(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers, points: Array) -> Array:
        """Return what ``acquire`` compares points (q, n) by, (q,), for a picture; NaN for a method without such."""
        return np.full(len(points), np.nan)

    def remember(self, evidence: Evidence, memory: Array) -> Array:
        """Return one replica's memory (k,) after an evaluation; all 0 before the first, when the design is complete."""
        return memory

    def memory_width(self, n: int, m: int) -> int:
        """Return the numbers k that the method keeps for each replica, for n variables and m constraints."""
        return self.memory_size + m

    def multipliers(self, memory: Array, m: int) -> Array:
        """Return the multipliers (R, m) from memories (R, k); NaN for a method without any."""
        return np.full((len(memory), m), np.nan)

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> BayesianState:
        """Return the state at the starts x0 (R, n), one call, with a design drawn for each replica."""
        replicas, n = x0.shape
        count = (self.initial_points or 2 * (n + 1)) - 1
        unit = streams.uniform("design", 2, count, n)
        strata = np.argsort(np.argsort(unit[:, 0], axis=1), axis=1)
        value = oracle(x0)
        box = Box.of(oracle.domain)
        memory = np.zeros((replicas, self.memory_width(n, oracle.m)))
        return BayesianState(
            x=x0,
            y=self.multipliers(memory, oracle.m),
            value=value,
            points=((x0 - box.lower) / _widths(box))[:, None],
            values=value.stacked[:, None],
            design=(strata + unit[:, 1]) / max(count, 1),
            hyper=np.zeros((replicas, 1 + oracle.m, n + 2)),
            fitted=np.zeros(replicas),
            memory=memory,
        )

    def step(self, state: BayesianState, oracle: Oracle, streams: Streams) -> tuple[BayesianState, Info]:
        """Propose a point for each replica, evaluate it, and recommend the best."""
        count, noisy = state.points.shape[1], oracle.contract != "deterministic"
        proposing = count > state.design.shape[1]
        if proposing:
            with quiet_pytorch():
                unit, hyper, fitted = self._propose(state, oracle, streams, noisy)
        else:
            unit, hyper, fitted = state.design[:, count - 1], state.hyper, state.fitted
        box = Box.of(oracle.domain)
        oracle.resample()
        with oracle.purpose(Purpose.PROPOSAL if proposing else Purpose.DESIGN):
            value = oracle(box.project(box.lower + _widths(box) * unit)[:, None])
        points = np.concatenate([state.points, unit[:, None]], axis=1)
        values = np.concatenate([state.values, value.stacked], axis=1)
        state = state._replace(points=points, values=values, hyper=hyper, fitted=fitted)
        if count >= state.design.shape[1]:
            with quiet_pytorch():
                state = self._conclude(state, oracle, noisy)
        else:
            state = _ranked(state, oracle)
        x = state.x
        return state, Info(np.full(len(x), np.nan), x, state.y, np.nan)

    def _propose(
        self, state: BayesianState, oracle: Oracle, streams: Streams, noisy: bool
    ) -> tuple[Array, Array, Array]:
        """Return points (R, n) of the unit box, and the surrogates' hyper-parameters and last fits."""
        replicas, count, n = state.points.shape
        uniform = streams.uniform("candidates", self.candidates, n)
        normal = streams.normal("candidates", self.candidates, n)
        outputs = streams.normal("functions", self.draws, 1 + oracle.m, self.candidates)
        unit, hyper, fitted = uniform[:, 0].copy(), state.hyper.copy(), state.fitted.copy()
        for r in np.flatnonzero(oracle.active):
            fit = fitted[r] == 0.0 or count - fitted[r] >= self.refit_every
            surrogate = surrogate_of(state.points[r], state.values[r], noisy, hyper[r], fit)
            if surrogate is None:
                continue
            hyper[r], fitted[r] = surrogate.hyper, count if fit else fitted[r]
            evidence = self.evidence(surrogate, oracle.tolerance)
            numbers = Numbers(uniform[r], normal[r], outputs[r])
            unit[r] = self.acquire(surrogate, evidence, state.memory[r], numbers)
        return unit, hyper, fitted

    def _conclude(self, state: BayesianState, oracle: Oracle, noisy: bool) -> BayesianState:
        """Return the state with what the method learns from the last values, and the recommendation."""
        memory, x, values = state.memory.copy(), state.x.copy(), state.value.stacked.copy()
        box = Box.of(oracle.domain)
        for r in np.flatnonzero(oracle.active):
            # The newest value waits for the next fit: until there was a first one, noisy data are as they are.
            surrogate = None
            if noisy and state.fitted[r] > 0.0:
                surrogate = surrogate_of(state.points[r], state.values[r], noisy, state.hyper[r], False)
            good = np.isfinite(state.values[r]).all(axis=1)
            if surrogate is None:
                data = exact_evidence(state.points[r][good], state.values[r][good], oracle.tolerance)
            else:
                data = self.evidence(surrogate, oracle.tolerance)
            memory[r] = self.remember(data, memory[r])
            best = np.flatnonzero(good)[data.best]
            x[r] = box.project(box.lower + _widths(box) * state.points[r, best])
            values[r] = state.values[r, best]
        value = Evaluation(values[:, 0], values[:, 1:])
        return state._replace(x=x, value=value, memory=memory, y=self.multipliers(memory, oracle.m))

    def evidence(self, surrogate: Surrogate, tolerance: float | Array) -> Evidence:
        """Return a replica's data: values where they are exact, else posterior means and probabilities."""
        from scipy import special

        points, values = surrogate.points, surrogate.values
        if not surrogate.noisy:
            return exact_evidence(points, values, tolerance)
        mean, deviation = surrogate.moments(points)
        chances = special.log_ndtr(-mean[:, 1:] / deviation[:, 1:])
        sure = (chances >= np.log(self.feasibility_level)).all(axis=1)
        return Evidence(points, mean[:, 0], mean[:, 1:], sure, chances.sum(axis=1))


def exact_evidence(points: Array, values: Array, tolerance: float | Array) -> Evidence:
    """Return the data of exact values (N, 1 + m) at points (N, n)."""
    sure = is_feasible(values[:, 1:], tolerance)
    return Evidence(points, values[:, 0], values[:, 1:], sure, np.where(sure, 0.0, -np.inf))


def _widths(box: Box) -> Array:
    """Return the widths (n,) of the box, 1 of those that bounds fix."""
    width = box.upper - box.lower
    return np.where(width > 0.0, width, 1.0)


def surrogate_of(points: Array, values: Array, noisy: bool, hyper: Array, fit: bool) -> Surrogate | None:
    """Return the surrogate of points (N, n) and their values (N, 1 + m); None where fewer than two are finite."""
    good = np.isfinite(values).all(axis=1)
    if good.sum() < 2:
        return None
    return Surrogate(points[good], values[good], noisy, hyper, fit)


def _ranked(state: BayesianState, oracle: Oracle) -> BayesianState:
    """Return the state with the best point so far by its values, for the time of the design."""
    value = Evaluation(state.values[..., 0], state.values[..., 1:])
    best = first(*ranks(value, oracle.tolerance))
    rows = np.arange(len(best))
    box = Box.of(oracle.domain)
    x = box.project(box.lower + _widths(box) * state.points[rows, best])
    active = oracle.active[:, None]
    values = np.where(active, state.values[rows, best], state.value.stacked)
    return state._replace(x=np.where(active, x, state.x), value=Evaluation(values[:, 0], values[:, 1:]))
