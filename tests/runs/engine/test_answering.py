"""The answer of a run that is judged: what minimize gives, live, stored, resumed and replayed, within the budget."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from zoviz import BlackBox, Run, minimize
from zoviz.core.types import Array
from zoviz.problems import StochasticQP
from zoviz.runs.engine.stopping import Ending
from zoviz.runs.store import Store

BOUNDS, X0 = [(-2.0, 2.0)] * 2, [0.0, 0.0]


def exact(x: Array) -> tuple[float, Array]:
    """(x1 - 1)^2 + (x2 - 0.8)^2 with x1 + x2 <= 1 beside a slack row: f* = 0.32, y1 = 0.8."""
    return float((x[0] - 1.0) ** 2 + (x[1] - 0.8) ** 2), np.array([x[0] + x[1] - 1.0, x[0] - 0.9])


def simulator(sd: float) -> Callable[[Array], tuple[float, Array]]:
    """A function with noise of its own, from a generator that begins anew."""
    random = np.random.default_rng(7)

    def simulate(x: Array) -> tuple[float, Array]:
        f, h = exact(x)
        noise = sd * random.standard_normal(3)
        return f + noise[0], h + noise[1:]

    return simulate


def judged(function: Callable[[Array], tuple[float, Array]], method: str, calls: int, **more: object) -> Run:
    names = {"noise", "noise_scale"}
    own = {name: value for name, value in more.items() if name in names}
    problem = BlackBox(function, joint=True, bounds=BOUNDS, x0=X0, **own)
    rest = {"stop_when": "confident"} | {name: value for name, value in more.items() if name not in names}
    return Run(problem, method, replicas=1, calls=calls, seed=3, judged=True, **rest)


@pytest.mark.parametrize(
    ("sd", "calls", "note"),
    [
        (0.0, 4, "no point was called twice to see whether values repeat"),
        (0.1, 4, "no point was called twice to see whether values repeat"),
        (0.0, 20, ""),
        (0.1, 20, "values are noisy, and no call was left to tell by how much"),
    ],
)
def test_what_a_few_calls_do_not_tell_of_noise_is_not_called_exact(sd: float, calls: int, note: str) -> None:
    result = minimize(simulator(sd), X0, joint=True, bounds=BOUNDS, max_calls=calls)
    assert result.certainty.note.startswith(note)
    assert np.isfinite(result.certainty.f_x.low) == (not note)
    known = minimize(simulator(0.0), X0, joint=True, bounds=BOUNDS, max_calls=calls, noise="deterministic")
    assert known.certainty.f_x.low == known.certainty.f_x.high == known.fun


@pytest.mark.parametrize("sd", [0.0, 1e-3, 1e-2])
@pytest.mark.parametrize("method", ["ZOSQP", "ZOSPLM"])
@pytest.mark.parametrize("calls", [40, 1500])
def test_a_judged_run_gives_what_minimize_gives(sd: float, method: str, calls: int) -> None:
    run = judged(simulator(sd), method, calls)
    run.run()
    result = minimize(simulator(sd), X0, joint=True, bounds=BOUNDS, method=method, max_calls=calls, seed=3)
    answer = run.answer
    assert answer is not None
    np.testing.assert_array_equal(answer.x, result.x)
    np.testing.assert_array_equal([answer.fun, *answer.h], [result.fun, *result.h])
    assert str(answer.certainty) == str(result.certainty) and run.ending is result.status
    assert run.best_design.f == result.fun and run.best_design.feasible == result.feasible
    assert answer.note in run.message and answer.note in result.message
    assert run.result.calls[0] + answer.calls <= calls and result.calls <= calls


def test_a_noisy_run_ends_at_its_floor_and_says_what_another_digit_takes() -> None:
    run = judged(simulator(1e-2), "ZOSQP", 1500)
    run.run()
    assert run.answer is not None and run.answer.certainty is not None
    assert run.ending is Ending.NOISE_FLOOR and "far from feasible" not in run.message
    assert f"another digit would take about {run.answer.certainty.next_digit:,} calls." in run.message


@pytest.mark.parametrize("noise", [{}, {"noise": "independent", "noise_scale": 1e-2}])
def test_stored_resumed_and_replayed_it_is_the_same(tmp_path: object, noise: dict[str, object]) -> None:
    whole = judged(exact, "ZOSQP", 600, **noise)
    whole.run()
    with Store(f"sqlite:///{tmp_path}/runs.db", trusted=[__name__]) as store:
        run = judged(exact, "ZOSQP", 600, store=store, **noise)
        run.run(lambda: run.interrupt() if run.progress.iteration == 3 else None)
        assert run.answer is None and run.status == "interrupted"
        again = store.load(run.id).resume()
        again.run()
        stored = store.load(run.id)
        replay = stored.replay()
        replay.run()
    for other in (again, stored, replay):
        assert whole.answer is not None and other.answer is not None
        assert str(other.answer.certainty) == str(whole.answer.certainty) and other.ending is whole.ending
        assert other.best_design.plain() == whole.best_design.plain()
    assert again.message == whole.message == stored.message


def test_a_run_that_a_person_stops_is_not_judged_and_no_call_is_made_after_that() -> None:
    run = judged(simulator(1e-2), "ZOSQP", 600)
    run.run(lambda: run.stop() if run.progress.iteration == 3 else None)
    assert run.answer is None and run.best_design.kind == "best feasible point"


def test_without_a_budget_of_calls_the_answers_calls_come_on_top() -> None:
    run = judged(simulator(1e-2), "ZOSQP", 1, iterations=20)
    run.calls = None
    run.run()
    assert run.answer is not None and run.answer.calls == 16 + 48 and run.result.nit == 20


def test_an_error_among_the_last_calls_is_the_runs_and_its_course_is_kept() -> None:
    count, simulate = 0, simulator(1e-2)

    def breaks(x: Array) -> tuple[float, Array]:
        nonlocal count
        count += 1
        if count > 560:
            raise RuntimeError("no licence left")
        return simulate(x)

    run = judged(breaks, "ZOSQP", 600, stop_when="budget")
    with pytest.raises(RuntimeError, match="no licence left"):
        run.run()
    assert run.status == "failed" and run.answer is None and np.isfinite(run.best_design.f)


def test_a_task_without_values_to_compare_is_refused() -> None:
    with pytest.raises(ValueError, match="values f and h for judged=True, got StochasticQP"):
        Run(StochasticQP(), "SampledALM", replicas=1, iterations=3, judged=True).run()
