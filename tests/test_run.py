"""A run from start to end: lifecycle, budgets, targets, steering, replay, forks, failures and bad input."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.estimators import Block, Coordinate, Sphere
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, Problem
from zoviz.runs import worker as worker_module
from zoviz.runs.script import script
from zoviz.runs.trace import Trace
from zoviz.sets import Ball, Box
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, ZOSPLM, Solver
from zoviz.streams import Streams
from zoviz.types import Array, Evaluation, OracleError, ZovizError


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)


def small(**settings: Any) -> Run:
    """A cheap run: 5 loads, coordinate differences."""
    problem = LoadTracking(n=5, curtailment=40.0)
    return Run(**({"problem": problem, "solver": ZOCEG(), "replicas": 2, "seed": 3} | settings))


def columns(run: Run) -> dict[str, Array]:
    return {name: column for name, column in run.trace.snapshot().columns.items() if name != "seconds"}


def leaves(state: Any) -> list[Any]:
    """The arrays and numbers of a state, those of the value inside it too."""
    return [leaf for part in state for leaf in leaves(part)] if isinstance(state, tuple) else [state]


def assert_same_bits(one: Run, other: Run) -> None:
    """Iterates, duals, averages, calls and every column of the trace but the clock's."""
    for a, b in zip(leaves(one.state), leaves(other.state), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.result.x, other.result.x)
    np.testing.assert_array_equal(one.result.calls, other.result.calls)
    assert one.progress.iteration == other.progress.iteration
    assert columns(one).keys() == columns(other).keys()
    for name, column in columns(one).items():
        np.testing.assert_array_equal(column, columns(other)[name], err_msg=name)


# --- lifecycle --------------------------------------------------------------------------------------------------------


def test_start_pause_step_resume_stop() -> None:
    run = small()
    assert run.status == "ready" and not run.active and len(run.trace) == 0
    run.start()
    until(lambda: run.progress.iteration > 20)
    assert run.status == "running"
    run.pause()
    until(lambda: run.status == "paused")
    held = run.progress.iteration
    time.sleep(0.05)
    assert run.progress.iteration == held
    assert run.trace["iteration"][-1] == held
    run.step(3)
    until(lambda: run.progress.iteration == held + 3 and run.status == "paused")
    time.sleep(0.05)
    assert run.progress.iteration == held + 3
    run.resume()
    until(lambda: run.progress.iteration > held + 20)
    run.stop()
    result = run.wait(10)
    assert run.status == "stopped" and not run.active
    assert result.message.startswith(f"Stopped after {result.nit} iterations.")
    assert run.trace["iteration"][-1] == result.nit


def test_start_with_a_number_of_steps_pauses_there() -> None:
    run = small().start(steps=4)
    until(lambda: run.status == "paused")
    assert run.progress.iteration == 4
    run.stop()
    run.wait(10)
    assert run.status == "stopped"


def test_a_paused_run_can_be_stopped_and_a_stopped_one_takes_no_orders() -> None:
    run = small().start()
    run.pause()
    until(lambda: run.status == "paused")
    run.stop()
    run.wait(10)
    for order in (run.pause, run.resume, run.step, run.stop):
        order()
    assert run.status == "stopped"


def test_a_second_start_is_refused_with_a_sentence() -> None:
    run = small().start()
    for again in (run.start, lambda: small(iterations=3).run() and run.run()):
        with pytest.raises((ZovizError, ValueError), match="Expected"):
            again()
    with pytest.raises(
        ZovizError, match="Expected a run that has not started, got one that is running: make a new Run"
    ):
        run.start()
    assert run.status == "running"
    run.stop()
    run.wait(10)
    with pytest.raises(ZovizError, match="got one that is stopped"):
        run.start()


@pytest.mark.parametrize("settings", [{}, {"stop_at_targets": True}], ids=["nothing", "stop without targets"])
def test_run_without_any_budget_is_refused(settings: dict[str, Any]) -> None:
    run = small(**settings)
    with pytest.raises(ValueError, match="Expected a budget, got none"):
        run.run()
    assert run.status == "ready"


