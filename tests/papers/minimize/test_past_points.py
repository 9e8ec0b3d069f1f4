"""The study of past points: what a table is, when a run ends, and how a problem's trials are summed up."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.project import ROOT
from zoviz.papers.minimize.past_points import Past, Task, ratios, truly_worse
from zoviz.studies.reproduction import Reproduction


def test_a_run_ends_at_its_first_solution() -> None:
    task = Task.of("HS35")
    course = task.run(0.0, 0)
    solved = [task.is_solved(values, 0.0) for values in course.values]
    assert course.hit == len(course.points) and solved.index(True) == len(solved) - 1


@pytest.mark.parametrize("source", ["random", "stale", "near"])
def test_tables_are_true_wrong_by_a_fifth_or_of_a_problem_near_by(source: str) -> None:
    task = Task.of("HS35")
    x, values = task.table(source, 0.0, np.random.default_rng(1))
    true = task.values(x)
    assert len(x) >= 200 and task.problem.domain.contains(x, 1e-9).all()
    wrong = np.abs(values / true - 1.0)
    if source == "near":
        assert 0.0 < np.median(wrong) < 0.5
    else:
        assert wrong == pytest.approx(0.2 if source == "stale" else 0.0, abs=1e-9)


def test_the_ratios_of_a_problem_are_of_the_draws_that_either_solves() -> None:
    rows = [{"hit": 10.0, "cold": 20.0}, {"hit": np.inf, "cold": 20.0}, {"hit": np.inf, "cold": np.inf}]
    assert ratios(rows).tolist() == [0.5, np.inf] and not len(ratios(rows[2:]))
    cells = Past(size="quick").cells([{**row, "problem": name} for name, row in zip("abc", rows, strict=True)])
    assert cells["worse"] == "1 of 2" and cells["worse draws"] == "50 %" and cells["largest"] == "inf"
    assert cells["further calls"] == "-10 / -10 / -10"


def test_a_problem_truly_costs_where_its_mean_ratio_is_above_the_limit_by_two_standard_errors() -> None:
    assert truly_worse(np.array([1.07, 1.07, 1.07])) and not truly_worse(np.array([1.04, 1.04, 1.04]))
    assert not truly_worse(np.array([0.5, 0.6, 3.0])) and truly_worse(np.array([1.5, np.inf, np.inf, np.inf]))
    assert not truly_worse(np.array([2.0])), "one draw has no error"


def test_placebos_carry_no_information() -> None:
    task = Task.of("HS35")
    x, values = task.table("shuffled", 0.0, np.random.default_rng(1))
    true = task.values(x)
    assert (values != true).any() and np.array_equal(np.sort(values, axis=0), np.sort(true, axis=0))
    change = np.abs(task.moved(0).x0 / task.x0 - 1.0)
    assert (change > 0.0).all() and (change < 0.05).all()


def test_an_earlier_run_ends_before_its_first_solution() -> None:
    task = Task.of("HS35")
    x, values = task.table("earlier", 0.0, np.random.default_rng(1))
    assert len(x) > 3 and np.array_equal(values, task.values(x))
    assert not any(task.is_solved(one, 0.0) for one in values)


def test_the_page_has_the_table_of_the_outcomes_that_are_recorded() -> None:
    work = Reproduction(Past(size="full"), ROOT / "docs" / "performance")
    (table,) = work.experiment.tables(work.measured)
    page = (ROOT / "docs" / "performance" / "past_points.md").read_text(encoding="utf-8").splitlines()
    lines = [f"| {' | '.join(cells)} |" for cells in (table.heads, *table.rows)]
    assert len(lines) > 1 and [line for line in lines if line not in page] == []
