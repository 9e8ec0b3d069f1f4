"""The nonconvex experiment of paper zoeg, by the functions of ``zoviz.papers.zoeg.figure_3``."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.zoeg.figure_3 import GRID, ITERATIONS, LEVELS, Result, best, figure, solve, solver_of, verdict
from zoviz.problems import ACLoadTracking
from zoviz.solvers import ZOBCEG, ZOEG


def test_a_replica_that_never_got_there_makes_the_mean_infinite_and_the_bound_its_budget() -> None:
    whole, part = figure(np.array([10.0, 20.0, 30.0]), 100), figure(np.array([10.0, np.nan, 40.0]), 100)
    assert whole.mean == whole.least == 20.0 and whole.error == pytest.approx(10.0 / np.sqrt(3.0))
    assert part.mean == np.inf and part.least == 50.0
    assert whole.times(4.0)[:2] == (80.0, 4.0 * whole.error)


def test_verdicts() -> None:
    fast, slow = figure(np.array([10.0, 11.0, 12.0]), 100), figure(np.array([50.0, 51.0, 52.0]), 100)
    never, seldom = figure(np.full(3, np.nan), 100), figure(np.array([10.0, np.nan, 11.0]), 12)
    assert verdict(slow, fast) == "reproduced" and verdict(fast, slow) == "not reproduced"
    assert verdict(fast, fast) == "no difference beyond two standard errors"
    assert verdict(never, fast) == "reproduced", "it took more than its budget"
    assert verdict(never, never) == "not decided"
    assert verdict(seldom, fast) == "not decided", "its budget ended too early to tell"
    assert verdict(fast, never) == "not reproduced"


def test_the_best_steps_are_those_that_get_there_first() -> None:
    results = {
        (1.0, 1.0): Result(np.array([[5.0, 6.0]]), np.array([0.1, 0.1]), 4.0),
        (2.0, 1.0): Result(np.array([[3.0, np.nan]]), np.array([0.1, 0.9]), 4.0),
        (3.0, 1.0): Result(np.array([[4.0, 5.0]]), np.array([0.2, 0.2]), 4.0),
    }
    assert best(results, 0, budget=100) == (3.0, 1.0)


def test_every_block_has_its_method_and_budget() -> None:
    assert GRID.keys() == ITERATIONS.keys() and sorted(LEVELS, reverse=True) == list(LEVELS)
    for block, (primal, dual) in GRID.items():
        solver = solver_of(block, primal[0], dual[0])
        assert isinstance(solver, ZOEG if block <= 0 else ZOBCEG)
        assert solver.suggestible() == [], "every step is set, none is left to a rule"
        assert block <= 0 or solver.estimator.block_size == block


@pytest.mark.slow
def test_larger_blocks_need_fewer_iterations() -> None:
    pytest.importorskip("power_grid_model")
    steps = {5: (2.8e-3, 0.2), 20: (6.8e-4, 1.0)}
    assert all(pair[0] in GRID[block][0] and pair[1] in GRID[block][1] for block, pair in steps.items())
    result = {block: solve(block, pair, ACLoadTracking(), replicas=4, seed=0) for block, pair in steps.items()}
    few, many = (figure(result[block].entries[0], ITERATIONS[block]) for block in (20, 5))
    assert few.mean < many.mean < np.inf and result[20].calls > result[5].calls
    assert verdict(many, few) == "reproduced"