def test_what_needs_a_started_run_says_so() -> None:
    run = small(iterations=3)
    for need in (lambda: run.result, run.fork, lambda: Run.replay(run), lambda: script(run)):
        with pytest.raises(ZovizError, match="Expected a run that has started"):
            need()
    with pytest.raises(ValueError, match="Expected a problem and a solver"):
        Run(solver=ZOCEG())


def test_wait_gives_up_after_its_timeout() -> None:
    run = small().start()
    with pytest.raises(TimeoutError, match="still running after 0.05 s"):
        run.wait(0.05)
    run.stop()
    run.wait(10)


# --- budgets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("iterations", [0, 1, 37])
def test_budget_of_iterations(iterations: int) -> None:
    run = small(iterations=iterations)
    result = run.run()
    assert result.status == "finished" and result.nit == iterations == run.progress.iteration
    assert f"budget of {iterations} iterations is spent" in result.message
    assert run.trace["iteration"].tolist() == list(range(iterations + 1))
    assert iterations == 0 or run.progress.fraction == 1.0


@pytest.mark.parametrize("budget", [1, 2, 12, 13, 14, 100, 101])
@pytest.mark.parametrize("solver", [ZOCEG, ZOBCEG, ZOEG, ZOSPLM])
def test_budget_of_calls_is_never_exceeded(solver: type[Solver], budget: int) -> None:
    run = small(solver=solver(), calls=budget)
    result = run.run()
    assert result.status == "finished" and f"budget of {budget} oracle calls is spent" in result.message
    assert (result.calls <= budget).all() and (result.nfev == result.calls).all()
    assert run.progress.calls <= budget
    whole = small(solver=solver(), iterations=result.nit)
    np.testing.assert_array_equal(whole.run().x, result.x)
    following = small(solver=solver(), iterations=result.nit + 1)
    assert (following.run().calls > budget).all(), "another whole step would have fitted"


def test_a_budget_too_small_to_begin_is_said() -> None:
    run = Run(problem=BlackBox(), solver=ZOCEG(), calls=2, replicas=2)
    with pytest.raises(ValueError, match="Expected a budget that covers .* the start, got 2 oracle calls: raise it"):
        run.run()
    assert run.status == "failed" and run.progress.calls <= 2
    with pytest.raises(ZovizError, match="no iterate yet"):
        _ = run.result


def test_budget_of_seconds() -> None:
    run = small(seconds=0.1)
    result = run.run()
    assert result.status == "finished" and "budget of 0.1 s is spent" in result.message
    assert 0.1 <= run.progress.seconds < 0.1 + 0.05
    assert result.nit > 0 and run.progress.fraction == 1.0


# --- targets ----------------------------------------------------------------------------------------------------------

LEVELS = {"relative_gap": [0.5, 0.2, 0.1, 0.05], "violation": [20.0, 1.0], "stationarity": 30.0}


def by_hand(problem: Problem, solver: Solver, replicas: int, seed: int, iterations: int) -> dict[tuple, Array]:
    """First hits from the measures of every iterate, (2, R): iterations and calls."""
    chosen = solver.suggest(problem, problem.constants)
    for name in solver.suggestible():
        solver.set(name, chosen[name])
    streams = Streams(seed, replicas)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    found: dict[tuple, Array] = {}
    for iteration in range(iterations + 1):
        measured = problem.metrics(state.x, state.y, state.value)
        for metric, levels in LEVELS.items():
            for level in np.atleast_1d(levels):
                first = found.setdefault((metric, float(level)), np.full((2, replicas), np.nan))
                new = np.isnan(first[0]) & (np.abs(measured[metric]) <= level)
                first[0, new], first[1, new] = iteration, oracle.calls[new]
        state, _ = solver.step(state, oracle, streams)
    return found


