"""COCO's constrained functions against cocoex itself: values, starts, solutions, noise, and other processes."""

from __future__ import annotations

import functools
import os
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zoviz.core.errors import MissingExtra
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import BBOBConstrained
from zoviz.problems.families import kind_of
from zoviz.runs.run import Run
from zoviz.solvers import ZOSQP

needs_cocoex = pytest.mark.skipif(find_spec("cocoex") is None, reason="needs coco-experiment")
# One of each objective, with each number of constraints.
CASES = [(1, 2, 1), (8, 3, 2), (15, 5, 3), (22, 10, 4), (29, 5, 5), (36, 3, 1), (37, 20, 2), (44, 5, 3), (52, 3, 4)]
EACH_CASE = pytest.mark.parametrize("function, dimension, instance", CASES)


@functools.cache
def cocos_suite() -> Any:
    import cocoex

    return cocoex.Suite("bbob-constrained", "", "")


def cocos_own(function: int, dimension: int, instance: int) -> Any:
    return cocos_suite().get_problem_by_function_dimension_instance(function, dimension, instance)


def near(point: Array, radius: float) -> Array:
    moves = np.random.default_rng(0).standard_normal((400, len(point)))
    return np.clip(point + radius * moves, -5.0, 5.0)


@needs_cocoex
@EACH_CASE
def test_values_start_and_box_are_cocos(function: int, dimension: int, instance: int) -> None:
    problem = BBOBConstrained(function=function, dimension=dimension, instance=instance)
    theirs = cocos_own(function, dimension, instance)
    assert problem.published_name == theirs.id and problem.n == dimension and problem.m == theirs.number_of_constraints
    np.testing.assert_array_equal(problem.initial(Streams(0, 2)), [theirs.initial_solution] * 2)
    np.testing.assert_array_equal([problem.domain.lower, problem.domain.upper], [[-5.0] * dimension, [5.0] * dimension])
    x = near(np.array(theirs.initial_solution), 1.0).reshape(20, 20, dimension)
    value = problem.evaluate(x)
    assert value.f.shape == (20, 20) and value.h.shape == (20, 20, problem.m)
    assert value.f[3, 5] == theirs(x[3, 5]) and value.f[19, 19] == theirs(x[19, 19])
    np.testing.assert_array_equal(value.h[3, 5], theirs.constraint(x[3, 5]))


@needs_cocoex
@EACH_CASE
def test_the_optimum_is_feasible_and_nothing_feasible_is_lower(function: int, dimension: int, instance: int) -> None:
    problem = BBOBConstrained(function=function, dimension=dimension, instance=instance)
    optimum = problem.known_optimum
    at = problem.evaluate(optimum.point)
    assert at.f == optimum.value and at.h.max() <= 0.0 and problem.domain.contains(optimum.point, 0.0).all()
    for radius in (1e-3, 0.1, 3.0):
        value = problem.evaluate(near(optimum.point, radius))
        feasible = (value.h <= 0.0).all(axis=-1)
        assert (value.f[feasible] >= optimum.value).all()
    assert problem.evaluate(problem.initial(Streams(0, 1))).f[0] > optimum.value


@needs_cocoex
def test_constraints_are_counted_and_those_that_are_called_linear_are() -> None:
    rng = np.random.default_rng(1)
    for function in range(1, 55, 4):
        problem = BBOBConstrained(function=function, dimension=3)
        assert problem.m == (1, 3, 9, 11, 13, 22)[(function - 1) % 6]
        x, step = rng.uniform(-3.0, 3.0, 3), 0.3 * rng.standard_normal(3)
        behind, here, ahead = problem.evaluate(np.array([x - step, x, x + step])).h
        bend = np.abs(behind - 2.0 * here + ahead).max() / np.abs(ahead - behind).max()
        assert (bend < 1e-12) == (kind_of(problem) == "Published test sets: linear constraints")


@needs_cocoex
@pytest.mark.parametrize("noise", ["independent", "common"])
def test_noise_has_the_given_sizes_on_f_and_every_row(noise: str) -> None:
    problem = BBOBConstrained(function=9, noise=noise, noise_scale=3.0, noise_constraint_scale=0.5)
    streams = Streams(0, 400)
    oracle, x0 = Oracle(problem, streams), problem.initial(streams)
    value, again = oracle(x0), oracle(x0)
    exact = problem.evaluate(x0)
    assert np.std(value.f - exact.f) == pytest.approx(3.0, rel=0.15)
    np.testing.assert_allclose((value.h - exact.h).std(axis=0), 0.5, rtol=0.2)
    assert (value.f == again.f).all() == (noise == "common")
    assert (
        problem.published_name == "" and problem.known_optimum.value == BBOBConstrained(function=9).known_optimum.value
    )


def values(problem: BBOBConstrained) -> list[float]:
    x = problem.initial(Streams(0, 1))
    return [float(problem.evaluate(x).f[0]), problem.known_optimum.value, *problem.evaluate(x).h[0].tolist()]


@needs_cocoex
def test_it_goes_to_other_processes_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    problem = BBOBConstrained(function=33, dimension=10, instance=2)
    own = values(problem)
    assert values(pickle.loads(pickle.dumps(problem))) == own == values(problem.clone())
    assert problem.clone().data is not problem.data
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(problem.evaluate, problem.initial(Streams(0, 1))).result().f[0] == own[0]
    assert os.listdir(tmp_path) == []


@needs_cocoex
def test_parameters_make_another_problem_and_a_run_measures_its_gap() -> None:
    problem = BBOBConstrained(function=2, dimension=2)
    name = problem.published_name
    problem.dimension = 3
    assert (name, problem.published_name) == ("bbob-constrained_f002_i01_d02", "bbob-constrained_f002_i01_d03")
    run = Run(problem=problem, solver=ZOSQP(), replicas=1, calls=80)
    run.run()
    assert run.trace["gap"][-1] <= 1e-6


def test_without_the_package_it_can_be_made_and_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cocoex", None)
    problem = BBOBConstrained()
    assert problem.clone().function == 1
    for ask in (lambda: problem.domain, lambda: problem.m, lambda: ZOSQP().accepts(problem)):
        with pytest.raises(MissingExtra, match=r"zoviz\[coco\]"):
            ask()
