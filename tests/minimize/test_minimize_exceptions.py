"""What was found is not lost where a run ends by an exception or by Ctrl-C: it is on the exception and in the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.minimizing import BOUNDS
from zoviz import Run, minimize
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.runs.store import Store


class Peculiar(Exception):
    """An exception of one's own, whose class says nothing of a result."""


class Failing:
    """A bowl that raises at its 40th call, and knows the best of what it returned until then."""

    def __init__(self, error: BaseException) -> None:
        self._error, self.calls, self.best = error, 0, np.inf

    def __call__(self, x: Array) -> float:
        self.calls += 1
        if self.calls == 40:
            raise self._error
        value = float(((x - 0.3) ** 2).sum())
        self.best = min(self.best, value)
        return value


ERRORS = [RuntimeError("no licence"), Peculiar(), KeyboardInterrupt(), SystemError("down")]


@pytest.mark.parametrize("method", ["auto", "ZOSQP", "COBYLA", "ZOCEG", "CMAES", "NOMAD"])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_the_best_point_is_on_the_exception(method: str, error: Any) -> None:
    fun = Failing(type(error)(*error.args))
    with pytest.raises(type(error)) as caught:
        minimize(fun, [0.0, 1.0], bounds=BOUNDS, method=method, max_calls=100, stop="budget")
    result = caught.value.result  # type: ignore[attr-defined]
    assert result.fun == fun.best == ((result.x - 0.3) ** 2).sum() and not result.success
    assert any("attribute result" in note for note in caught.value.__notes__)


def test_an_exception_of_the_callback_has_it_too() -> None:
    def callback(xk: Array) -> None:
        raise Peculiar

    with pytest.raises(Peculiar) as caught:
        minimize(lambda x: float(x @ x), [1.0, 1.0], bounds=BOUNDS, method="ZOCEG", callback=callback)
    assert caught.value.result.fun <= 2.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_run_has_it_on_the_exception_in_its_result_and_in_the_store(error: Any, tmp_path: Path) -> None:
    fun = Failing(type(error)(*error.args))
    with Store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        problem = BlackBox(fun, bounds=BOUNDS, x0=[0.0, 1.0])
        run = Run(problem, "ZOSQP", replicas=1, calls=100, store=store)
        with pytest.raises(type(error)) as caught:
            run.run()
        assert caught.value.result.best_fun == run.result.best_fun == [fun.best]  # type: ignore[attr-defined]
        assert store.load(run.id).result.best_fun == [fun.best]


def test_an_exception_at_the_first_call_has_none() -> None:
    def fun(x: Array) -> float:
        raise Peculiar

    with pytest.raises(Peculiar) as caught:
        minimize(fun, [1.0, 1.0], bounds=BOUNDS)
    assert not hasattr(caught.value, "result")
