"""The noise-free arm as a whole, on functions of one variable with two minima."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.solvers import ZOSQP
from zoviz.solvers.sqp import restarts
from zoviz.solvers.sqp.restarts import Restarts
from zoviz.solvers.sqp.situation import Settings, Situation, space_of

START = np.array([-2.0])


def joint(x: Array) -> Array:
    """f = (x^2 - 1)^2 + 0.3 x, lowest near -1.04, and h = -1."""
    return np.stack([(x[:, 0] ** 2 - 1.0) ** 2 + 0.3 * x[:, 0], np.full(len(x), -1.0)], axis=-1)


def trap(x: Array) -> Array:
    """f = x^2 and an h that falls from the start to 0.1 at the bound -3, and is below 0 around 2 only."""
    return np.stack([x[:, 0] ** 2, 0.1 + 0.3 * (x[:, 0] + 3.0) - 3.0 * np.exp(-((x[:, 0] - 2.0) ** 2))], axis=-1)


def course(calls: int, seed: int, joint: Callable[[Array], Array] = joint) -> list[Restarts]:
    """The arm after every request, until so many calls are made."""
    space = space_of(Box([-3.0], [3.0]), START, np.full(1, 1e-6))
    settings = Settings(1.0, 1.0, 1.0, 1.0, 3.0, 0.1)
    generator, spent = np.random.default_rng(seed), 1
    arms = [restarts.begin(joint(START[None])[0], Situation(space, settings, calls - 1, calls, generator))]
    while spent < calls:
        at = Situation(space, settings, calls - spent, calls, generator)
        arm, points = restarts.request(arms[-1], at)
        arms.append(restarts.receive(arm, points, joint(points), at))
        spent += len(points)
    assert spent == calls
    return arms


def polished(arms: list[Restarts]) -> set[bool]:
    """On which sides of zero runs after the first were polished."""
    return {bool(arm.run.x[0] > 0.0) for arm in arms if arm.runs > 1 and arm.run.central}


def test_the_budget_is_spent_on_runs_and_the_best_point_is_the_lowest_minimum() -> None:
    arms = course(1000, seed=0)
    roots = np.roots([4.0, 0.0, -4.0, 0.3]).real
    lowest = roots[np.argmin(joint(roots[:, None])[:, 0])]
    assert arms[-1].runs > 5
    assert arms[-1].best[0] == pytest.approx(lowest, abs=1e-6)


def test_only_runs_that_end_near_the_best_value_are_polished(monkeypatch: pytest.MonkeyPatch) -> None:
    assert polished(course(1000, seed=0)) == {False}
    monkeypatch.setattr(restarts, "_NEAR", np.inf)
    assert polished(course(1000, seed=0)) == {False, True}


def test_a_start_beside_the_least_violation_around_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    best = course(200, seed=0, joint=trap)[-1].best
    assert best[0] > 0.0 and trap(best[None])[0, 1] == pytest.approx(0.0, abs=1e-5)
    monkeypatch.setattr(restarts, "_PROGRESS", np.inf)  # restores again and again, as if that had gained something
    assert course(200, seed=0, joint=trap)[-1].best[0] == pytest.approx(-3.0)


def hyperbola(x: Array) -> tuple[float, list[float]]:
    """f = x_1 + 2 x_2 is least, 4, at (2, 1) on x_1 x_2 = 2: steps along tangents end outside."""
    return float(x[0] + 2.0 * x[1]), [2.0 / float(x[0] * x[1]) - 1.0]


def answers(budgets: Sequence[int]) -> dict[int, float]:
    """The objective of what ZOSQP reports from a start well inside, by the calls that it had; each is feasible."""
    out = {}
    for calls in budgets:
        problem = BlackBox(hyperbola, bounds=[(0.2, 10.0)] * 2, x0=[5.0, 5.0], joint=True, m=1)
        result = Run(problem, ZOSQP(), replicas=1, calls=calls, seed=0).run()
        f, h = hyperbola(result.x[0])
        assert h[0] <= 1e-6
        out[calls] = f
    return out


def test_whatever_the_budget_the_answer_is_feasible_and_far_better_than_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    objectives = answers(range(12, 40, 2))
    assert max(objectives.values()) < 10.0 and max(objectives[calls] for calls in objectives if calls >= 26) < 4.2
    monkeypatch.setattr(restarts, "_is_outside", lambda *_: False)
    assert max(answers(range(12, 40, 2)).values()) == 15.0, "some budgets ended with an iterate outside, and the start"
