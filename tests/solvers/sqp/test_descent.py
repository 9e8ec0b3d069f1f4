"""A descent under noise: a variable that has far to go beside one along which the functions bend."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.minimize.minimize import minimize
from zoviz.solvers.sqp import descent as descents


def peaks(x: Array) -> Array:
    """Return two steep bowls above the level x_3, (2,): both are below it from x_3 = e^4 on, with x_1 = x_2 = 0."""
    return np.exp(np.minimum(x[1] ** 2 + (x[0] + np.array([2.0, -2.0])) ** 2, 50.0)) - x[2]


def level(seed: int) -> Array:
    """Return where ZOSQP ends (3,), of 1000 calls with noise of 0.05, from x_3 = 0.1."""
    noise = np.random.default_rng(seed)

    def values(x: Array) -> tuple[float, Array]:
        return x[2] + 0.05 * noise.standard_normal(), peaks(x) + 0.05 * noise.standard_normal(2)

    settings = {"joint": True, "method": "ZOSQP", "noise": "independent", "max_calls": 1000, "seed": seed}
    return np.asarray(minimize(values, [0.1, 0.1, 0.1], **settings).x)


def test_a_variable_with_far_to_go_gets_a_longer_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    x = level(0)
    assert peaks(x).max() < 0.05 and x[2] == pytest.approx(np.exp(4.0), abs=0.1)
    monkeypatch.setattr(descents, "_with_lengths", lambda descent, *_: descent)
    assert peaks(level(0)).max() > 10.0, "with one length for all it crawls"
