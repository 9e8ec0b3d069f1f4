"""Runs that are ill by design, on which remedies are tried: wrong steps, batches, radii and scales, several minima.

What a trial proposes is tried once more on a run of another seed. ``labelled`` has the labelled runs, on which the
table of remedies was made.

    zoviz reproduce robustness-ill-runs --full
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.diagnosis.remedies import remedies
from zoviz.diagnosis.trial import Outcome, try_remedies
from zoviz.papers.robustness.labelled_runs import cases, ended, run_of, with_steps
from zoviz.problems.base import Problem
from zoviz.problems.user.blackbox import BlackBox
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials

METHODS = ("ZOCEG", "ZOBCEG", "ZOSPLM", "ZOEG", "ZOALM", "ZOGDA")
SEED, COUNT = 2026, 30
ITERATIONS, REPLICAS = 300, 8
AGAIN = 1000
"""Added to the seed of a run on which what a trial proposes is tried once more."""


@dataclass(frozen=True)
class IllRun:
    """A run that is ill by design: what is wrong with it, and what makes it for a seed."""

    name: str
    make: Callable[[int], Run]


def ill_runs(seed: int = SEED) -> Iterator[IllRun]:
    """Yield runs that need a remedy, of each kind in turn; a draw that turns out to be well is left out."""
    generator = np.random.default_rng(seed)
    drawn = (kind(generator) for kind in itertools.cycle(KINDS))
    return filter(needs_a_remedy, drawn)


def needs_a_remedy(one: IllRun) -> bool:
    """Return whether anything but more calls is proposed for a run."""
    return any(remedy.changes or remedy.afresh for remedy in remedies(one.make(0)))


def _solver(generator: np.random.Generator) -> Solver:
    return discover("zoviz.solvers", Solver)[str(generator.choice(METHODS))]()


def _problem(generator: np.random.Generator, **noise: object) -> Problem:
    kinds = discover("zoviz.problems", Problem)
    name = str(generator.choice(["NonconvexQCQP", "ConexQCQP", "LoadTracking"]))
    return kinds[name](n=int(generator.integers(5, 16)), seed=int(generator.integers(1, 10_000)), **noise)


def _run(problem: Problem, solver: Solver, seed: int) -> Run:
    return ended(Run(problem, solver, replicas=REPLICAS, iterations=ITERATIONS, seed=seed))


def wrong_steps(generator: np.random.Generator) -> IllRun:
    """Return a run with steps far shorter or longer than those of the solver's rule."""
    problem, solver = _problem(generator), _solver(generator)
    factor = float(10.0 ** (generator.choice([-1.0, 1.0]) * generator.uniform(1.0, 4.0)))
    solver = with_steps(problem, solver, factor)
    return IllRun(f"{_named(problem, solver)}, steps times {factor:.2g}", lambda seed: _run(problem, solver, seed))


def small_batch(generator: np.random.Generator) -> IllRun:
    """Return a run with one random direction an iteration, under noise."""
    problem = _problem(generator, noise="independent", noise_scale=float(10.0 ** generator.uniform(-3.0, -1.0)))
    solver = _solver(generator)
    solver.set("estimator.batch_size", 1)
    return IllRun(f"{_named(problem, solver)}, a batch of 1", lambda seed: _run(problem, solver, seed))


def narrow_radius(generator: np.random.Generator) -> IllRun:
    """Return a run with a smoothing radius in which noise is larger than any difference."""
    problem = _problem(generator, noise="independent", noise_scale=float(10.0 ** generator.uniform(-3.0, -1.0)))
    return _with_radius(problem, _solver(generator), float(10.0 ** generator.uniform(-7.0, -5.0)))


def wide_radius(generator: np.random.Generator) -> IllRun:
    """Return a run with a smoothing radius across which the functions bend."""
    return _with_radius(_problem(generator), _solver(generator), float(generator.uniform(0.3, 3.0)))


def _with_radius(problem: Problem, solver: Solver, radius: float) -> IllRun:
    solver.set("estimator.smoothing_radius", radius)
    return IllRun(f"{_named(problem, solver)}, radius {radius:.2g}", lambda seed: _run(problem, solver, seed))