@pytest.mark.parametrize("capacity", [4, 4096], ids=["trace of 4 rows", "whole trace"])
def test_first_hits_are_exact_however_thin_the_trace(capacity: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "Trace", lambda *_: Trace(capacity))
    problem = LoadTracking(n=8, seed=2, curtailment=80.0)
    expected = by_hand(problem, ZOEG(), 3, 5, 1500)
    run = Run(problem=problem, solver=ZOEG(), replicas=3, seed=5, iterations=1500, targets=LEVELS)
    run.run()
    assert [(hit.metric, hit.threshold) for hit in run.hits][:2] == [("relative_gap", 0.5), ("relative_gap", 0.2)]
    some = 0
    for hit in run.hits:
        first = expected[hit.metric, hit.threshold]
        np.testing.assert_array_equal(hit.iteration, first[0])
        np.testing.assert_array_equal(hit.calls, first[1])
        assert hit.hits == np.isfinite(first[0]).sum()
        some += int((first[0] % 2 == 1).sum())
    assert some > 0, "no hit fell between the rows of a thinned trace"
    assert len(run.trace) <= capacity


def test_a_run_stepped_one_by_one_hits_the_same() -> None:
    whole = small(iterations=60, targets={"gap": [100.0, 1.0], "violation": 1e-3})
    whole.run()
    run = small(targets={"gap": [100.0, 1.0], "violation": 1e-3}).start(steps=0)
    for count in range(1, 61):
        run.step()
        until(lambda count=count: run.progress.iteration == count)
    run.stop()
    run.wait(10)
    for one, other in zip(whole.hits, run.hits, strict=True):
        np.testing.assert_array_equal(one.iteration, other.iteration)
        np.testing.assert_array_equal(one.calls, other.calls)
    assert_same_bits(whole, run)


def test_stop_at_targets_ends_with_the_last_hit() -> None:
    run = small(targets={"gap": 10.0, "violation": 0.1}, stop_at_targets=True)
    result = run.run()
    assert result.status == "finished" and result.message.startswith("Every replica hit every target.")
    assert result.nit == max(hit.iteration.max() for hit in run.hits)


@pytest.mark.parametrize(
    ("targets", "sentence"),
    [
        ({"regret": 1.0}, r"Expected targets among \['gap', .*got 'regret': LoadTracking does not measure it"),
        ({"gap": 0}, "Expected the target 'gap' a positive number or several, got 0"),
        ({"gap": [1.0, "x"]}, "Expected the target 'gap' a positive number|not supported between"),
        ({"gap": float("nan")}, "got nan"),
    ],
)
def test_bad_targets_are_refused(targets: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        small(iterations=5, targets=targets).run()


# --- steering, replay, script, fork -----------------------------------------------------------------------------------


def steered(run: Run, changes: list[tuple[str, Any]], gap: int = 700) -> None:
    """Start, let another thread make the changes some iterations apart, pausing once; then stop."""
    run.start()
    fault: list[BaseException] = []

    def person() -> None:
        try:
            for count, (name, value) in enumerate(changes):
                at = run.progress.iteration + gap
                until(lambda at=at: run.progress.iteration >= at)
                if count == 2:
                    run.pause()
                    until(lambda: run.status == "paused")
                run.solver.set(name, value)
                if count == 2:
                    run.resume()
            at = run.progress.iteration + gap
            until(lambda: run.progress.iteration >= at)
        except BaseException as error:
            fault.append(error)
        run.stop()

    thread = threading.Thread(target=person)
    thread.start()
    run.wait(120)
    thread.join()
    assert not fault, fault


def qcqp(**noise: Any) -> Problem:
    return NonconvexQCQP(n=8, seed=1, **noise)


STEERED = {
    "ZO-SPLM": (
        qcqp(),
        ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=10)),
        [
            ("primal_step", 0.004),
            ("estimator.batch_size", 25),
            ("dual_step", 0.003),
            ("proximal_weight", 0.5),
            ("estimator.smoothing_radius", 1e-4),
        ],
    ),
    "ZO-SPLM, independent noise": (
        qcqp(noise="independent", noise_scale=0.1, noise_distribution="student_t"),
        ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=10)),
        [
            ("primal_step", 0.004),
            ("primal_step", None),
            ("proximal_step", 0.2),
            ("estimator.batch_size", 3),
            ("dual_step", 1e-4),
        ],
    ),
    "ZOBCEG, common noise": (
        LoadTracking(n=12, noise="common", noise_scale=0.1),
        ZOBCEG(),
        [
            ("estimator.block_size", 3),
            ("primal_step", 0.1),
            ("schedule", "diminishing"),
            ("estimator.block_size", 12),
            ("report", "average"),
        ],
    ),
}


