# ruff: noqa: I001 - the imports are sorted for another tree
"""The runs of ``store_5b150dc.db``: how each is made, steered, captured and ended (see ``make_store_5b150dc.py``)."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from zoviz import Run, Store
from zoviz.estimators import Coordinate, Sphere
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, QuadraticBilevel, StochasticQP, ToyBilevel
from zoviz.problems.blackbox import hs22_constraints, hs22_objective
from zoviz.runs.study import Study
from zoviz.solvers import (
    CMAES,
    COBYLA,
    SOBOW,
    SOGD,
    ZOCEG,
    ZOEG,
    ZOSOGD,
    ZOSPLM,
    ProximalPoint,
    SampledALM,
    SmoothedALM,
    StormALM,
)

SQUARE = [(-4.0, 4.0)] * 2
STUDY, STUDY_SEEDS = "fixture study", (0, 1)


class End(NamedTuple):
    """How a run ends before its budget does: killed at an "iteration" or "evaluation", or while "paused"; a "stop"."""

    kind: str
    at: int


class Fork(NamedTuple):
    """Arguments of ``Store.fork``."""

    at: int
    changes: Mapping[str, Any] = {}
    settings: Mapping[str, Any] = {}


class Case(NamedTuple):
    """One run: how it is made, steered, captured and ended, and what is asked of it afterwards.

    Attributes
    ----------
    name, about : str
        The first is the run's label, and its id follows from it.
    make : callable
        Takes the store, makes the run.
    steering : mapping of int to mapping
        After an iteration, values to set.
    captured : int, optional
        Iteration after which the recorder is handed the state; without it, it never is before the end.
    end : End, optional
    resume : mapping
        Settings with which it is resumed.
    fork : Fork
    trusted : tuple of str
        What a store must trust for it.
    problem : callable, optional
        Makes the problem where its functions have no name.
    """

    name: str
    about: str
    make: Callable[[Store], Run]
    fork: Fork
    steering: Mapping[int, Mapping[str, Any]] = {}
    captured: int | None = None
    end: End | None = None
    resume: Mapping[str, Any] = {}
    trusted: tuple[str, ...] = ()
    problem: Callable[[], BlackBox] | None = None


def identity(name: str) -> str:
    """32 hexadecimal digits."""
    return hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()


def qcqp(**settings: Any) -> NonconvexQCQP:
    """Five variables, one constraint."""
    return NonconvexQCQP(n=5, noise_scale=0.01, **settings)


def loads(**settings: Any) -> LoadTracking:
    """Five loads."""
    return LoadTracking(n=5, curtailment=40.0, **settings)


def nameless() -> BlackBox:
    """Problem 22 of Hock and Schittkowski from lambdas, point by point."""
    return BlackBox(
        lambda x: float((x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2),
        lambda x: [float(x[0] + x[1] - 2.0), float(x[0] ** 2 - x[1])],
        bounds=SQUARE,
        m=2,
    )


def average() -> BlackBox:
    """A function of the standard library that raises where a variable is not positive."""
    return BlackBox(statistics.geometric_mean, bounds=[(-1.0, 4.0)] * 2, x0=(2.0, 1.0), scaled=False)


def small_sphere() -> Sphere:
    """Directions in numbers that keep a run cheap."""
    return Sphere(batch_size=8)


def wide_sphere() -> Sphere:
    """Radii at which differences of values are not mostly rounding."""
    return Sphere(batch_size=6, smoothing_radius=0.01)


def run_of(store: Store, problem: Any, solver: Any, iterations: int | None, seed: int, **settings: Any) -> Run:
    """A run of two replicas, where nothing else is said."""
    return Run(
        problem=problem, solver=solver, iterations=iterations, seed=seed, store=store, **({"replicas": 2} | settings)
    )


CASES = (
    Case(
        "general finished",
        "ZOSPLM on NonconvexQCQP, common noise, targets; label, notes and tags",
        lambda store: run_of(
            store,
            qcqp(noise="common"),
            ZOSPLM(estimator=small_sphere()),
            12,
            1,
            targets={"violation": [1.0, 0.1], "gap": 0.5},
        ),
        Fork(7, {"primal_step": 0.01}),
        resume={"iterations": 18},
    ),
    Case(
        "general steered",
        "ZOCEG on LoadTracking, steered live twice, an estimator's parameter too",
        lambda store: run_of(store, loads(), ZOCEG(), 12, 2),
        Fork(9, {"dual_step": 0.05, "estimator.smoothing_radius": 2e-4}),
        {4: {"primal_step": 0.1}, 8: {"primal_step": 0.2, "estimator.smoothing_radius": 1e-4}},
        resume={"iterations": 16},
    ),
    Case(
        "general forked",
        "a fork of 'general steered' at 6, killed before its script was through",
        lambda store: store.fork(identity("general steered"), 6, {"primal_step": 0.05}, iterations=14, label=""),
        Fork(8, {"primal_step": 0.15}),
        captured=5,
        end=End("iteration", 9),
    ),
    Case(
        "general interrupted",
        "ZOSPLM on NonconvexQCQP, Student noise, targets; steered before and after the checkpoint",
        lambda store: run_of(
            store,
            qcqp(noise="independent", noise_distribution="student_t"),
            ZOSPLM(estimator=small_sphere()),
            16,
            3,
            targets={"gap": [40.0, 0.01]},
        ),
        Fork(8, {"primal_step": 5e-4}),
        {3: {"primal_step": 2e-4}, 8: {"dual_step": 1e-4, "estimator.batch_size": 5}},
        captured=6,
        end=End("iteration", 10),
    ),
    Case(
        "general scaled",
        "ZOEG on LoadTracking in units of its own, killed while it was paused",
        lambda store: run_of(store, loads(scaled=True), ZOEG(estimator=small_sphere()), 12, 4),
        Fork(5, {"schedule": "diminishing"}),
        end=End("paused", 7),
    ),
    Case(
        "general calls spent",
        "ZOCEG on LoadTracking, ended by its calls within a step",
        lambda store: run_of(store, loads(), ZOCEG(), None, 5, calls=100),
        Fork(5, {"primal_step": 0.1}),
        captured=5,
        resume={"calls": 150},
    ),
    Case(
        "general stopped",
        "ZOEG on NonconvexQCQP, stopped by hand",
        lambda store: run_of(store, qcqp(), ZOEG(estimator=small_sphere()), 12, 6),
        Fork(4, {"dual_step": 0.02}),
        end=End("stop", 6),
    ),
    Case(
        "general failed",
        "ZOCEG on a function of the standard library, to be trusted, which raised",
        lambda store: run_of(
            store,
            average(),
            ZOCEG(primal_step=0.15, dual_step=0.1, dual_cap=10.0, estimator=Coordinate(smoothing_radius=1e-3)),
            12,
            7,
        ),
        Fork(2, {"primal_step": 0.01}),
        captured=2,
        trusted=("statistics:geometric_mean",),
    ),
    Case(
        "general nested",
        "ProximalPoint around ZOCEG on NonconvexQCQP, the inner solver steered",
        lambda store: run_of(store, qcqp(), ProximalPoint(inner=ZOCEG(), stage_length=4), 12, 8),
        Fork(8, {"inner.primal_step": 0.02, "objective_weight": 0.2}),
        {3: {"inner.primal_step": 0.03}},
        captured=6,
        end=End("iteration", 9),
    ),
    Case(
        "every call",
        "ZOCEG on the functions of problem 22, point by point; killed within a step, steered after the checkpoint",
        lambda store: run_of(
            store,
            BlackBox(hs22_objective, hs22_constraints, SQUARE, m=2),
            ZOCEG(),
            8,
            9,
            replicas=1,
            checkpoint="every call",
        ),
        Fork(4, {"primal_step": 0.002}),
        {1: {"primal_step": 0.004}, 3: {"primal_step": 0.008}},
        captured=2,
        end=End("evaluation", 32),
    ),
    Case(
        "every call, no checkpoint",
        "ZOSPLM on BlackBox(), vectorised, killed before any checkpoint",
        lambda store: run_of(store, BlackBox(), ZOSPLM(estimator=small_sphere()), 8, 10, checkpoint="every call"),
        Fork(2, {"primal_step": 0.02}),
        end=End("evaluation", 8),
    ),
    Case(
        "nameless",
        "ZOCEG on lambdas: the problem must be given",
        lambda store: run_of(store, nameless(), ZOCEG(), 12, 11),
        Fork(5, {"primal_step": 0.003}),
        captured=5,
        end=End("iteration", 8),
        problem=nameless,
    ),
    Case(
        "peer interrupted",
        "CMAES on BlackBox(): no checkpoint, its evaluations are kept",
        lambda store: run_of(store, BlackBox(), CMAES(), 8, 12),
        Fork(3, settings={"iterations": 6}),
        captured=4,
        end=End("iteration", 6),
    ),
    Case(
        "peer deleted",
        "COBYLA on NonconvexQCQP, finished, deleted",
        lambda store: run_of(store, qcqp(), COBYLA(), 12, 13),
        Fork(3, settings={"iterations": 8}),
        resume={"iterations": 16},
    ),
    Case(
        "linear finished",
        "SmoothedALM on StochasticQP",
        lambda store: run_of(store, StochasticQP(n=8), SmoothedALM(horizon=100), 12, 15, targets={"violation": 2.0}),
        Fork(6, {"penalty": 3.0}),
        resume={"iterations": 18},
    ),
    Case(
        "linear interrupted",
        "StormALM from values on StochasticQP, steered",
        lambda store: run_of(
            store,
            StochasticQP(n=8),
            StormALM(gradients="zeroth-order", horizon=100, estimator=Sphere(smoothing_radius=None, batch_size=3)),
            12,
            16,
        ),
        Fork(7, {"momentum": 0.5}),
        {3: {"primal_step": 0.01}, 7: {"dual_step": 0.03}},
        captured=6,
        end=End("iteration", 9),
    ),
    Case(
        "linear sampled",
        "SampledALM on StochasticQP with sampled rows, inequalities",
        lambda store: run_of(
            store, StochasticQP(n=8, sampled_rows=True, constraints="inequalities"), SampledALM(horizon=100), 12, 17
        ),
        Fork(5, {"primal_step": 0.01}),
        captured=6,
        end=End("iteration", 9),
    ),
    Case(
        "bilevel finished",
        "SOGD on QuadraticBilevel",
        lambda store: run_of(store, QuadraticBilevel(n=3, d=4), SOGD(), 12, 18),
        Fork(6, {"outer_step": 0.02}),
        resume={"iterations": 18},
    ),
    Case(
        "bilevel interrupted",
        "ZOSOGD on QuadraticBilevel, with its regret, steered before and after the checkpoint",
        lambda store: run_of(
            store,
            QuadraticBilevel(n=3, d=4, noise="common"),
            ZOSOGD(estimator=wide_sphere(), outer_estimator=wide_sphere()),
            12,
            19,
        ),
        Fork(7, {"inner_step": 0.05}),
        {3: {"outer_step": 0.02}, 8: {"outer_step": 0.03}},
        captured=6,
        end=End("iteration", 9),
    ),
    Case(
        "bilevel window",
        "SOBOW on ToyBilevel: a window of samples in its state",
        lambda store: run_of(store, ToyBilevel(), SOBOW(), 12, 20),
        Fork(5, {"outer_step": 0.05}),
        captured=6,
        end=End("iteration", 9),
    ),
)
"""In the order of making: a fork comes after what it is a fork of."""

STUDY_CASE = Case(
    "study",
    "a cell of a study of ZOCEG on LoadTracking",
    lambda store: None,
    Fork(3, {"primal_step": 0.1}),
    captured=4,
    end=End("iteration", 6),
)
"""Of the cells the second is killed."""

UNPORTABLE = ("every call, no checkpoint", "peer interrupted", "peer deleted")
"""Whose outcomes mean nothing under another arithmetic: a run whose steps were rounded otherwise has not paid for the
same points, and the peers magnify rounding."""

LISTED = (
    "label",
    "problem",
    "solver",
    "status",
    "iterations",
    "calls",
    "seed",
    "replicas",
    "notes",
    "tags",
    "study",
    "message",
    "parent",
)
FIGURES = ("objective", "violation", "best_value")
"""Fields of a run's line in the list that depend neither on the clock nor on the machine."""

NOTES = {
    "general finished": ("Notes of two lines:\nÄ, μ₀ and 100 %.", ("first", "two words")),
    "general interrupted": ("Power went.", ("first",)),
    "bilevel finished": ("", ("online",)),
}


def study(store: Store) -> Study:
    """Two cells, of which the ids follow from what they consist of."""
    return Study(STUDY, loads(), ZOCEG(), seeds=STUDY_SEEDS, replicas=2, iterations=8, store=store)
