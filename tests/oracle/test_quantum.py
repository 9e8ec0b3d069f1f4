"""The quantum of values: seen by their digits alone, and not where values only look short."""

import numpy as np
import pytest

from zoviz.oracle.quantum import digits, quantum


def _smooth(count, seed=0, offset=0.0):
    """Return values of full precision of order 10, (count, 1)."""
    return np.random.default_rng(seed).normal(10.0, 4.0, (count, 1)) + offset


def _significant(values, digits):
    return np.array([[float(f"{v:.{digits - 1}e}") for v in row] for row in values])


@pytest.mark.parametrize("count", [2, 5, 30])
@pytest.mark.parametrize(
    ("rounded", "step"),
    [
        (lambda v: np.round(v, 1), 0.1),
        (lambda v: np.round(v, 2), 0.01),
        (lambda v: np.round(v + 1000.0, 3), 1e-3),
        (lambda v: _significant(v + 1000.0, 6), 1e-2),
        (lambda v: _significant(v + 1000.0, 5), 0.1),
        (lambda v: _significant(1e-9 * v, 4), 1e-12),
        (lambda v: np.round(1e5 * v), 1.0),
        (lambda v: -np.round(v, 3), 1e-3),
        (lambda v: 0.3 - np.round(v, 2), 0.01),
        (lambda v: np.round(128.0 * v) / 128.0, 1.0 / 128.0),
        (lambda v: (v + 1000.0).astype(np.float32).astype(float), 2.0**-14),
    ],
)
def test_the_step_of_rounded_values_is_seen(rounded, step, count):
    """A few values may share more: decimals, significant digits, whole numbers, binary fractions, single precision."""
    seen = quantum(rounded(_smooth(count)))[0]
    assert step * 0.99 <= seen <= step * (1.01 if count == 30 else 20.0)


@pytest.mark.parametrize("step", [0.05, 0.25, 1.0 / 3.0, 0.0123456789, 3.3 / 4096.0, np.pi / 180.0])
def test_a_lattice_of_any_spacing_is_seen_at_scattered_points(step):
    seen = quantum(np.round(_smooth(30) / step) * step + 0.7, scattered=True)[0]
    assert seen == pytest.approx(step, rel=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3, 6, 12, 64, 500])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8])
def test_values_of_full_precision_have_none(count, offset):
    """Of thirty samples: beside a large constant, too, whose round-off is no rounding."""
    steps = [quantum(_smooth(count, seed, offset), scattered=True)[0] for seed in range(30)]
    assert not any(steps)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(5),
        np.full(5, -0.05),
        np.full(5, 3.0),
        np.array([0.0, 1.0, 1.0, 0.0]),
        np.array([-1.0, 2.0, 3.0, 0.0, 1.0, -2.0, 4.0]),
        np.array([np.nan, np.inf, -np.inf]),
        np.empty(0),
        np.array([0.1, 0.2, 1.0 / 3.0]),
    ],
)
def test_constants_and_classes_are_not_rounded(values):
    assert quantum(values[:, None], scattered=True)[0] == 0.0


def test_a_value_that_is_the_same_everywhere_needs_four_digits():
    assert quantum(np.full((4, 1), 1.234))[0] == pytest.approx(1e-3)
    assert quantum(np.full((4, 1), 12.3))[0] == 0.0
    assert quantum(np.full((4, 1), np.float32(np.pi), dtype=float))[0] == pytest.approx(2.0**-22)


def test_a_change_of_units_does_not_hide_it():
    """Values of order 1e-3 that came by numbers of order 1e3 are off their lattice by the round-off of these."""
    rng = np.random.default_rng(3)
    values = np.round(rng.normal(0.0, 2e-3, (20, 1)), 5) + rng.uniform(-1e-13, 1e-13, (20, 1))
    assert quantum(values)[0] == 0.0
    assert quantum(values, size=1e3)[0] == pytest.approx(1e-5)


def test_differences_of_a_linear_function_lie_on_a_lattice_by_design_only():
    steps = np.sqrt(2.0) * 1e-7 * np.arange(1.0, 9.0)
    assert quantum((3.0 + steps)[:, None])[0] == 0.0


def test_every_output_is_judged_by_itself():
    values = np.concatenate([np.round(_smooth(8), 2), _smooth(8), np.ones((8, 1))], axis=1)
    assert quantum(values) == pytest.approx([0.01, 0.0, 0.0])


def test_digits_are_those_of_the_largest_value():
    values = np.array([[1003.21, 0.5, 7.0], [999.5, 0.25, 6.0]])
    assert digits(values, np.array([0.01, 0.25, 0.0])).tolist() == [6, 1, 0]