@pytest.mark.parametrize("name", STEERED)
def test_a_run_steered_five_times_replays_bit_for_bit(name: str) -> None:
    """Must show 5: from another thread, over a trace that was thinned; then from the script that the run writes."""
    problem, solver, changes = STEERED[name]
    run = Run(problem=problem.clone(), solver=solver.clone(), replicas=3, seed=11)
    steered(run, changes, gap=900)
    assert [change.name for change in run.journal] == [name for name, _ in changes]
    assert run.trace.stride > 1
    again = Run.replay(run)
    again.run()
    assert_same_bits(run, again)
    assert [c[:2] + c[3:] for c in again.journal] == [c[:2] + c[3:] for c in run.journal]
    source = script(run)
    namespace: dict[str, Any] = {}
    exec(compile(source, "<script of the run>", "exec"), namespace)
    assert_same_bits(run, namespace["run"])


def test_without_the_steering_the_course_is_another() -> None:
    run = small(iterations=40)
    run.run()
    other = run.fork(at=5, changes={"primal_step": 0.01})
    other.run()
    assert not np.array_equal(run.result.x, other.result.x)


@pytest.mark.parametrize("budget", [{"iterations": 25}, {"calls": 300}, {"seconds": 0.05}])
def test_replay_ends_where_the_run_ended(budget: dict[str, Any]) -> None:
    run = small(**budget)
    run.run()
    again = Run.replay(run)
    again.run()
    assert_same_bits(run, again)


def test_a_replica_does_not_depend_on_how_many_there_are() -> None:
    settings = {"problem": qcqp(), "iterations": 30}
    few, many = (small(**settings, solver=ZOSPLM(), replicas=replicas).run() for replicas in (2, 5))
    np.testing.assert_allclose(few.x, many.x[:2], rtol=1e-9)


def test_fork_repeats_the_beginning_and_then_goes_its_own_way() -> None:
    run = small()
    run.start(steps=30)
    until(lambda: run.status == "paused")
    run.solver.dual_step = 0.05
    run.step(30)
    until(lambda: run.progress.iteration == 60)
    fork = run.fork(at=50, changes={"primal_step": 0.05, "schedule": "diminishing"}, iterations=80)
    run.stop()
    run.wait(10)
    fork.run()
    assert [(c.iteration, c.name, c.new) for c in fork.journal] == [
        (30, "dual_step", 0.05),
        (50, "primal_step", 0.05),
        (50, "schedule", "diminishing"),
    ]
    assert fork.progress.iteration == 80
    for name, column in columns(run).items():
        np.testing.assert_array_equal(column[:51], columns(fork)[name][:51], err_msg=name)
    assert not np.array_equal(run.trace["objective"][51], fork.trace["objective"][51])
    assert run.solver.primal_step is None, "the fork has twins of its own"
    before = run.fork(at=20, iterations=25)
    before.run()
    assert len(before.journal) == 0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"dual_cap": 3.0}, "Expected one of primal_step, .* to change, got 'dual_cap'"),
        ({"nonsense": 3.0}, "got 'nonsense'"),
        ({"primal_step": -1.0}, "Expected primal_step a number from"),
    ],
)
def test_fork_refuses_bad_changes_at_once(changes: dict[str, Any], sentence: str) -> None:
    run = small(iterations=5)
    run.run()
    with pytest.raises(ValueError, match=sentence):
        run.fork(at=2, changes=changes)


def test_structural_parameters_are_refused_while_running_and_restored() -> None:
    run = small(solver=ZOBCEG()).start()
    until(lambda: run.progress.iteration > 3)
    fixed = [(run.solver, "dual_block_size", 1), (run.solver, "dual_cap", 5.0), (run.problem, "n", 7)]
    fixed += [
        (run, "replicas", 9),
        (run, "seed", 4),
        (run, "iterations", 10),
        (run.solver.estimator, "differences", "central"),
    ]
    fixed += [(run.solver, "estimator", Block()), (run.problem, "noise", "common")]
    for holder, name, value in fixed:
        before = getattr(holder, name)
        with pytest.raises(ValueError, match=rf"{name} is structural: it is fixed while the run is running"):
            setattr(holder, name, value)
        assert getattr(holder, name) is before or getattr(holder, name) == before
    run.label = "a name for people"
    run.solver.primal_step = 0.02
    run.solver.estimator.block_size = 2
    until(lambda: len(run.journal) == 2)
    assert [change.name for change in run.journal] == ["primal_step", "estimator.block_size"]
    assert run.status == "running"
    run.stop()
    run.wait(10)
    run.problem.n = 7
    run.solver.dual_block_size = 1


