"""The certainty of arbitrary values in arbitrary boxes: no warning, no call outside, and a table in every case."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from zoviz.certainty.calls import Calls
from zoviz.certainty.estimate import certainty, design
from zoviz.core.sets import Box
from zoviz.core.types import Array

SHAPES: tuple[Callable[[Array, Array], Array], ...] = (
    lambda z, w: np.sin(z @ w),
    lambda z, w: np.square(z) @ np.abs(w),
    lambda z, w: np.full(len(z), 3.0),
    lambda z, w: np.where(z @ w > 0.0, 1e12, -1.0),
    lambda z, w: z @ w,
    lambda z, w: np.exp(np.clip(z @ w, -50.0, 50.0)),
    lambda z, w: -np.square(z) @ np.abs(w),
)


def drawn_box(random: np.random.Generator, n: int) -> Box:
    """Return a box of widths from 2e-3 to 2e4, at times without an end, at times of equal ends."""
    lower, upper = -(10.0 ** random.uniform(-3, 4, n)), 10.0 ** random.uniform(-3, 4, n)
    if random.random() < 0.3:
        lower[random.random(n) < 0.5] = -np.inf
        upper[random.random(n) < 0.5] = np.inf
    fixed = (random.random(n) < 0.15) & np.isfinite(upper)
    lower[fixed] = upper[fixed]
    return Box(lower, upper)


@pytest.mark.parametrize("seed", range(70))
def test_any_values_have_a_certainty(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, m, shape = int(random.integers(1, 6)), int(random.integers(0, 4)), SHAPES[seed % len(SHAPES)]
    box, weights = drawn_box(random, n), random.standard_normal((m + 1, n))
    size, noise = 10.0 ** random.uniform(-8, 8, m + 1), random.choice([0.0, 1e-8, 1e-2, 1.0, 100.0])
    x = box.project(random.standard_normal(n))

    def called(points: Array) -> Calls:
        y = np.stack([shape(points, w) for w in weights], axis=1) * size
        y = y + noise * size * random.standard_normal(y.shape)
        if seed % 3 == 0:
            y[random.random(len(y)) < 0.2] = np.nan
        if m >= 2 and seed % 5 == 0:
            y[:, 2] = -y[:, 1]
        return Calls(points, y)

    count = int(random.integers(0, 200))
    before = called(box.project(x + 10.0 ** random.uniform(-6, 0, (count, 1)) * random.standard_normal((count, n))))
    plan = design(x, box, int(random.integers(1, 100)), random, before, int(random.integers(1, 4)))
    assert box.contains(plan.points, 1e-9).all()
    made = certainty(before, called(plan.points), x, box, plan)
    assert len(made.h_x) == len(made.activity) == len(made.multipliers) == m and str(made).endswith(".")
    assert all(one.low <= one.high for one in (*made.h_x, *made.multipliers, made.gain) if np.isfinite(one.value))
    assert all(box.lower[i] <= one.value <= box.upper[i] for i, one in enumerate(made.x_star))
