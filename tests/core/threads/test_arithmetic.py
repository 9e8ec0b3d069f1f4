"""Arithmetic: silent in a run, and in a person's function as outside, in whatever thread or process it is called."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from zoviz import AskTell, BlackBox, Run, minimize
from zoviz.core.threads.arithmetic import callers_arithmetic, in_this_arithmetic, silent_arithmetic
from zoviz.core.types import Array

BOUNDS = [(-1.0, 1.0)] * 2


def careful(x: Array) -> float:
    """What a careful person writes: the logarithm where it is defined, a penalty elsewhere."""
    try:
        return float(np.log(x).sum() ** 2)
    except FloatingPointError:
        return 100.0 - float(x.sum())


def described(x: Array) -> float:
    """The settings as a number."""
    return float(sum(10**i * len(mode) for i, mode in enumerate(np.geterr().values())))


RUNS: dict[str, Callable[[BlackBox], Any]] = {
    "minimize": lambda problem: minimize(problem, method="COBYLA", max_calls=30),
    "run": lambda problem: Run(problem, "ZOCEG", replicas=2, calls=30).run(),
    "thread": lambda problem: Run(problem, "ZOCEG", replicas=2, calls=30).start().wait(),
}


@pytest.mark.parametrize("arguments", [{}, {"on_error": "fail"}, {"workers": map}], ids=str)
@pytest.mark.parametrize("way", RUNS)
def test_a_function_has_the_callers_settings(way: str, arguments: dict[str, Any]) -> None:
    with np.errstate(all="raise", under="ignore"):
        outcome = RUNS[way](BlackBox(careful, bounds=BOUNDS, x0=[0.5, 0.5], **arguments))
    assert np.sum(outcome.failures) == 0, "the logarithm of a negative number raised nothing"


@pytest.mark.parametrize("settings", [{"all": "print"}, {"divide": "raise", "over": "ignore"}, {"all": "ignore"}])
def test_it_does_so_whatever_they_are(settings: dict[str, str]) -> None:
    with np.errstate(**settings):
        expected = described(np.zeros(2))
        for way in RUNS.values():
            outcome = way(BlackBox(described, bounds=BOUNDS, x0=[0.5, 0.5]))
            np.testing.assert_array_equal(outcome.fun, expected)
        away = BlackBox(described, bounds=BOUNDS, workers=2)
        assert away.evaluate(np.zeros((1, 2))).f[0] == expected
        away.release()


def test_vectorised_functions_and_scipys_constraints_too() -> None:
    def together(x: Array) -> Array:
        assert np.geterr()["invalid"] == "raise"
        return np.square(x).sum(axis=-1)

    with np.errstate(invalid="raise"):
        result = Run(BlackBox(together, bounds=BOUNDS, vectorised=True), "ZOCEG", replicas=2, calls=20).run()
        box = {"type": "ineq", "fun": lambda x: together(x) + 1}
        assert minimize(together, [0.5, 0.5], constraints=box, max_calls=20).feasible
    assert result.status == "finished"


def test_a_run_in_a_function_of_a_run() -> None:
    def inner(x: Array) -> float:
        return described(x)

    def outer(x: Array) -> float:
        return float(minimize(inner, [0.5], max_calls=20, method="COBYLA").fun)

    with np.errstate(over="raise"):
        assert minimize(outer, [0.5], max_calls=20, method="COBYLA").fun == described(np.zeros(1))


def test_other_settings_hold_again_afterwards() -> None:
    with np.errstate(divide="raise"):
        before = np.geterr()
        with silent_arithmetic():
            assert set(np.geterr().values()) == {"ignore"}
            with callers_arithmetic():
                assert np.geterr() == before
                with callers_arithmetic():
                    assert np.geterr() == before
            assert set(np.geterr().values()) == {"ignore"}
        assert np.geterr() == before
        session = AskTell(BlackBox(), "COBYLA", calls=20)
        assert np.geterr() == before and session.ask().x.shape[1] == 2


def test_a_thread_has_the_decimal_context_too() -> None:
    seen: list[int] = []
    with decimal.localcontext() as context:
        context.prec = 7
        call = in_this_arithmetic(lambda: seen.append(decimal.getcontext().prec))
    with decimal.localcontext():
        call()
    assert seen == [7]