def test_bad_values_are_refused_and_the_run_goes_on() -> None:
    run = small(problem=qcqp(), solver=ZOSPLM()).start()
    until(lambda: run.progress.iteration > 3)
    chosen = run.resolved["primal_step"]
    for value in (0, -1.0, 1e300, float("nan"), float("inf"), "fast", [1.0]):
        for name in ("primal_step", "proximal_step", "estimator.smoothing_radius", "estimator.batch_size"):
            before = run.solver.get(name)
            with pytest.raises(ValueError, match="Expected|must be|only takes"):
                run.solver.set(name, value)
            assert run.solver.get(name) == before
    with pytest.raises(ValueError, match="Expected primal_step a number from 1e-12 to 1e\\+09.*got 'fast'"):
        run.solver.primal_step = "fast"
    at = run.progress.iteration
    until(lambda: run.progress.iteration > at + 3)
    assert run.status == "running" and len(run.journal) == 0 and run.resolved["primal_step"] == chosen
    run.stop()
    run.wait(10)


def test_back_to_the_rule_is_possible_only_where_a_rule_chose() -> None:
    run = small().start()
    until(lambda: run.progress.iteration > 3)
    run.solver.primal_step = 0.01
    run.solver.primal_step = None
    until(lambda: len(run.journal) == 2)
    assert run.journal[1].new == run.resolved["primal_step"]
    run.stop()
    run.wait(10)
    explicit = ZOCEG(primal_step=0.1, dual_step=0.01, dual_cap=100.0, estimator=Coordinate(smoothing_radius=1e-3))
    run = small(solver=explicit).start()
    until(lambda: run.progress.iteration > 3)
    with pytest.raises(ValueError, match="Expected a value for primal_step, got None"):
        run.solver.primal_step = None
    assert explicit.primal_step == 0.1 and run.status == "running"
    run.stop()
    run.wait(10)


@pytest.mark.parametrize(
    ("name", "value"),
    [("replicas", 0), ("seed", -1), ("iterations", -1), ("calls", 0), ("seconds", -1.0), ("seconds", "x")],
)
def test_bad_settings_of_a_run_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        small(**{name: value})


# --- failures ---------------------------------------------------------------------------------------------------------


def test_an_oracle_that_raises_ends_the_run_as_failed_and_keeps_the_trace() -> None:
    points: list[Array] = []

    def fragile(x: Array) -> float:
        points.append(x.copy())
        if len(points) > 200:
            raise ZeroDivisionError("the simulator has burnt down")
        return float(x @ x)

    run = Run(problem=BlackBox(fragile, bounds=[(-1, 1)] * 2), solver=ZOCEG(), replicas=2).start()
    with pytest.raises(ZeroDivisionError, match="burnt down") as caught:
        run.wait(20)
    assert caught.value is run.error
    assert f"Raised by the black box at x = {points[-1]}" in caught.value.__notes__[0]
    assert run.status == "failed" and "burnt down" in run.message and not run.active
    assert len(run.trace) > 5 and run.result.status == "failed"
    assert np.isfinite(run.trace["objective"]).all()


class Cliff(Problem):
    """f = -x_1^2 + x_2^2 pushes outwards; it is not defined for x_1 > 1/2 (every replica that starts right of 0)."""

    __abstract = True  # a test's own class: the registry must not offer it

    n, m = 2, 1
    domain = Box([-2.0, -2.0], [2.0, 2.0])
    starts = np.array([[-0.1, 0.5], [0.1, 0.5], [-0.2, 0.1], [1.5, 0.0]])

    def initial(self, streams: Streams) -> Array:
        return self.starts[: streams.replicas]

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        f = np.where(x[..., 0] > 0.5, np.nan, x[..., 1] ** 2 - x[..., 0] ** 2)
        return Evaluation(f, x[..., :1] - 5.0)


