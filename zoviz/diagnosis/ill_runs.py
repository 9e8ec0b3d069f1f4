"""Runs that are ill by design, on which remedies are tried: wrong steps, batches, radii and scales, several minima.

``python -m zoviz.diagnosis.ill_runs`` prints what each remedy came to, and how often what a trial proposes is better
than none; ``--labelled`` does so for the labelled runs, on which the table of remedies was made.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.diagnosis.labelled_runs import cases, ended, run_of, with_steps
from zoviz.diagnosis.remedies import remedies
from zoviz.diagnosis.trial import Outcome, Trial, try_remedies
from zoviz.problems.base import Problem
from zoviz.problems.user.blackbox import BlackBox
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver

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


def ill_runs(count: int = COUNT, seed: int = SEED) -> Iterator[IllRun]:
    """Yield runs that need a remedy, of each kind in turn; a draw that turns out to be well is left out."""
    generator = np.random.default_rng(seed)
    drawn = (kind(generator) for kind in itertools.cycle(KINDS))
    ill = (one for one in drawn if any(remedy.changes or remedy.afresh for remedy in remedies(one.make(0))))
    return itertools.islice(ill, count)


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
    for case in cases():
        one = IllRun(case.name, partial(run_of, case, replicas=REPLICAS))
        if any(remedy.changes or remedy.afresh for remedy in remedies(one.make(0))):
            yield one


@dataclass(frozen=True)
class Tried:
    """What came of the remedies for one ill run.

    Attributes
    ----------
    name : str
    trial : Trial
    again : Outcome or None
        What the trial proposes, tried once more on a run of another seed; None where it proposes nothing.
    """

    name: str
    trial: Trial
    again: Outcome | None


def tried(one: IllRun) -> Tried:
    """Return what came of the remedies for an ill run."""
    trial = try_remedies(one.make(0))
    if trial.best is None:
        return Tried(one.name, trial, None)
    return Tried(one.name, trial, try_remedies(one.make(AGAIN), chosen=[trial.best.remedy]).outcomes[0])


def report(runs: Iterable[IllRun]) -> list[Tried]:
    """Try the remedies of runs one by one, print what came of them, and return it."""
    out = []
    for one in runs:
        out.append(tried(one))
        made = out[-1]
        again = "" if made.again is None else f" Again: {made.again.gain.value:.2g} ± {made.again.error:.2g}."
        print(f"{one.name}\n{made.trial}{again}", flush=True)
    first = [one.trial.outcomes[0] for one in out]
    proposed = [one.again for one in out if one.again is not None]
    sure, mean = sum(one.better for one in first), sum(one.gain.value > 0.0 for one in first)
    held = sum(one.gain.value > 0.0 for one in proposed)
    worse = sum(one.gain.value < -one.error for one in proposed)
    print(f"Of {len(out)} runs the first remedy is surely better in {sure}, better on average in {mean}.")
    print(f"A trial proposes one for {len(proposed)}. On another seed it gains in {held}, and loses in {worse}.")
    return out


def main(arguments: list[str] | None = None) -> None:
    """Print what came of the remedies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--labelled", action="store_true", help="the labelled runs")
    options = parser.parse_args(arguments)
    report(itertools.islice(labelled(), options.count) if options.labelled else ill_runs(options.count))


if __name__ == "__main__":
    main()
