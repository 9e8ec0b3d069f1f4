"""``minimize`` of functions that take a seed: every form of constraints, the first call and the last ones, replays."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

from helpers.seeded import BOX, START, Recorded, both, cost, limit, shifted
from zoviz import BlackBox, minimize
from zoviz.core.types import Array

FORMS: dict[str, Any] = {
    "a function": limit,
    "several": [limit, limit],
    "a dict": {"type": "ineq", "fun": lambda x, seed, factor: -factor * limit(x, seed), "args": (1.0,)},
    "SciPy's nonlinear": NonlinearConstraint(limit, -np.inf, 0.0),
    "SciPy's linear, which takes none": LinearConstraint([[1.0, 1.0]], 3.0, np.inf),
}


def minimum(fun: Any, **params: Any) -> Any:
    """Return the result of 120 calls."""
    return minimize(fun, START, **{"bounds": BOX, "constraints": limit, "seeds": True, "max_calls": 120} | params)


@pytest.mark.parametrize("form", FORMS)
def test_constraints_of_every_form_are_given_the_seed(form: str) -> None:
    result = minimum(cost, constraints=FORMS[form])
    assert result.calls == 120 and len(result.h) == (2 if form == "several" else 1)


def test_the_same_call_gives_the_same_result_and_makes_the_same_calls() -> None:
    first, again = Recorded(), Recorded()
    one, other = minimum(first, seed=3), minimum(again, seed=3)
    np.testing.assert_array_equal(one.x, other.x)
    assert one.fun == other.fun and repr(one.certainty) == repr(other.certainty)
    assert first.calls == again.calls and len(first.calls) == one.calls == 120
    assert minimum(Recorded(), seed=4).fun != one.fun


def test_arguments_come_after_the_seed() -> None:
    assert minimum(shifted, args=(5.0,)).fun == pytest.approx(minimum(cost).fun + 5.0, abs=1e-5)


def test_a_black_box_of_ones_own_is_given_seeds_too() -> None:
    own = BlackBox(cost, limit, BOX, START)
    assert minimize(own, seeds=True, max_calls=120).fun == minimum(cost).fun
    joint = BlackBox(both, bounds=BOX, x0=START, m=1, joint=True, vectorised=True, seeds=True)
    assert minimize(joint, max_calls=120).fun == minimum(cost).fun


def test_fresh_calls_of_the_answer_have_new_seeds() -> None:
    fun = Recorded()
    result = minimum(fun, max_calls=600)
    last = fun.calls[-20:]
    assert max(Counter(seed for _, seed in last).values()) == 1
    assert result.certainty is not None and result.certainty.noisy


def test_without_seeds_functions_get_x_alone() -> None:
    def plain(x: Array) -> float:
        return float(x @ x)

    assert minimize(plain, START, bounds=BOX).fun == minimize(plain, START, bounds=BOX, seeds=False).fun


def test_common_seeds_find_more_than_independent_ones_where_the_noise_is_the_seeds() -> None:
    def gaps(noise: str | None) -> Array:
        found = [minimum(cost, constraints=(), max_calls=150, seed=seed, noise=noise).x for seed in range(5)]
        return np.array([(x[0] - 1.0) ** 2 + 2.0 * (x[1] - 1.0) ** 2 for x in found])

    assert np.median(gaps(None)) < 0.1 * np.median(gaps("independent"))
