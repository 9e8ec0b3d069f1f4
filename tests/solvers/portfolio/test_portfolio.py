"""Members that take turns: whose turn it is, from where, at what cost, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz import Run, Store, minimize
from zoviz.core.types import Array
from zoviz.problems import BlackBox, PressureVessel
from zoviz.runs.engine.columns import CALLS, STAGE
from zoviz.runs.engine.stopping import Ending
from zoviz.solvers import ALSPG, CMAES, COBYLA, SLSQP, ZOBCEG, ZOCEG, ZOSPLM, ZOSQP, Portfolio, Solver
from zoviz.solvers.portfolio import portfolio as portfolios


def line(x: Array) -> tuple[float, Array]:
    return float((x[0] - 2.0) ** 2 + (x[1] + 1.0) ** 2), np.array([x.sum()])


def hyperbolas(x: Array) -> tuple[float, Array]:
    """Products of neighbours of at least 1, from a start where none is: single methods give up here."""
    return float(np.arange(1.0, 9.0) @ x / 4.0), np.append(1.0 - x[:-1] * x[1:], 1.5 - x[0] * x[7])


def outcome(problem: BlackBox | PressureVessel, solver: Portfolio, calls: int, replicas: int = 1) -> Run:
    run = Run(problem=problem, solver=solver, replicas=replicas, calls=calls, seed=0)
    run.run()
    return run


def box() -> BlackBox:
    return BlackBox(line, joint=True, m=1, x0=[3.0, 3.0], scaled=False, bounds=[(-5.0, 5.0)] * 2)


def test_members_take_turns_and_the_whole_budget_is_spent() -> None:
    run = outcome(box(), Portfolio(first=SLSQP(), second=COBYLA(), third=ALSPG(), members=3), 300)
    titles = [stage.title for stage in run.state.stages]
    assert titles[:3] == ["SLSQP (SciPy)", "COBYLA (SciPy)", "AL-SPG"]
    assert run.result.calls[0] >= 297 and "Solvers used: SLSQP (SciPy) (" in run.result.message
    np.testing.assert_allclose(run.result.best_x[0], [1.5, -1.5], atol=1e-3)
    starts = [stage.calls for stage in run.state.stages]
    assert starts == sorted(starts) and starts[1] < 100  # SLSQP ends by itself


def test_a_stage_begins_where_the_one_before_has_come_to_at_no_call() -> None:
    points: list[tuple[float, ...]] = []

    def listening(x: Array) -> tuple[float, Array]:
        points.append(tuple(x.tolist()))
        return line(x)

    problem = BlackBox(listening, joint=True, m=1, x0=[3.0, 3.0], scaled=False, bounds=[(-5.0, 5.0)] * 2)
    run = outcome(problem, Portfolio(first=SLSQP(), second=COBYLA(), members=2), 60)
    assert len(points) == run.result.calls[0] <= 60
    second = run.state.stages[1]
    assert second.title == "COBYLA (SciPy)"
    before, after = np.array(points[: int(second.calls)]), np.array(points[int(second.calls) :])
    values = [(max(line(x)[1][0], 0.0) > 1e-6, line(x)[0]) for x in before]
    best = before[min(range(len(values)), key=values.__getitem__)]
    # The first simplex of COBYLA stands on the best point, which is not asked for again.
    assert np.abs(after[0] - best).max() == pytest.approx(1.0)  # a tenth of the width


def test_a_member_takes_its_share_and_the_last_all() -> None:
    run = outcome(PressureVessel(), Portfolio(first=ZOSQP(), second=ALSPG(), members=2, share=0.25), 400, replicas=2)
    first, second = run.state.stages[:2]
    assert second.title == "AL-SPG"
    assert 0.2 * 400 < second.calls <= first.calls + 0.25 * (400 - first.calls) + 1
    assert (run.result.calls <= 400).all() and (run.result.calls > 390).all()


def test_replicas_are_those_of_runs_of_their_own() -> None:
    solver = Portfolio(first=SLSQP(), second=COBYLA(), third=ALSPG(), members=3)
    many = outcome(box(), solver, 200, replicas=3).result
    few = outcome(box(), solver.clone(), 200, replicas=1).result
    np.testing.assert_array_equal(many.best_x[0], few.best_x[0])
    assert many.calls[0] == few.calls[0]


def test_what_one_method_gives_up_another_takes_up() -> None:
    """COBYQA ends infeasible after a few dozen calls, and another method goes on."""
    bounds, start = [(0.01, 20.0)] * 8, [0.4] * 8
    alone = minimize(hyperbolas, start, bounds=bounds, joint=True, method="COBYQA", max_calls=300)
    result = minimize(hyperbolas, start, bounds=bounds, joint=True, max_calls=200)
    assert result.feasible and result.calls <= 200 and "COBYLA" in result.message
    assert not alone.feasible or result.fun <= alone.fun + 1e-6


def fleeing(x: Array) -> tuple[float, Array]:
    """f falls without end for large x, where the violation does, too, but to 0.05; feasible below -2."""
    z = x[0] + 2.0
    return float(-(x[0] ** 3)), np.array([8.0 * z / (8.0 + z**2) + 0.05 * np.tanh(z)])


def test_a_member_that_flees_ends_its_turn_and_not_the_run() -> None:
    problem = BlackBox(fleeing, joint=True, m=1, x0=[5.0], scaled=False, bounds=[(-10.0, np.inf)])
    alone, run = (
        Run(problem=problem, solver=solver, replicas=1, calls=2000, seed=0)
        for solver in (ALSPG(restarts=False), Portfolio(first=ALSPG(restarts=False), second=ZOSQP(), members=2))
    )
    alone.run()
    run.run()
    assert len(alone.divergences) == 1 and "has fallen below zero" in alone.message
    assert not run.divergences and run.result.calls[0] == 2000
    assert len(run.state.stages) > 1 and run.result.best_fun[0] == pytest.approx(8.0, rel=1e-4)


WILD = {"primal_step": 30.0, "dual_step": 30.0, "dual_cap": 1e6, "step_reach": 1e9, "augmentation": False}
"""Steps so long that a gradient method leaves a good start for the corners of its box, and does not come back."""


def ridge(x: Array) -> tuple[float, Array]:
    """Both grow like the fourth power away from the middle; f* = 0.1376 at (0.2542, 0.2542)."""
    far = float((x**4).sum())
    return float(x @ x) + far, np.array([0.5 - x.sum() + far])


def wandering(noise: float = 0.0) -> BlackBox:
    return BlackBox(
        ridge,
        joint=True,
        m=1,
        x0=[0.5, 0.5],
        scaled=False,
        bounds=[(-9.0, 9.0)] * 2,
        noise="independent" if noise else "deterministic",
        noise_scale=noise,
        noise_constraint_scale=noise,
    )


def test_a_gradient_methods_replicas_wait_and_end_where_they_can_pay_no_step() -> None:
    solver = Portfolio(first=ZOCEG(), second=ZOSPLM(), members=2, share=0.4)
    run = outcome(box(), solver, 200, replicas=3)
    assert [stage.title for stage in run.state.stages[:2]] == ["ZOCEG", "ZO-SPLM"]
    assert (run.result.calls > 190).all() and (run.result.calls <= 200).all() and not run.frozen
    np.testing.assert_allclose(run.result.best_fun, 0.5, atol=0.05)


def test_where_a_gradient_method_loses_its_way_the_next_one_goes_on_from_its_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, solver = wandering(1e-3), Portfolio(first=ZOCEG(**WILD), second=ZOSQP(), members=2, share=1.0)
    run = outcome(problem, solver, 2000)
    assert not run.divergences and run.result.calls[0] > 1980
    first, second = run.state.stages[:2]
    assert second.title == "ZOSQP" and second.calls - first.calls < 700, "by the guard, not by its share"
    assert ridge(run.result.x[0])[0] == pytest.approx(0.1376, abs=0.003)
    monkeypatch.setattr(Portfolio, "recover", Solver.recover)
    stopped = outcome(problem, solver.clone(), 2000)
    assert len(stopped.divergences) == 1 and stopped.result.calls[0] < 700


def test_under_noise_a_stage_begins_at_the_better_end_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the member's turn is over before the guard has seen enough of it."""
    ends = []
    for better in (portfolios.better_end, lambda state, oracle: state):
        monkeypatch.setattr(portfolios, "better_end", better)
        run = outcome(wandering(1e-3), Portfolio(first=ZOCEG(**WILD), second=ZOSQP(), members=2, share=0.01), 2000)
        assert run.state.stages[1].title == "ZOSQP"
        ends.append(run.trace)
    good, bad = ends
    begins = [int((trace.snapshot().columns[STAGE][:, 0] == 0.0).sum()) for trace in ends]
    assert good["objective"][begins[0]][0] < 1.0 < bad["objective"][begins[1]][0]


