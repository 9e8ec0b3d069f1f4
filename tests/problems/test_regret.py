"""The windowed regret, the variations and the system's error, each against a loop written out."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.papers.sogd.windows import variations
from zoviz.problems import QuadraticBilevel, ToyBilevel
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.solvers import OAGD, SOBBO, SOBOW, SOGD, Solver


def course(problem: QuadraticBilevel | ToyBilevel, solver: Solver, rounds: int) -> tuple[Run, list[Array]]:
    """A run, and the x (R, n) played in every round."""
    run = Run(problem=problem, solver=solver, replicas=2, iterations=rounds, seed=1)
    played: list[Array] = []
    run.run(lambda: played.append(run.state.x))
    start = Run(problem=problem, solver=solver.clone(), replicas=2, iterations=0, seed=1)
    start.run()
    return run, [start.state.x, *played[:-1]]


def test_a_window_has_the_mean_of_the_last_functions_at_the_present_point() -> None:
    problem, w = QuadraticBilevel(n=3, d=4, drift="rapid", half_width=0.4, regret_window=3, regret_step=0.3), 3
    run, played = course(problem, SOGD(), 8)

    def gradient(t: int, x: Array) -> Array:
        a, c, q = np.split(problem.vectors(t), [4, 8])
        data = problem.data
        y = (x @ data.coupling.T + c) @ data.inverse
        return x @ data.bowl - q + (y - a) @ data.inverse @ data.coupling

    total = np.zeros(2)
    for t, x in enumerate(played, start=1):
        slope = sum(gradient(s, x) for s in range(max(1, t - w + 1), t + 1)) / w
        total += np.square((x - np.clip(x - 0.3 * slope, -0.4, 0.4)) / 0.3).sum(axis=1)
    np.testing.assert_allclose(run.trace["windowed_regret"][-1], total, rtol=1e-10)
    np.testing.assert_allclose(run.trace["average_windowed_regret"][-1], total / 8, rtol=1e-10)
    assert (run.trace["regret"][-1] != total).all()


@pytest.mark.parametrize("drift", ["slow", "rapid"])
def test_variations_are_those_of_the_quadratics(drift: str) -> None:
    problem = QuadraticBilevel(n=3, d=4, drift=drift, measure_variations=True)
    run, _ = course(problem, SOGD(), 20)
    names = ("path_variation", "outer_variation", "inner_variation")
    sums = np.array([run.trace[name][-1] for name in names])
    np.testing.assert_allclose(sums, np.repeat(np.array(variations(problem, 20))[:, None], 2, axis=1), rtol=1e-9)


def test_the_variation_of_the_leader_is_a_supremum_over_x() -> None:
    """Of the toy's F_t by a fine grid: 32 points and the iterate find it to a few per cent, from below."""
    problem = ToyBilevel(measure_variations=True)
    run, _ = course(problem, SOGD(), 10)
    x, total = np.linspace(-np.pi, np.pi, 2001), 0.0
    for t in range(2, 11):
        (a, w), (b, u) = problem.weights(t - 1), problem.weights(t)
        total += np.abs(0.5 * (b - a) * np.square(x - 1.0) + (u - w) * np.cos(x)).max()
    assert (run.trace["leader_variation"][-1] <= total + 1e-9).all()
    assert (run.trace["leader_variation"][-1] > 0.9 * total).all()
    assert (run.trace["path_variation"][-1] == 0.0).all(), "the toy's follower does not move"


@pytest.mark.parametrize("solver", [SOBOW(), SOBBO(), OAGD()], ids=lambda solver: type(solver).__name__)
def test_a_method_that_solves_the_round_s_system_is_judged_by_that(solver: Solver) -> None:
    problem = QuadraticBilevel(n=3, d=4, drift="rapid", drift_rate=0.3)
    run, played = course(problem, solver, 8)
    a, c, _ = np.split(problem.vectors(8), [4, 8])
    exact = -((played[-1] @ problem.data.coupling.T + c) @ problem.data.inverse - a) @ problem.data.inverse
    np.testing.assert_allclose(run.trace["system_error"][-1], np.linalg.norm(run.state.v - exact, axis=1))


def test_sums_go_on_where_a_run_does(tmp_path: object) -> None:
    problem = QuadraticBilevel(n=3, d=4, drift="rapid", measure_variations=True, regret_window=4)
    whole, _ = course(problem, SOGD(), 12)
    with Store(f"sqlite:///{tmp_path}/runs.db") as store:
        first = Run(problem=problem, solver=SOGD(), replicas=2, iterations=7, seed=1, store=store)
        first.run()
        again = store.load(first.id).resume(iterations=12)
        again.run()
    for name in ("windowed_regret", "leader_variation", "inner_variation"):
        np.testing.assert_array_equal(again.trace[name], whole.trace[name])
