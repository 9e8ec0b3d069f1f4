"""Which method ``minimize`` takes where nobody said, and that small budgets under noise are enough for it."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from zoviz import minimize
from zoviz.cli.main import main
from zoviz.core.registry import discover
from zoviz.core.sets import Ball
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox
from zoviz.runs.engine.result import OptimizeResult
from zoviz.runs.engine.stopping import Ending
from zoviz.solvers import Portfolio, Solver
from zoviz.solvers.measured_constants import calls_of_one, constants_of
from zoviz.solvers.portfolio.choice import TABLE, choose

BOUNDS = [(-4, 4), (-4, 4)]


class Disc:
    """(x1 - 2)^2 + (x2 - 1)^2 under two constraints, f* = 1 at (1, 1), with noise of 0.01 and a count of calls."""

    def __init__(self, scale: float = 0.01) -> None:
        self.calls, self.scale, self.rng = 0, scale, np.random.default_rng(1)

    def __call__(self, x: Array) -> tuple[float, Array]:
        self.calls += 1
        f, h = (x[0] - 2) ** 2 + (x[1] - 1) ** 2, np.array([x.sum() - 2, x[0] ** 2 - x[1]])
        noise = self.scale * self.rng.standard_normal(3)
        return f + noise[0], h + noise[1:]


def noisy(n: int, m: int = 1, noise: str = "independent") -> BlackBox:
    return BlackBox(lambda x: (0.0, np.zeros(m)), bounds=[(0, 1)] * n, x0=[0.5] * n, joint=True, m=m, noise=noise)


@pytest.mark.parametrize(
    ("n", "sweeps", "name"),
    [(2, 30, "ZOSQP"), (60, 300, "ZOSQP"), (61, 30, "ZOSQP"), (300, 200, "ZOSQP"), (301, 200, "ZOBCEG ZOCEG")]
    + [(1000, 200, "ZOBCEG ZOCEG"), (1000, 3, "ZOSPLM ZOEG")],
)
def test_under_noise_dimension_and_budget_decide(n: int, sweeps: int, name: str) -> None:
    solver, reason = choose(noisy(n), sweeps * (n + 1))
    members = solver.row if isinstance(solver, Portfolio) else [solver]
    assert " ".join(type(member).__name__ for member in members) == name and "noisy values" in reason


@pytest.mark.slow
def test_many_noisy_variables_are_the_first_methods_alone_unless_it_diverges() -> None:
    """What is left of the budget is spent by the next, which without this would not be asked."""

    def ask(lost: bool) -> OptimizeResult:
        box = Disc()

        def wide(x: Array) -> tuple[float, Array]:
            f, h = box(x[:2])
            return f + float(np.square(x[2:]).sum()), h

        wider, start = BOUNDS + [(-4.0, 4.0)] * 299, [0.0, 0.0] + [0.2] * 299
        solver, _ = choose(noisy(301), 120 * 302)
        if lost:
            solver.first.set("primal_step", 1e3)
            solver.first.set("dual_step", 1e3)
        return minimize(wide, start, bounds=wider, joint=True, max_calls=120 * 302, method=solver, seed=0)

    calm, lost = ask(False), ask(True)
    assert "ZOCEG" not in calm.message.split("Solvers used")[1]
    assert "ZOCEG (" in lost.message.split("Solvers used")[1]
    assert lost.status is Ending.BUDGET and lost.calls > 0.95 * 120 * 302 and lost.fun < 4.0  # it is 17 at the start


OURS = [("independent", n, sweeps, "") for n, sweeps in [(2, 30), (2, 300), (20, 30), (100, 200), (1000, 3)]]
THEIRS = [("deterministic", 10, 20, "COBYLA"), ("deterministic", 500, 10, "SLSQP")]


@pytest.mark.parametrize(("noise", "n", "sweeps", "better"), OURS + THEIRS)
def test_without_other_libraries_one_of_ours_is_taken_and_the_command_told(
    noise: str, n: int, sweeps: int, better: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec

    def find(name: str, *rest: Any) -> Any:
        return None if name in ("scipy", "cma", "greenlet") else find_spec(name, *rest)

    problem = noisy(n, noise=noise)
    monkeypatch.setattr(importlib.util, "find_spec", find)
    solver, reason = choose(problem, sweeps * (n + 1))
    assert not solver.external
    assert reason.endswith('run python -m pip install "zoviz[peers]".') == bool(better)
    assert (f"Better suited: {better} (SciPy) needs " in reason) == bool(better)
    assert "Better suited" not in choose(problem, sweeps * (n + 1), extras=False)[1]


def test_what_would_not_take_the_problem_is_not_recommended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None)
    problem = noisy(2)
    problem.domain = Ball(np.zeros(2), 1.0)
    assert "Better suited" not in choose(problem, 100)[1]


@pytest.mark.parametrize("max_calls", [20, 40, 60, 100])
def test_few_noisy_calls_are_enough_for_an_answer(max_calls: int) -> None:
    box = Disc()
    result = minimize(box, [0.0, 0.0], bounds=BOUNDS, joint=True, max_calls=max_calls, seed=0)
    assert result.calls == box.calls <= max_calls
    assert result.fun < 5.0  # at the start


@pytest.mark.parametrize("method", ["CMAES", "COBYQA", "SLSQP", "TrustConstr", "ZOSPLM", "ZOCEG", "ZOEG", "SZOConEX"])
def test_every_method_begins_where_the_noise_is_dear(method: str) -> None:
    """Looking through noise of this size may take 124 calls in two dimensions."""
    box = Disc(0.1)
    assert (
        minimize(box, [0.0, 0.0], bounds=BOUNDS, joint=True, max_calls=60, method=method, seed=0).calls
        == box.calls
        <= 60
    )


def test_the_choice_under_noise_is_worth_its_calls() -> None:
    """Loss f - f* + violation, medians of 9: well below 1, what the old choice (ZO-SPLM) had left after 300 calls."""
    for max_calls, most in ((60, 0.6), (300, 0.3)):
        losses = []
        for seed in range(9):
            box = Disc()
            box.rng = np.random.default_rng(seed)
            x = minimize(box, [0.0, 0.0], bounds=BOUNDS, joint=True, max_calls=max_calls, seed=seed).x
            box.scale = 0.0
            f, h = box(x)
            losses.append(max(f - 1.0, 0.0) + max(h.max(), 0.0))
        assert np.median(losses) < most


class Flat(BlackBox):
    """Values that are nothing but noise."""

    __abstract = True

    pointwise = False

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        rng = np.random.default_rng(0)
        return Evaluation(rng.standard_normal(x.shape[:-1]), rng.standard_normal((*x.shape[:-1], 1)))


@pytest.mark.parametrize("n", [2, 30])
def test_noise_is_looked_through_as_far_as_the_budget_covers(n: int) -> None:
    spent = []
    for calls in (40, 200, 10_000):
        problem = Flat(lambda x: (0.0, np.zeros(1)), bounds=[(-1, 1)] * n, x0=[0.0] * n, joint=True, m=1)
        problem.noise = "independent"
        streams = Streams(0, 1)
        oracle = Oracle(problem, streams, {"calls": calls})
        constants_of(problem, oracle, problem.initial(streams), streams)
        spent.append(int(oracle.calls[0]))
    c = min(n, 10)
    assert spent[0] == sum(calls_of_one(oracle)) == 2 * c + 8
    assert spent[0] <= spent[1] < spent[2] == 6 * c + 24 + 4 * c * -(-20 // c)


def test_every_name_of_the_table_is_a_solver() -> None:
    assert {name for row in TABLE for name in row.methods} <= set(discover("zoviz.solvers", Solver))


def test_the_command_line_says_what_it_chose(capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "Spring", "--calls", "60", "--no-store", "--quiet"])
    output = capsys.readouterr().err
    assert "Portfolio of COBYLA (SciPy) and ZOSQP was chosen for 3 variables, 4 constraints, " in output