STEPS = {"primal_step": 0.05, "dual_step": 0.05, "dual_cap": 10.0}


@pytest.mark.parametrize(
    "solver",
    [
        ZOCEG(**STEPS, estimator=Coordinate(smoothing_radius=1e-4)),
        ZOBCEG(**STEPS, estimator=Block(smoothing_radius=1e-4, block_size=2, scaled=False)),
        ZOSPLM(**STEPS, proximal_weight=0.1, estimator=Sphere(smoothing_radius=1e-4, batch_size=20)),
    ],
    ids=lambda solver: solver.title,
)
def test_a_replica_that_meets_nan_is_frozen_and_the_others_go_on(solver: Solver) -> None:
    run = Run(problem=Cliff(), solver=solver, replicas=4, iterations=200, seed=1)
    result = run.run()
    assert result.status == "finished" and run.frozen == 2
    assert result.success.tolist() == [True, False, True, False]
    assert (result.failures > 0).tolist() == [False, True, False, True]
    assert "non-finite values" in result.message
    assert (result.calls[[0, 2]] == run.progress.calls).all() and (result.calls[[1, 3]] < run.progress.calls).all()
    assert np.isfinite(run.state.x).all() and 0.1 < run.state.x[1, 0] <= 0.5, "the last good iterate stays"
    np.testing.assert_array_equal(run.state.x[3], Cliff.starts[3])
    trace = run.trace["objective"]
    assert np.isfinite(trace[:, [0, 2]]).all() and np.isnan(trace[-1, [1, 3]]).all()
    assert trace[-1, 0] < trace[0, 0] - 1.0
    alone = Run(problem=Cliff(), solver=solver.clone(), replicas=1, iterations=200, seed=1)
    np.testing.assert_allclose(alone.run().x[0], result.x[0], rtol=1e-9)
    again = Run.replay(run)
    again.run()
    assert_same_bits(run, again)


def test_a_run_whose_replicas_are_all_frozen_fails_with_a_sentence() -> None:
    problem = BlackBox(lambda x: float("nan"), bounds=[(-1, 1)])
    run = Run(problem=problem, solver=ZOCEG(**STEPS), replicas=3, iterations=10)
    with pytest.raises(OracleError, match="Expected finite values from the black box, got NaN or Inf.*every replica"):
        run.run()
    assert run.status == "failed" and run.frozen == 3 and len(run.trace) >= 1


def test_no_feasible_point_is_said() -> None:
    problem = BlackBox(lambda x: float(x @ x), lambda x: 1.0 + float(x @ x), bounds=[(-1, 1)] * 2)
    result = Run(problem=problem, solver=ZOCEG(), replicas=1, iterations=20).run()
    assert "No feasible point was found." in result.message
    assert not result.success.any() and np.isnan(result.best_value).all() and np.isnan(result.best_feasible).all()
    assert (result.maxcv > 0).all()


def test_result_fields() -> None:
    problem = qcqp()
    run = Run(problem=problem, solver=ZOSPLM(), replicas=3, iterations=200, seed=5)
    result = run.run()
    assert result.x.shape == result.best_feasible.shape == (3, 8) and result.multipliers.shape == (3, 1)
    for name in ("fun", "maxcv", "success", "nfev", "calls", "best_value", "failures"):
        assert getattr(result, name).shape == (3,), name
    assert result.seed == 5 and result.trace is run.trace and result.nit == 200
    value = problem.evaluate(result.x)
    np.testing.assert_allclose(result.fun, value.f)
    np.testing.assert_allclose(result.maxcv, np.maximum(value.h[:, 0], 0.0))
    best = problem.evaluate(result.best_feasible)
    np.testing.assert_allclose(best.f, result.best_value, rtol=1e-9)
    assert (best.h <= run.feasibility_tolerance + 1e-9).all() and result.success.all()
    assert (problem.domain.distance(result.best_feasible) <= run.feasibility_tolerance).all()
    assert "feasible point" not in result.message
    np.testing.assert_array_equal(run.trace["best_objective"][-1], result.best_value)


