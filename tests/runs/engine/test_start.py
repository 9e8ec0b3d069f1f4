"""The first points of a run: where a start has no value, others are tried, charged, and it is said."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.minimizing import Diary
from zoviz import AskTell, Run, minimize
from zoviz.core.errors import OracleError
from zoviz.core.types import Array
from zoviz.problems import BlackBox, Executable

BOX = [(0.0, 1.0)] * 2


def defined(x: Array) -> bool:
    """Return whether there is a value: in a third of the box, not at its middle."""
    return bool(x[0] + x[1] < 0.8)


def silent(x: Array) -> float:
    return float(((x - 0.3) ** 2).sum()) if defined(x) else math.nan


def raising(x: Array) -> float:
    if not defined(x):
        raise RuntimeError("no convergence")
    return silent(x)


def joint(x: Array) -> tuple[float, Array]:
    return raising(x), x[:1] - 0.25


def rows(x: Array) -> Array:
    return x[:1] - 0.25


WAYS = {
    "NaN": (silent, {"constraints": rows}),
    "raised": (raising, {"constraints": rows, "on_error": "fail"}),
    "joint": (joint, {"joint": True, "on_error": "fail"}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("x0", [None, [0.9, 0.9]], ids=["drawn", "given"])
@pytest.mark.parametrize(("replicas", "noise"), [(1, None), (3, "deterministic"), (1, "independent")])
def test_minimize_finds_a_start_with_a_value(way: str, x0: Any, replicas: int, noise: str | None) -> None:
    fun, arguments = WAYS[way]
    diary = Diary(fun)
    result = minimize(diary, x0, bounds=BOX, max_calls=100, replicas=replicas, noise=noise, **arguments)
    assert result.feasible and result.calls == len(diary.points) <= 100
    assert result.fun < 0.1 and defined(result.x)
    if x0 is not None:
        assert "had no value; another one was found after" in result.message


def test_every_seed_finds_one_and_the_same_again() -> None:
    for seed in range(4):
        results = [minimize(silent, None, bounds=BOX, constraints=rows, max_calls=60, seed=seed) for _ in range(2)]
        assert results[0].feasible and results[0].message == results[1].message
        np.testing.assert_array_equal(results[0].x, results[1].x)


def test_a_run_looks_for_every_replica_and_replays() -> None:
    diary = Diary(raising)
    run = Run(BlackBox(diary, rows, bounds=BOX, on_error="fail"), "auto", replicas=4, calls=80)
    result = run.run()
    assert run.frozen == 0 and result.success.all() and result.calls.sum() == len(diary.points)
    assert "replicas had no value; another one was found after" in result.message
    assert result.ledger is not None and result.ledger.calls["start"].sum() > 4
    np.testing.assert_array_equal(run.replay().run().x, result.x)


def test_a_session_asks_for_others() -> None:
    session = AskTell(bounds=BOX, x0=[0.9, 0.9], m=1, calls=80)
    while not session.done:
        batch = session.ask()
        session.tell(batch, [silent(x) for x in batch.x], batch.x[:, :1] - 0.25)
    assert session.result.success.all() and "had no value" in session.result.message


def test_a_program_too() -> None:
    program = 'read x; read y; case "$x" in 0.[0-4]*) echo $x; echo -$y;; *) exit 1;; esac'
    result = Run(Executable(["sh", "-c", program], bounds=BOX, x0=[0.55, 0.6], m=1), "auto", calls=20, replicas=1).run()
    assert result.success.all() and result.fun.item() < 0.5
    assert "The starting point had no value; another one was found after" in result.message


@pytest.mark.parametrize(("x0", "calls"), [(None, 12), ([0.5, 0.5], 12), (None, 60)])
def test_where_none_is_found_the_number_of_tries_is_said(x0: Any, calls: int) -> None:
    diary = Diary(lambda x: math.nan)
    with pytest.raises(OracleError, match=r"finite values at the start, got .*, nor at \d+ other points in its place"):
        minimize(diary, x0, bounds=BOX, max_calls=calls)
    assert 10 < len(diary.points) <= min(calls, 21)


def test_the_reason_of_a_program_that_never_has_a_value_is_a_sentence_of_its_own() -> None:
    program = Executable(["sh", "-c", "echo 1 2"], bounds=BOX, m=0)
    with pytest.raises(OracleError, match=r"got none: Expected 1 number.*'\. Nor was there one at \d+ other points in"):
        minimize(program, max_calls=8)


@pytest.mark.parametrize("call", [minimize, lambda f, x0, **kw: Run(BlackBox(f, x0=x0, **kw), "auto", calls=30).run()])
def test_what_a_function_raises_at_its_start_ends_the_run_where_it_shall(call: Callable[..., Any]) -> None:
    diary = Diary(raising)
    with pytest.raises(RuntimeError, match="no convergence"):
        call(diary, [0.9, 0.9], bounds=BOX)
    assert len(diary.points) == 1


NEAR_HALF = (0.5 - 1e-13, 0.5 + 1e-13)


@pytest.mark.parametrize("x0", [[0.1, 0.7], [0.5, 0.6], [1.1, 2.9]])
@pytest.mark.parametrize("method", ["auto", "COBYLA", "ZOSPLM", "ZOSQP"])
def test_the_first_call_is_at_the_start_to_the_bit_whatever_the_units(x0: list[float], method: str) -> None:
    """And so is the answer of a run that ends there."""
    diary = Diary(lambda x: float(((x - 0.3) ** 2).sum()))
    run = Run(BlackBox(diary, bounds=[(-4.0, 3.7)] * 2, x0=x0), method, calls=60, replicas=1)
    run.run()
    assert diary.points[0].tolist() == x0
    off = np.abs(np.array(diary.points) - x0).max(axis=1)
    assert not ((off > 0.0) & (off < 1e-14)).any(), "never beside it by round-off"
    assert run.worker is not None
    oracle = run.worker.oracle
    assert oracle.units is not None and oracle.place(oracle.units.inverse(np.array([x0]))).tolist() == [x0]


@pytest.mark.parametrize("noise", [None, "deterministic", "independent"])
@pytest.mark.parametrize("bounds", [[(-2.0, -2.0), (-2.0, 3.0)], [NEAR_HALF] * 2, [(0.0, 1.0)] * 2])
def test_no_other_start_is_called_that_was_called_before(bounds: Any, noise: str | None) -> None:
    """In a small box, or about its middle, many of those that are tried are the same."""
    diary = Diary(lambda x: math.nan if len(diary.points) < 8 else float(x @ x))
    x0 = [0.5 * (low + high) for low, high in bounds]
    result = minimize(diary, x0, bounds=bounds, max_calls=60, noise=noise)
    assert len({point.tobytes() for point in diary.points[:8]}) == 8
    assert result.calls == len(diary.points) <= 60


def test_bounds_that_fix_every_variable_leave_one_start() -> None:
    diary = Diary(lambda x: math.nan)
    with pytest.raises(OracleError, match="at the start, got"):
        minimize(diary, [0.5, 0.5], bounds=[(0.5, 0.5)] * 2, max_calls=60)
    assert len(diary.points) == 1


def test_a_start_s_value_does_not_pass_for_a_second_call_there() -> None:
    """ZOSQP calls it again to see whether values repeat: with the first one for it, noise would look like none."""
    draws = np.random.default_rng(0)
    diary = Diary(lambda x: float(x @ x + draws.normal()))
    run = Run(BlackBox(diary, bounds=BOX, x0=[0.9, 0.9]), "ZOSQP", calls=60, replicas=1)
    run.run()
    assert sum(point.tolist() == [0.9, 0.9] for point in diary.points) >= 2
    assert "values are noisy" in run.solver.closing_note(run.state)


@pytest.mark.parametrize("noise", ["unknown", "deterministic"])
@pytest.mark.parametrize("calls", [1, 4, 8, 30])
def test_a_start_that_is_the_best_point_is_the_best_point(noise: str, calls: int) -> None:
    """It is evaluated before the units are known, in which the box is another one."""
    problem = BlackBox(
        lambda x: float(((x - 40.0) ** 2).sum()), rows, bounds=[(-90.0, 0.2), (30.0, 300.0)], noise=noise
    )
    problem.x0 = [0.2, 40.0]
    result = Run(problem, "COBYLA", calls=calls, replicas=1).run()
    assert result.best_x[0].tolist() == [0.2, 40.0] and result.best_fun[0] == pytest.approx(39.8**2)