def test_an_objective_that_falls_without_end_among_feasible_points_is_said_to() -> None:
    line = {"type": "ineq", "fun": lambda x: 1.0 + x.sum()}
    solver = Portfolio(first=ALSPG(), second=ZOBCEG(), members=2)
    result = minimize(lambda x: -float((x**3).sum()), [1.0] * 2, constraints=line, method=solver, max_calls=2000)
    assert result.status is Ending.NO_PROGRESS and not result.success and "may have no minimum" in result.message


def test_only_a_member_at_work_verifies_and_descends() -> None:
    early, late = (
        outcome(wandering(1e-2), Portfolio(first=ZOBCEG(), second=ZOSQP(), members=2, share=share), 300)
        for share in (1.0, 0.1)
    )
    assert early.solver.descends(early.state) and not early.solver.verifies(early.state)
    assert late.solver.verifies(late.state) and not late.solver.descends(late.state)


def test_the_trace_tells_the_stage_and_the_solver_its_title() -> None:
    run = outcome(box(), Portfolio(first=SLSQP(), second=ALSPG(), members=2), 120)
    columns = run.trace.snapshot().columns
    stages = columns[STAGE][:, 0]
    assert stages[0] == 0.0 and (np.diff(stages) >= 0).all() and stages[-1] >= 1.0
    assert [run.solver.stage_title(number) for number in (0, 1, 2)] == ["SLSQP (SciPy)", "AL-SPG", "SLSQP (SciPy)"]
    assert (np.diff(columns[CALLS][:, 0]) >= 0).all()


