"""The study of methods under noise: its cases hide what they say, its losses and marks are what is defined."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.errors import ZovizError
from zoviz.core.registry import discover
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.papers.minimize.method_choice import METHODS, REPLICAS, MethodChoice, Posed, case, final_losses, marks
from zoviz.problems import BlackBox
from zoviz.solvers import Solver
from zoviz.solvers.portfolio.choice import TABLE
from zoviz.studies.trials import narrowed


def plane(x: Array) -> tuple[Array, Array]:
    """f = 3 x1 + x2 under 1 - x1 - x2 <= 0: f* = 1 at (0, 1) on [0, 1]^2."""
    return 3.0 * x[..., 0] + x[..., 1], 1.0 - x.sum(axis=-1, keepdims=True)


def task() -> Posed:
    problem = BlackBox(plane, joint=True, vectorised=True, m=1, bounds=[(0, 1)] * 2, x0=[1.0, 1.0])
    return Posed(problem, Box(np.zeros(2), np.ones(2)), np.ones(2), 1.0)


def test_losses_are_those_without_noise_in_sizes_of_the_start() -> None:
    problem, loss = case(task(), 0.0)
    rng = np.random.default_rng(0)
    there = np.clip(1.0 + 0.25 * rng.uniform(-1.0, 1.0, (32, 2)), 0.0, 1.0)
    size = max(3.0, np.median(abs(plane(there)[0] - 4.0)))
    size_h = np.median(abs(plane(there)[1] + 1.0))
    x = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.5], [0.5, 0.5]])
    assert size == 3.0
    assert loss(x) == pytest.approx([0.0, 1.0, 0.5 / size_h, 1.0 / 3.0])
    assert problem.evaluate(x).f == pytest.approx(plane(x)[0])


def test_noise_has_the_sizes_that_are_said() -> None:
    problem, loss = case(task(), 0.1)
    value = problem.evaluate(np.full((20_000, 2), 0.5))
    size_h = 0.5 / loss(np.array([[0.0, 0.5]]))[0]
    assert value.f.std() == pytest.approx(0.3, rel=0.03) and value.f.mean() == pytest.approx(2.0, abs=0.01)
    assert value.h.std() == pytest.approx(0.1 * size_h, rel=0.03)


def test_marks_are_geometric_means_of_bounded_ratios() -> None:
    losses = np.array([[0.1, 0.2, np.inf], [4e-5, 1e-3, 1e-4]])
    assert marks(losses) == pytest.approx([1.0, np.sqrt(2.0 * 10.0), 10.0])


def test_every_method_of_the_noisy_rows_takes_part() -> None:
    noisy = [row for row in TABLE if "noisy" in row.reason]
    assert len(noisy) >= 3 and {name for row in noisy for name in row.methods} <= set(METHODS)
    assert set(METHODS) <= set(discover("zoviz.solvers", Solver))


def test_a_table_has_marks_and_a_budget_without_a_step_gives_the_start() -> None:
    study = MethodChoice(size="quick")
    reference, *parts = study.parts()
    known = {reference: study.measure(reference)}
    (table,) = study.tables(known | {part: study.measure_after(part, known) for part in parts})
    assert table.heads == ("sweeps", "level", "problem", "ZOCEG", "COBYLA")
    line, marked = table.rows
    assert line[:3] == ("100", "0.1", "LoadTracking20") and marked[:4] == ("100", "0.1", "20 to 100", "1.00")
    assert float(marked[4]) > 2.0
    assert final_losses("ZOSPLM", task(), 0.1, 1).tolist() == [1.0] * REPLICAS


def test_a_level_below_0_is_refused() -> None:
    study = narrowed(MethodChoice, "quick", ["level=-1"])
    with pytest.raises(ZovizError, match="Expected a level of noise from 0, got -1"):
        study.measure_after(study.parts()[1], {"": {"optimum": 0.0}})
