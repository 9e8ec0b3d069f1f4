"""Boxes that hide their scales: the disguise, and what the augmented Lagrangian makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.minimize.hidden_scales import BOXES, NEAR, OPTIMA, HiddenScales


@pytest.mark.parametrize("name", BOXES)
def test_a_box_is_its_function_in_disguise(name: str) -> None:
    box = BOXES[name]()
    f, h = box.at(box.x0)
    expected = box.value(box.z0)
    assert f == expected[0] and (h == expected[1]).all() and np.isfinite(f)
    assert set(box.x0) <= {0.0, 1.0} and name in OPTIMA
    low, high = np.array(box.bounds).T
    assert ((low <= box.x0) & (box.x0 <= high)).all()
    assert box.scale.max() / box.scale.min() > 10.0
    moved = box.x0 + 0.1 * box.scale
    np.testing.assert_allclose(box.z(moved), box.z0 + 0.1)


@pytest.mark.parametrize("name", ["inactive", "plane", "equality", "values"])
def test_the_augmented_lagrangian_solves_it_with_a_tenth_of_the_calls(name: str) -> None:
    one = HiddenScales().trial(name, "ALSPG", calls=500, seed=0)
    assert one["solved"] and one["gap"] > -NEAR and one["spent"] <= 500


def test_the_table_counts_what_is_solved() -> None:
    study = HiddenScales(size="quick")
    (table,) = study.tables({part: study.measure(part) for part in study.parts()})
    assert table.heads == ("box", "ALSPG") and table.rows[0][1].startswith("* ")
    assert table.rows[1] == ("solved (*)", "1")
