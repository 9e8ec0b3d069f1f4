"""The front door: noise is found, a method is chosen, and both are said; its docstrings, its imports."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import zoviz
from helpers.black_box import f_at, h_at
from helpers.minimizing import BOUNDS, LINE, Diary
from zoviz import minimize
from zoviz.core.sets import Ball
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.solvers import ZOBCEG, Portfolio
from zoviz.solvers.portfolio.choice import TABLE, Situation, choose, named

# --- noise and the choice of a method ---------------------------------------------------------------------------------


class Noisy:
    """f_at with normal noise of its own."""

    def __init__(self, scale: float) -> None:
        self.generator, self.scale = np.random.default_rng(0), scale

    def __call__(self, x: Array) -> float:
        return f_at(x) + self.scale * self.generator.standard_normal()


def test_noise_is_found_and_the_answer_is_a_mean_not_the_luckiest_value() -> None:
    diary = Diary(Noisy(0.5))
    result = minimize(diary, [0.0, 0.0], bounds=BOUNDS, method="ZOSPLM", max_calls=3000)
    assert result.calls == len(diary.points) <= 3000
    assert "Values are noisy: x is " in result.message and "means of 8 calls" in result.message
    assert abs(result.fun - f_at(result.x)) < 4 * 0.5 / np.sqrt(8)
    assert f_at(result.x) < 1.0
    assert "Values are noisy" not in minimize(f_at, [0.0, 0.0], bounds=BOUNDS, method="ZOSPLM", max_calls=300).message
    declared = minimize(f_at, [0.0, 0.0], bounds=BOUNDS, method="ZOSPLM", max_calls=300, noise="independent")
    assert "Values are noisy" in declared.message


def test_a_point_that_the_method_verified_is_the_answer() -> None:
    generator = np.random.default_rng(2)

    def joint(x: Array) -> tuple[float, list[float]]:
        f, *h = np.array([f_at(x), *h_at(x)]) + 0.02 * generator.standard_normal(3)
        return float(f), h

    result = minimize(joint, [0.0, 0.0], bounds=BOUNDS, joint=True, method="ZOSQP", max_calls=1000)
    assert "x is the point that the method verified, fun and h are means of 16 calls" in result.message
    assert result.calls <= 1000 and max(h_at(result.x)) < 0.01
    assert f_at(result.x) < f_at(np.ones(2)) + 0.05  # the optimum is (1, 1)


def noisy_line(seed: int, level: float) -> tuple[Callable[[Array], tuple[float, float]], float]:
    """x1 + x2 >= ``level`` with noise of .05 in both values, and the least |x|^2 under it."""
    generator = np.random.default_rng(seed)

    def joint(x: Array) -> tuple[float, float]:
        noise = 0.05 * generator.standard_normal(2)
        return float(x @ x + noise[0]), float(level - x.sum() + noise[1])

    return joint, level**2 / 2.0


def test_an_answer_on_a_noisy_constraint_is_a_success_where_its_mean_is_within_two_standard_errors() -> None:
    outside = 0
    for seed in (0, 1, 5):
        joint, best = noisy_line(seed, 1.0)
        result = minimize(joint, [1.0, 1.0], bounds=[(0, 2)] * 2, joint=True, method="ZOSQP", max_calls=3000)
        assert result.feasible == ("No feasible point" not in result.message) == np.isfinite(result.best_fun)
        assert result.feasible and result.x @ result.x == pytest.approx(best, abs=0.05)
        if result.maxcv > 1e-6:
            outside += 1
            assert "within twice the standard error: it may be feasible" in result.message
            assert result.maxcv < 2.0 * 0.05 * 1.5 / np.sqrt(16)
    assert outside, "no mean was outside: a rule without the margin would do"


def test_a_point_that_is_outside_for_certain_is_no_success_under_noise() -> None:
    result = minimize(noisy_line(0, 5.0)[0], [1.0, 1.0], bounds=[(0, 2)] * 2, joint=True, max_calls=400)
    assert not result.feasible and result.maxcv == pytest.approx(1.0, abs=0.1) and np.isnan(result.best_fun)
    assert "No feasible point was found: in the mean x violates by" in result.message


def test_noise_in_constraints_is_found_too() -> None:
    generator = np.random.default_rng(1)
    result = minimize(
        f_at,
        [0.0, 0.0],
        bounds=BOUNDS,
        constraints=lambda x: x.sum() - 2.0 + 0.05 * generator.standard_normal(),
        method="ZOSPLM",
        max_calls=3000,
    )
    assert "Values are noisy" in result.message and abs(result.x.sum() - 2.0) < 0.2


def test_the_choice_is_made_and_said() -> None:
    result = minimize(f_at, [0.0, 0.0], bounds=BOUNDS, constraints=LINE, max_calls=72)
    assert result.feasible and result.fun == pytest.approx(0.5, abs=0.01)
    assert "was chosen for 2 variables, 1 constraint, values without known noise and 70 calls: " in result.message
    assert re.search(r"Solvers used: .+ \(\d+ calls\)", result.message)
    assert result.message.startswith(named(result.method).title)
    noisy = minimize(Noisy(0.1), [0.0, 0.0], bounds=BOUNDS, max_calls=400)
    assert "ZOSQP was chosen for 2 variables, 0 constraints, noisy values and 362 calls" in noisy.message


@pytest.mark.parametrize("noise", ["deterministic", "independent"])
@pytest.mark.parametrize("n", [1, 10, 51, 2000])
@pytest.mark.parametrize("calls", [40, 100_000_000])
def test_every_row_of_the_table_names_what_it_says(noise: str, n: int, calls: int) -> None:
    problem = BlackBox(lambda x: 0.0, bounds=[(0, 1)] * n, m=0, noise=noise)
    solver, reason = choose(problem, calls)
    row = next(row for row in TABLE if row.applies(Situation(n, 0, noise != "deterministic", calls / (n + 1))))
    members = solver.row if isinstance(solver, Portfolio) else [solver]
    names = [type(member).__name__ for member in members]
    assert names == [name for name in row.methods if name in names]  # in their order
    titles = [member.title for member in members]
    together = titles[0] if len(titles) == 1 else f"Portfolio of {', '.join(titles[:-1])} and {titles[-1]}"
    assert reason.startswith(f"{together} was chosen for {n} variable") and reason.endswith(".")
    assert solver.accepts(problem) is None


def test_the_last_row_of_the_table_applies_to_everything_and_is_at_hand() -> None:
    last = TABLE[-1]
    for situation in (Situation(1, 0, False, 0.1), Situation(10**6, 10**3, True, 1e9)):
        assert last.applies(situation)
    assert all(hasattr(zoviz.solvers, name) for name in last.methods)


def test_a_method_that_does_not_accept_the_problem_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = BlackBox(lambda x: 0.0, bounds=[(0, 1)] * 61, m=0)
    assert type(choose(problem, 100)[0]) is ZOBCEG
    problem.domain = Ball(np.zeros(61), 1.0)
    assert type(choose(problem, 100)[0]) is not ZOBCEG


def test_importing_zoviz_loads_neither_panel_nor_scipy() -> None:
    script = "import sys, zoviz; print(zoviz.minimize.__name__, sorted({'panel', 'bokeh', 'scipy'} & set(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240, check=True)
    assert process.stdout.strip() == "minimize []"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_calls_that_fail_count_in_no_mean(value: float) -> None:
    calls = 0

    def now_and_then(x: Array) -> float:
        nonlocal calls
        calls += 1
        return value if calls % 4 == 0 else float(x @ x)

    result = minimize(now_and_then, [1.0, 1.0], method="COBYLA", max_calls=200, noise="independent")
    assert result.feasible and result.failures > 10
    # Not to the bit: a sum of products in a loop and one by itself differ in their last digit on some processors.
    assert result.fun == pytest.approx(result.x @ result.x, rel=1e-12)
    assert "means of" in result.message