# --- one public solver, many runs; noise ------------------------------------------------------------------------------


def test_two_runs_on_one_public_solver_do_not_disturb_one_another() -> None:
    solver, problem = ZOSPLM(), qcqp()
    alone = [Run(problem=problem.clone(), solver=solver.clone(), seed=s, iterations=400).run().x for s in (1, 2)]
    runs = [Run(problem=problem, solver=solver, seed=s, iterations=400).start() for s in (1, 2)]
    with pytest.raises(ZovizError):
        runs[0].start()
    for run, expected in zip(runs, alone, strict=True):
        np.testing.assert_array_equal(run.wait(30).x, expected)
    assert solver.primal_step is None, "what the rule chose stays with the run"
    first, second = (Run(problem=problem, solver=solver, seed=s).start() for s in (1, 2))
    first.stop()
    first.wait(10)
    solver.primal_step = 0.001
    until(lambda: len(second.journal) == 1)
    second.stop()
    second.wait(10)
    assert len(first.journal) == 0


@pytest.mark.parametrize("law", ["normal", "student_t"])
@pytest.mark.parametrize("contract", ["deterministic", "common", "independent"])
@pytest.mark.parametrize("solver", [ZOSPLM, ZOEG, ZOCEG, ZOBCEG])
def test_noise_contracts_run_end_to_end(solver: type[Solver], contract: str, law: str) -> None:
    """Common noise cancels in differences; independent noise shows in the measured variance."""
    settings = {"noise_scale": 0.5, "noise_distribution": law, "n": 6, "curtailment": 60.0}
    problem = LoadTracking(noise=contract, **settings)
    run = Run(problem=problem, solver=solver(), replicas=4, iterations=150, seed=2)
    result = run.run()
    assert result.status == "finished" and np.isfinite(result.x).all()
    np.testing.assert_allclose(result.fun, problem.evaluate(result.x).f)
    other = Run(problem=problem, solver=solver(), replicas=4, iterations=150, seed=3).run()
    assert not np.array_equal(other.x, result.x)
    quiet = Run(problem=LoadTracking(**settings), solver=solver(), replicas=4, iterations=150, seed=2).run()
    assert np.array_equal(quiet.x, result.x) == (contract == "deterministic")
    if solver is ZOCEG and contract != "independent":
        assert (run.trace["variance"][1:] == 0.0).all()
    again = Run.replay(run)
    again.run()
    assert_same_bits(run, again)


# --- a user's black box -----------------------------------------------------------------------------------------------


def f_at(x: Array) -> Any:
    return (x[..., 0] - 2.0) * (x[..., 0] - 2.0) + (x[..., 1] - 1.0) * (x[..., 1] - 1.0)


def h_first(x: Array) -> Any:
    return x[..., 0] + x[..., 1] - 2.0


def h_second(x: Array) -> Any:
    return x[..., 0] * x[..., 0] - x[..., 1]


def h_both(x: Array) -> Array:
    return np.stack([h_first(x), h_second(x)], axis=-1)


BOX = [(-4.0, 4.0), (-4.0, 4.0)]
FORMS = {
    "one point at a time": BlackBox(f_at, h_both, bounds=BOX),
    "vectorised": BlackBox(f_at, h_both, bounds=BOX, vectorised=True),
    "joint": BlackBox(lambda x: (f_at(x), h_both(x)), bounds=BOX, joint=True, m=2),
    "joint, vectorised": BlackBox(lambda x: (f_at(x), h_both(x)), bounds=BOX, joint=True, m=2, vectorised=True),
    "list of constraints": BlackBox(f_at, [h_first, h_second], bounds=BOX),
    "list, vectorised": BlackBox(f_at, (h_first, h_second), bounds=BOX, vectorised=True),
    "floats and lists": BlackBox(
        lambda x: float(f_at(x)), lambda x: [float(h_first(x)), float(h_second(x))], bounds=BOX
    ),
}


