"""Scales by which every slope is about 1."""

from __future__ import annotations

import numpy as np

from zoviz.solvers.equilibration import equilibrate


def test_units_of_variables_and_functions_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    slopes = rng.uniform(0.5, 2.0, (4, 6))
    lengths, sizes = 10.0 ** rng.uniform(-3, 3, 6), 10.0 ** rng.uniform(-4, 4, 4)
    plain, hidden = equilibrate(slopes), equilibrate(slopes * sizes[:, None] / lengths)
    scaled = slopes * plain.length / plain.size[:, None]
    np.testing.assert_allclose(scaled.max(axis=1), 1.0)
    assert (scaled.max(axis=0) > 0.9).all()
    again = slopes * sizes[:, None] / lengths * hidden.length / hidden.size[:, None]
    assert (again.max(axis=0) > 0.5).all() and again.max() <= 1.0 + 1e-12


def test_rows_and_columns_without_slopes_count_as_the_others() -> None:
    slopes = np.array([[100.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    length, size = equilibrate(slopes)
    assert np.isfinite(length).all() and (length > 0).all() and (size > 0).all()
    assert length[0] < length[1] < length[2]
    np.testing.assert_array_equal(equilibrate(np.zeros((2, 3))).length, 1.0)
