"""Nine boxes with numbers from a seed: what is asked of the solvers, and what counts as an answer."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.robustness.boxes import FEASIBLE, MAKERS, NEAR, Boxes, NumberedBox, Recorded, boxes


def test_the_simplex_has_its_optimum_in_closed_form() -> None:
    box = boxes(1)["entropy"]
    # c x + x log x on the simplex is least at x proportional to exp(-c): -log sum exp(-c).
    level, log_half = box.value(np.full(30, 0.5)).f, np.log(0.5)
    slopes = 2.0 * (box.value(0.5 + 0.5 * np.eye(30)).f - level) + log_half
    assert box.optimum(1) == pytest.approx(-np.log(np.exp(-slopes).sum()), abs=1e-5)


@pytest.mark.parametrize("name", list(MAKERS))
def test_seeds_draw_other_numbers_and_one_seed_the_same(name: str) -> None:
    box, same, other = boxes(1)[name], boxes(1)[name], boxes(2)[name]
    x = 0.9 * box.x0 + 0.01
    assert box.value(x).f == same.value(x).f
    assert not (np.array_equal(box.x0, other.x0) and box.value(x).f == other.value(x).f)
    assert box.value(box.x0).h.shape == (box.m,)


def test_the_best_feasible_point_is_recorded() -> None:
    box = NumberedBox(boxes(1)["inactive"].value, np.array([3.0, 3.0]), [(-4.0, 4.0)] * 2, 1)
    record = Recorded(box)
    record(np.array([[3.0, 3.0], [0.0, 0.1], [2.0, 1.0]]))
    assert record.violation <= FEASIBLE
    assert record.best == min(box.value(np.array([0.0, 0.1])).f, box.value(np.array([2.0, 1.0])).f)


def test_a_solvers_outcome_on_one_box() -> None:
    one = Boxes().trial(1, "equality", "ZOCEG", 1500, boxes(1)["equality"].optimum(3))
    assert one["violation"] <= FEASIBLE and one["gap"] <= NEAR and one["status"] == "finished"


def test_the_table_counts_where_a_solver_falls_short() -> None:
    study = Boxes(size="quick")
    reference, part = study.parts()
    known = {reference: study.measure(reference)}
    (table,) = study.tables(known | {part: study.measure_after(part, known)})
    (line, feasible, near, diverged) = table.rows
    assert line[:2] == ("1", "equality") and float(line[2]) > NEAR
    assert [row[1:] for row in (feasible, near, diverged)] == [("feasible", "1"), ("near", "0"), ("diverged", "0")]
