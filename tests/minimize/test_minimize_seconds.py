"""``minimize`` within a budget of seconds: from its first call to the last that chooses the answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.costly_box import CostlyBox
from zoviz import minimize
from zoviz.core.types import Array

METHODS = ["auto", "ZOCEG", "ZOSPLM", "ZOSQP", "COBYLA", "ALSPG"]


@pytest.fixture
def costly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CostlyBox:
    """A black box of 0.05 s a call."""
    return CostlyBox(monkeypatch, tmp_path / "calls")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("noise", [None, "independent"])
def test_a_budget_of_a_second_takes_a_second(costly: CostlyBox, method: str, noise: str | None) -> None:
    result = minimize(costly, [0.9] * 50, bounds=[(-1.0, 1.0)] * 50, method=method, seconds=1.0, noise=noise)
    assert 18 <= costly.calls <= 22 and result.calls == costly.calls
    assert "The budget of 1 s is spent." in result.message and result.feasible
    assert result.fun <= 50 * 0.6**2 * (1.0 + 1e-12) and result.fun == pytest.approx(costly.at(result.x))


@pytest.mark.parametrize("method", ["auto", "ZOCEG"])
def test_constraints_do_not_make_it_longer(costly: CostlyBox, method: str) -> None:
    def row(x: Array) -> float:
        return float(x.sum() - 100.0)

    result = minimize(
        costly, [0.9] * 50, bounds=[(-1.0, 1.0)] * 50, constraints=row, method=method, seconds=1.0, replicas=2
    )
    assert costly.calls <= 22 and result.calls == costly.calls and result.feasible


def test_two_workers_begin_two_calls_more_at_most(costly: CostlyBox) -> None:
    result = minimize(costly, [0.9] * 50, bounds=[(-1.0, 1.0)] * 50, seconds=1.0, workers=2)
    assert costly.calls <= 24 and result.calls <= costly.calls
    assert result.fun == pytest.approx(costly.at(result.x))


@pytest.mark.parametrize("method", ["auto", "ZOCEG", "COBYLA"])
def test_a_call_longer_than_the_budget_is_one_call(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, method: str
) -> None:
    costly = CostlyBox(monkeypatch, tmp_path / "calls", 5.0)
    result = minimize(costly, [0.9] * 50, bounds=[(-1.0, 1.0)] * 50, method=method, seconds=1.0)
    assert costly.calls == 1 == result.calls and "The budget of 1 s is spent." in result.message
    assert result.x == pytest.approx(np.full(50, 0.9)) and result.feasible


def test_calls_that_decide_under_noise_are_in_the_budget(costly: CostlyBox) -> None:
    random = np.random.default_rng(0)

    def noisy(x: Array) -> float:
        return costly(x) + 0.01 * float(random.standard_normal())

    result = minimize(noisy, [0.9] * 3, bounds=[(-1.0, 1.0)] * 3, seconds=10.0)
    assert 150 <= costly.calls <= 202 and result.calls == costly.calls
    assert "means of" in result.message


def test_an_error_in_the_calls_at_the_start_leaves_the_values_before_it(costly: CostlyBox) -> None:
    def failing(x: Array) -> float:
        if costly.calls == 2:
            raise RuntimeError("no licence")
        return costly(x)

    with pytest.raises(RuntimeError, match="no licence") as raised:
        minimize(failing, [0.9] * 3, bounds=[(-1.0, 1.0)] * 3)
    assert raised.value.result.calls == 2  # type: ignore[attr-defined]
