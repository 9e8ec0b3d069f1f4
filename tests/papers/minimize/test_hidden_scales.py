"""Boxes that hide their scales: the disguise, and what the augmented Lagrangian makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.minimize.hidden_scales import BOUNDED, NEAR, HiddenScales, hidden
from zoviz.papers.robustness.boxes import MAKERS, boxes

SEED = 21


@pytest.mark.parametrize("name", MAKERS)
def test_a_box_is_its_function_in_disguise(name: str) -> None:
    one = hidden(name, SEED)
    f, h = one.at(one.x0)
    expected = boxes(SEED)[name].value(one.box.x0)
    assert f == expected.f and (h == expected.h).all() and np.isfinite(f)
    assert set(one.x0) <= {0.0, 1.0} and one.scale.max() / one.scale.min() > 10.0
    low, high = np.array(one.bounds).T
    assert ((low <= one.x0) & (one.x0 <= high)).all() and np.isfinite([low, high]).all() == (name in BOUNDED)
    moved = one.x0 + 0.1 * one.scale
    np.testing.assert_allclose(one.z(moved), one.box.x0 + 0.1)


@pytest.mark.parametrize("name", ["inactive", "lengths", "equality", "values"])
def test_the_augmented_lagrangian_solves_it_with_a_tenth_of_the_calls(name: str) -> None:
    one = HiddenScales().trial(SEED, name, "ALSPG", 500, boxes(SEED)[name].optimum(3))
    assert one["solved"] and one["gap"] > -NEAR and one["spent"] <= 500


def test_the_table_counts_what_is_solved() -> None:
    study = HiddenScales(size="quick")
    reference, part = study.parts()
    known = {reference: study.measure(reference)}
    (table,) = study.tables(known | {part: study.measure_after(part, known)})
    assert table.heads == ("seed", "box", "ALSPG") and table.rows[0][2].startswith("* ")
    assert table.rows[1] == ("", "solved (*)", "1")