@pytest.mark.parametrize(
    ("solver", "iterations"),
    [(ZOCEG(), 400), (ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=10)), 50)],
    ids=["ZOCEG", "ZO-SPLM"],
)
def test_all_forms_of_a_black_box_agree(solver: Solver, iterations: int) -> None:
    results = {
        form: Run(problem=problem, solver=solver, replicas=3, iterations=iterations, seed=4).run()
        for form, problem in FORMS.items()
    }
    expected = results["vectorised"]
    for form, result in results.items():
        np.testing.assert_allclose(result.x, expected.x, rtol=1e-6, atol=1e-7, err_msg=form)
        np.testing.assert_array_equal(result.calls, expected.calls)
    if isinstance(solver, ZOCEG):
        np.testing.assert_allclose(expected.x, 1.0, atol=0.02)
        np.testing.assert_allclose(expected.best_value, 1.0, atol=0.05)


def test_one_constraint_may_be_a_number() -> None:
    results = [
        Run(problem=problem, solver=ZOCEG(), replicas=2, iterations=50).run().x
        for problem in (
            BlackBox(f_at, h_first, bounds=BOX),
            BlackBox(f_at, lambda x: h_first(x)[..., None], bounds=BOX),
            BlackBox(f_at, h_first, bounds=BOX, vectorised=True),
        )
    ]
    for x in results[1:]:
        np.testing.assert_allclose(x, results[0], rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: BlackBox(f_at, bounds=[(1, 0), (0, 1)]), "Expected lower <= upper.*did you swap"),
        (lambda: BlackBox(f_at, bounds=BOX, x0=[5.0, 0.0]), r"Expected x0 inside the bounds, got x0\[0\] = 5 outside"),
        (lambda: BlackBox(f_at, bounds=BOX, x0=[np.nan, 0.0]), r"Expected x0 inside the bounds, got x0\[0\] = nan"),
        (lambda: BlackBox(f_at, bounds=BOX, x0=[0.0]), r"Expected x0 of shape \(2,\), got \(1,\)"),
        (lambda: BlackBox(f_at), "Expected bounds or x0"),
        (lambda: BlackBox(f_at, bounds=3), "Expected bounds as n pairs"),
        (lambda: BlackBox(f_at, bounds=[(0, 1, 2)]), "Expected bounds as n pairs"),
    ],
)
def test_a_black_box_that_makes_no_sense_is_refused(make: Callable[[], Problem], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (BlackBox(f_at, h_both, bounds=BOX, m=1), r"Expected h of shape \(1,\), got \(2,\): return one column per"),
        (BlackBox(f_at, h_both, bounds=BOX, m=3, vectorised=True), r"Expected h of shape \(.*3\), got \(.*2\)"),
        (BlackBox(f_at, [h_both], bounds=BOX), "Expected one number per point from constraint 1"),
        (BlackBox(h_both, bounds=BOX), r"Expected f of shape \(\), got \(2,\): return one number per point"),
        (BlackBox(lambda x: f_at(x)[..., None], bounds=BOX, vectorised=True), r"Expected f of shape \(.*\), got"),
        (BlackBox(lambda x: (f_at(x), 0.0), bounds=BOX, joint=True), "Expected m with joint=True, got none"),
        (BlackBox(f_at, bounds=BOX, joint=True, m=1), r"Expected \(f, h\) from a joint function"),
    ],
)
def test_a_black_box_of_wrong_shapes_fails_with_a_sentence(problem: Problem, sentence: str) -> None:
    run = Run(problem=problem, solver=ZOCEG(), iterations=5)
    with pytest.raises((OracleError, ValueError), match=sentence):
        run.run()
    assert run.status == "failed"


class Disc(LoadTracking):
    """Load tracking on a ball: it does not project coordinate by coordinate."""

    __abstract = True

    domain = Ball(np.zeros(100), 100.0)


def test_zobceg_refuses_a_domain_that_is_not_a_box() -> None:
    run = Run(problem=Disc(), solver=ZOBCEG(), iterations=5)
    with pytest.raises(ValueError, match="ZOBCEG moves single coordinates and needs a box.*has a Ball: choose ZOCEG"):
        run.run()
    assert run.status == "ready"
    assert Run(problem=Disc(), solver=ZOCEG(), iterations=5).run().status == "finished"