def test_a_member_that_refuses_the_problem_is_passed_over_and_all_of_them_give_a_reason() -> None:
    one = BlackBox(lambda x: (float(x[0] ** 2), np.empty(0)), joint=True, m=0, x0=[1.0], bounds=[(-2.0, 2.0)])
    solver = Portfolio(first=CMAES(), second=COBYLA(), members=2)
    run = outcome(one, solver, 40)
    assert "passed over" in run.state.stages[0].title and run.state.stages[1].title == "COBYLA (SciPy)"
    assert run.result.best_fun[0] < 1e-4
    assert Portfolio(first=CMAES(), members=1).accepts(one) is not None
    assert Portfolio(first=COBYLA(), members=1).accepts(one) is None


def test_it_can_be_resumed_from_a_state_where_every_member_can() -> None:
    assert Portfolio(first=ZOSQP(), second=ALSPG(), members=2).checkpointable
    assert not Portfolio(first=ZOSQP(), second=SLSQP(), members=2).checkpointable


def test_a_gradient_methods_stage_is_resumed_to_the_bit(tmp_path: Path) -> None:
    solver = Portfolio(first=ZOBCEG(), second=ZOSQP(), members=2, share=0.4)
    whole = outcome(wandering(1e-2), solver.clone(), 300, replicas=2)
    with Store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        for calls in (30, 200):
            part = Run(wandering(1e-2), solver.clone(), replicas=2, calls=300, seed=0, store=store)
            part.run(lambda part=part, calls=calls: part.stop() if part.progress.calls >= calls else None)
            assert part.status == "stopped"
            rest = store.load(part.id).resume(problem=wandering(1e-2))
            rest.run()
            np.testing.assert_array_equal(rest.trace["objective"], whole.trace["objective"])


def test_bounds_that_fix_everything_end_it() -> None:
    fixed = BlackBox(line, joint=True, m=1, x0=[-1.0, 0.5], scaled=False, bounds=[(-1.0, -1.0), (0.5, 0.5)])
    run = outcome(fixed, Portfolio(), 100)
    assert run.result.calls[0] < 10 and "no variable free" in run.result.message


def test_a_result_that_is_looked_at_in_the_midst_of_a_stage_is_the_runs() -> None:
    """A page asks for it from another thread, at any moment."""
    run = outcome(box(), Portfolio(first=SLSQP(), second=COBYLA(), members=2), 60, replicas=2)
    success = run.result.success
    assert run.worker is not None and success.any()
    with run.worker.oracle.stage(np.full(2, 100.0), np.zeros(2, dtype=bool)):
        np.testing.assert_array_equal(run.result.success, success)


def test_a_run_that_ends_in_its_first_step_counts_no_calls_below_zero() -> None:
    """What choosing the steps took is no member's: a first step that the budget did not cover leaves nothing to say."""
    problem = BlackBox(lambda x: float(x @ x), bounds=[(-1, 2)] * 9, x0=[1.0] * 9)
    for calls in (25, 30, 35, 40):
        assert "(-" not in Run(problem, Portfolio(first=ALSPG(), members=1), replicas=1, calls=calls).run().message
