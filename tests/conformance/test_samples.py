"""The samples that a run counts are those that a counter inside the problem sees, for every solver."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from helpers.every_bilevel import SOLVERS as BILEVEL
from helpers.every_linear import FORMS, made, solver_of
from helpers.every_linear import SOLVERS as LINEAR
from helpers.every_solver import BAYESIAN, EVERY
from zoviz.core.types import Sample
from zoviz.problems import StochasticQP, ToyBilevel
from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.solvers import Solver

OF_XI, OF_ZETA = ("stochastic_gradient", "evaluate", "outer", "outer_gradients"), ("inner", "inner_gradient")
PRODUCTS = ("inner_hessian_vector", "inner_jacobian_vector")
ROWS = ("residual", "adjoint")


class Drawn(NamedTuple):
    """A draw, or the rows of one that are asked: which draw it is of, and its samples of xi and of zeta."""

    sample: Sample
    origin: int
    sizes: tuple[int, int]
    counts: tuple[int, int]
    own: bool


class Counter:
    """Draws that something was asked of: numbers of samples of xi and of zeta, of one replica."""

    def __init__(self, problem: type[Problem], patch: pytest.MonkeyPatch) -> None:
        self._drawn: dict[int, Drawn] = {}
        self._asked: dict[tuple[int, int], tuple[int, int]] = {}
        patch.setattr(problem, "draw", self._noting(problem.draw))
        patch.setattr(Sample, "__getitem__", self._following(Sample.__getitem__))
        for name in (*OF_XI, *OF_ZETA, *PRODUCTS, *ROWS):
            if hasattr(problem, name):
                patch.setattr(problem, name, self._watching(name, getattr(problem, name)))

    def _noting(self, draw: Callable[..., Sample]) -> Callable[..., Sample]:
        def patched(this: Problem, iteration: int, streams: Any, shape: Any = (), size: Any = 1) -> Sample:
            sample = draw(this, iteration, streams, shape, size)
            points = int(np.prod(shape))
            first, last = size if isinstance(size, tuple) else (size, size)
            counts = points * first, points * last
            self._drawn[id(sample)] = Drawn(sample, id(sample), (first, last), counts, this.noise == "independent")
            return sample

        return patched

    def _following(self, select: Callable[..., Sample]) -> Callable[..., Sample]:
        """Rows of a draw, where some points are masked out: where each has a sample of its own, so many count."""

        def patched(this: Sample, rows: Any) -> Sample:
            part, drawn = select(this, rows), self._drawn.get(id(this))
            if drawn is not None:
                points = len(next(one for one in vars(part).values() if isinstance(one, np.ndarray)))
                counts = (points * drawn.sizes[0], points * drawn.sizes[1]) if drawn.own else drawn.counts
                self._drawn[id(part)] = drawn._replace(sample=part, counts=counts)
            return part

        return patched

    def _watching(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def patched(this: Problem, *arguments: Any, **named: Any) -> Any:
            sample = next((one for one in (*arguments, *named.values()) if isinstance(one, Sample)), None)
            if sample is not None and id(sample) in self._drawn:
                part = 0 if name in OF_XI else 1
                if name in ROWS:
                    copies = [one for one in (*arguments, *named.values()) if isinstance(one, int)]
                    part = 1 + (copies[0] if copies else 0)
                if name not in ROWS or this.sampled_rows:
                    drawn = self._drawn[id(sample)]
                    self._asked[drawn.origin, part] = drawn.counts
            return method(this, *arguments, **named)

        return patched

    @property
    def xi(self) -> int:
        return sum(counts[0] for (_, part), counts in self._asked.items() if part == 0)

    @property
    def zeta(self) -> int:
        return sum(counts[1] for (_, part), counts in self._asked.items() if part > 0)


def sized(solver: Solver) -> Solver:
    """The solver with mini-batches of several samples."""
    sizes = {"batch_size": 3, "polish_batch": 11, "outer_batch": 3, "inner_batch": 4}
    for name, size in sizes.items():
        if name in solver.param and name in solver.live + ("inner_batch", "batch_size", "outer_batch"):
            solver.set(name, size)
    return solver


def linear_cases() -> Iterator[Any]:
    for name, form, rows, noise in itertools.product(
        LINEAR, FORMS, ("inequalities", "sampled", "free"), ("common", "independent")
    ):
        problem, solver = made(rows, noise=noise, noise_scale=0.0), solver_of(name, form)
        if solver.accepts(problem) is None:
            yield pytest.param(problem, solver, id=f"{name}-{form}-{rows}-{noise}")


def assert_counted(problem: Problem, solver: Solver, patch: pytest.MonkeyPatch, replicas: int = 2) -> Run:
    counter = Counter(type(problem), patch)
    run = Run(problem=problem, solver=sized(solver), replicas=replicas, iterations=6)
    result = run.run()
    assert result.samples.tolist() == [counter.xi] * replicas and counter.xi + counter.zeta > 0
    assert result.zeta_samples.tolist() == [counter.zeta] * replicas
    assert (run.progress.counts["samples"], run.progress.counts["zeta_samples"]) == (counter.xi, counter.zeta)
    return run


@pytest.mark.parametrize(("problem", "solver"), list(linear_cases()))
def test_a_method_for_linear_constraints(problem: Problem, solver: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    run = assert_counted(problem, solver, monkeypatch)
    assert (run.result.zeta_samples > 0).all() == problem.sampled_rows
    assert ("zeta_samples" in run.trace.snapshot().columns) == problem.sampled_rows


@pytest.mark.parametrize("name", BILEVEL)
def test_an_online_method(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = assert_counted(ToyBilevel(), BILEVEL[name](), monkeypatch)
    assert (run.trace["samples"][-1] == run.result.samples).all()
    assert (run.trace["zeta_samples"][-1] == run.result.zeta_samples).all()


def general_cases() -> Iterator[Any]:
    """Every solver of values alone, on rows that are sampled: there xi and zeta are seen at once."""
    for (name, cls), noise in itertools.product(EVERY.items(), ("common", "independent")):
        if name not in LINEAR and cls().missing_package == "" and cls().accepts(problem_of(noise)) is None:
            marks = [pytest.mark.slow] if name in BAYESIAN | {"NOMAD"} else []  # a library to load, a process to begin
            yield pytest.param(name, noise, id=f"{name}-{noise}", marks=marks)


def problem_of(noise: str) -> StochasticQP:
    return StochasticQP(n=9, indefiniteness=0.0, sampled_rows=True, noise=noise)  # else some methods refuse it


@pytest.mark.parametrize(("name", "noise"), list(general_cases()))
def test_a_method_that_sees_values(name: str, noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # One replica: masks, by which replicas differ, are then in the counter's points.
    run = assert_counted(problem_of(noise), EVERY[name](), monkeypatch, replicas=1)
    assert (run.result.samples == run.result.zeta_samples).all()
    assert noise == "common" or (run.result.samples == run.result.calls).all()


def test_every_solver_is_asked_here() -> None:
    asked = {str(case.values[0]) for case in general_cases()}
    missing = {name for name, cls in EVERY.items() if cls().missing_package}
    assert asked | missing | set(LINEAR) | set(BILEVEL) == set(EVERY)


def test_a_large_first_batch_and_the_last_step_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = StochasticQP(n=9)
    run = assert_counted(problem, LINEAR["StormALM"](horizon=1000), monkeypatch)
    assert run.result.samples.tolist() == [3 * 10 + 6 * 3 + 11] * 2
    assert run.trace["samples"][0].tolist() == [30, 30]


def test_exact_values_have_no_samples() -> None:
    run = Run(problem=StochasticQP(n=9, noise="deterministic"), solver=LINEAR["SmoothedALM"](), iterations=3)
    assert run.run().samples.sum() == 0 and "samples" not in run.trace.snapshot().columns
