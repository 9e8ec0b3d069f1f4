"""Noise that is not there at the start: answers are feasible in the mean, whether it was declared or not."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from zoviz.papers.minimize.undeclared_noise import CASES, UndeclaredNoise, lowest, objective, posed

NOISY = [name for name in CASES if name not in ("outliers", "none")]


def outcome(name: str, budget: int, seed: int, declared: bool) -> SimpleNamespace:
    return SimpleNamespace(**UndeclaredNoise().trial(name, budget, declared, seed, "auto"))


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("name", ["poisson", "one of three"])
def test_an_answer_is_feasible_in_the_mean_where_noise_begins_on_the_way(name: str, declared: bool) -> None:
    one = outcome(name, 400, 3, declared)
    assert one.found and one.success and not one.infeasible and one.calls <= 400
    assert one.gap < 0.3


def test_exact_values_and_few_outliers_stay_exact() -> None:
    none, outliers = outcome("none", 400, 0, False), outcome("outliers", 400, 0, False)
    assert not none.found and none.success and none.gap < 1e-4 and none.calls == 400
    assert not outliers.found and not outliers.infeasible and outliers.gap < 1e-3


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_the_mean_and_the_deviation_that_it_tells(name: str) -> None:
    x, own = np.array([1.2, 1.4, -1.0, 0.3]), posed(name, 0, 0)
    rows = np.array([own.function(x)[1] for _ in range(4000)])
    spread = np.hypot(own.deviation(x), 0.1 if name == "outliers" else 0.0)
    assert (np.abs(rows.mean(axis=0) - own.mean(x)) <= 4.0 * spread / np.sqrt(4000) + 1e-12).all()
    assert np.abs(rows.std(axis=0) - spread).max() <= 0.2 * spread.max() + 1e-12
    best = np.array([1.25, 1.3, -1.25, -0.65]) if name == "one of three" else np.array([1.25, 8 / 7, -1.25, -4 / 7])
    assert lowest(name) == pytest.approx(objective(best), abs=1e-6) and own.mean(best).max() <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISY)
def test_of_forty_answers_at_most_two_are_infeasible_in_the_mean(name: str) -> None:
    every = [outcome(name, budget, seed, False) for budget in (400, 1000) for seed in range(20)]
    assert sum(one.infeasible for one in every) <= 2
    assert sum(one.found for one in every) >= 38


def test_the_table_has_a_line_for_each_case_and_way() -> None:
    study = UndeclaredNoise(size="quick")
    (table,) = study.tables({part: study.measure(part) for part in study.parts()})
    assert [row[:3] for row in table.rows] == [("none", "40", "False"), ("none", "40", "True")]
    assert table.heads[3:] == ("infeasible", "of success", "success", "found", "gap")