def badly_scaled(generator: np.random.Generator) -> IllRun:
    """Return a run on a quadratic of variables that differ by orders of magnitude, called in its own units."""
    n, spread = int(generator.integers(3, 8)), float(generator.uniform(2.0, 4.0))
    size = 10.0 ** generator.permutation(np.linspace(0.0, spread, n))
    centre = generator.uniform(-0.5, 0.5, n)

    def joint(x: Array) -> tuple[Array, Array]:
        z = x / size
        return np.square(z - centre).sum(axis=-1), z.sum(axis=-1, keepdims=True) - 0.5 * float(centre.sum())

    bounds = [(-float(one), float(one)) for one in size]
    problem, solver = BlackBox(joint, bounds=bounds, joint=True, vectorised=True, m=1, scaled=False), _solver(generator)
    name = f"{type(solver).__name__} on a quadratic of scales 1 to {size.max():.2g}"
    return IllRun(name, lambda seed: _run(problem, solver, seed))


def several_minima(generator: np.random.Generator) -> IllRun:
    """Return a run on a function with a minimum in every cell of a grid, below a line that cuts the best one off."""
    n, height = int(generator.integers(2, 5)), float(generator.uniform(0.5, 3.0))
    centre = generator.uniform(-2.0, 2.0, n)

    def joint(x: Array) -> tuple[Array, Array]:
        z = x - centre
        waves = height * (1.0 - np.cos(2.0 * np.pi * z)).sum(axis=-1)
        return np.square(z).sum(axis=-1) + waves, z.sum(axis=-1, keepdims=True) + 0.3

    problem = BlackBox(joint, bounds=[(-4.0, 4.0)] * n, joint=True, vectorised=True, m=1)
    solver = _solver(generator)
    name = f"{type(solver).__name__} on a function of many minima, n = {n}"
    return IllRun(name, lambda seed: _run(problem, solver, seed))


KINDS = (wrong_steps, small_batch, narrow_radius, wide_radius, badly_scaled, several_minima)


def _named(problem: Problem, solver: Solver) -> str:
    noise = f" with noise {problem.noise_scale:.2g}" if problem.noise == "independent" else ""
    return f"{type(solver).__name__} on {type(problem).__name__}{noise}"


def labelled() -> Iterator[IllRun]:
    """Yield the labelled runs that need a remedy."""
    return filter(needs_a_remedy, (IllRun(case.name, partial(run_of, case, replicas=REPLICAS)) for case in cases()))


class IllRuns(Trials):
    """Remedies of runs that are ill by design, tried by forks, and what is proposed tried on another seed."""

    title = "robustness ill runs"
    subject = "Digits of the distance from a solution that the first remedy gains, and the proposed one once more"
    protocol = f"{REPLICAS} replicas, {ITERATIONS} iterations; again: on seed {AGAIN}, with its standard error."
    sizes: ClassVar = {
        "quick": {"kind": ("ill",), "run": (0,)},
        "full": {"kind": ("ill",), "run": tuple(range(COUNT))},
    }
    lines = ("kind", "run")

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._sources = {"ill": ill_runs(), "labelled": labelled()}
        self._drawn: dict[str, list[IllRun]] = {"ill": [], "labelled": []}

    def _numbered(self, kind: str, run: int) -> IllRun:
        """Return a run by its number: draws that turn out to be well are found out by making them, once."""
        known = self._drawn[kind]
        known.extend(itertools.islice(self._sources[kind], max(run + 1 - len(known), 0)))
        return known[run]

    def trial(self, kind: str, run: int) -> Figures:
        one = self._numbered(kind, run)
        trial = try_remedies(one.make(0))
        proposed = None if trial.best is None else trial.best.remedy
        again = None if proposed is None else try_remedies(one.make(AGAIN), chosen=[proposed]).outcomes[0]
        return {
            "name": one.name,
            "proposed": "" if proposed is None else proposed.words,
            "surely": trial.outcomes[0].better,
            "first": _gain(trial.outcomes[0]),
            "again": None if again is None else _gain(again),
        }

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        (row,) = rows
        first, again = ("" if one is None else f"{one[0]:.2g} ± {one[1]:.2g}" for one in (row["first"], row["again"]))
        return {"ill": row["name"], "first": first, "proposed": row["proposed"], "again": again}


def _gain(outcome: Outcome) -> list[float]:
    return [outcome.gain.value, outcome.error]
