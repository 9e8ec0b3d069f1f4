"""Fig. 2 and Fig. 3 of paper sogd, by the functions that its scripts print them with, on short runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')

from zoviz.papers.sogd import attack, loss_tuning  # noqa: E402
from zoviz.papers.timing import paces  # noqa: E402
from zoviz.problems import BlackBoxAttack, LossTuning, QuadraticBilevel  # noqa: E402
from zoviz.solvers import ZOGD  # noqa: E402

METHODS = [*attack.SINGLE, *attack.BILEVEL]


def outcome(accuracy: float, size: float = 3.0) -> attack.Outcome:
    some = np.linspace(-0.01, 0.01, 5)
    return attack.Outcome(accuracy + some, 1.0 + some, size + some, np.full(5, 100), 10)


@pytest.mark.slow
def test_the_perturbation_misleads_and_every_method_asks_for_what_it_says() -> None:
    problem, result = BlackBoxAttack(), {}
    for method in METHODS:
        rates = (0.3,) if method in attack.SINGLE else (0.1, 0.3)
        result[method] = attack.play(method, rates, problem, 2, 0, {"iterations": 60})
    calls = {method: one.calls[0] / one.rounds for method, one in result.items()}
    assert all(calls[name] == (13 if "Conserv" in name else 11) for name in attack.SINGLE)
    # 8 k + 6 k' at two points of a round, one in the first.
    assert result["ZO-SOGD"].calls[0] == result["ZO-SOGD (Adam)"].calls[0] == 140 + 59 * 280
    for one in result.values():
        assert (one.accuracy < 0.97).all() and (one.size <= 5.0).all()
    assert result["ZO-SOGD (Adam)"].accuracy.mean() < result["ZO-O-GD"].accuracy.mean()


def test_a_search_takes_the_rate_that_misleads_most(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(method: str, rates: tuple[float, ...], *_: Any) -> attack.Outcome:
        return outcome(np.nan if rates[0] == 3.0 else abs(np.log10(rates[0] / 0.03)) + 0.1 * len(rates))

    monkeypatch.setattr(attack, "play", play)
    assert attack.search("ZO-O-GD", BlackBoxAttack(), {}) == (0.03,)
    assert attack.search("ZO-SOGD", BlackBoxAttack(), {}) == (0.03,)
    fixed = attack.solver("ZO-SOGD", (0.03,)).get("outer_step"), attack.solver("ZO-SOGD", (0.03, 0.3)).get("outer_step")
    assert fixed == (attack.OUTER, 0.3), "as many trials as for the others"


def test_a_full_search_tries_as_many_points_for_each_method(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, list[dict[str, float]]] = {}

    def play(method: str, point: dict[str, float], *_: Any) -> Any:
        seen.setdefault(method, []).append(point)
        far = abs(np.log(point["beta"] / 0.01)) + abs(np.log(point["alpha"] / 5e-3)) + abs(point["window"] - 10)
        return SimpleNamespace(overall=np.array([np.nan if point["beta"] == 0.1 else np.exp(-far)]))

    monkeypatch.setattr(loss_tuning, "play", play)
    said: list[str] = []
    best = {
        full: [loss_tuning.search(name, LossTuning(), full, said.append) for name in ("SOGD", "SOBOW")]
        for full in (False, True)
    }
    assert all(point["beta"] == 0.01 and point["alpha"] == 5e-3 for points in best.values() for point in points)
    assert [point["window"] for point in best[True]] == [5, 10] and len(seen["SOGD"]) == len(seen["SOBOW"]) == 100
    assert "25 points" in said[0] and "75 points" in said[-1]


def test_verdicts_on_the_attack(capsys: pytest.CaptureFixture[str]) -> None:
    result = {name: outcome(0.8) for name in METHODS} | {"ZO-SOGD": outcome(0.6), "ZO-SOGD (Adam)": outcome(0.6, 4.5)}
    attack.verdicts(result, "made up")
    output = capsys.readouterr().out
    assert "ZO-SOGD below ZO-O-GD: yes" in output and "ZO-SOGD (Adam) below ZO-SOGD: undecided" in output
    assert "  ZO-SOGD: yes (largest 3.01)" in output and "  ZO-SOGD (Adam): no (largest 4.51)" in output


@pytest.mark.slow
def test_the_tuning_plays_all_phases_and_gives_its_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason='python -m pip install "zoviz[torch]"')
    problem, point = LossTuning(phase_length=3), {"beta": 0.1, "alpha": 1e-3, "weight": 0.9}
    result = {method: loss_tuning.play(method, point, problem, 2, 0) for method in loss_tuning.METHODS}
    for one in result.values():
        assert one.balanced.shape == one.test.shape == (4, 2) and one.overall.shape == (2,)
    assert result["OGD"].calls[0] == 12 * 2 and result["SOGD"].calls[0] == 4 + 11 * 8
    better = result["OGD"]._replace(balanced=result["OGD"].balanced * 0.0)
    loss_tuning.verdicts({"SOGD": result["SOGD"], "OGD": better})
    assert "balanced accuracy, phase 4: yes" in capsys.readouterr().out
    worse = result["OGD"]._replace(balanced=result["SOGD"].balanced + 0.1)
    loss_tuning.verdicts({"SOGD": result["SOGD"], "OGD": worse})
    assert "balanced accuracy, phase 4: no" in capsys.readouterr().out


def test_a_pace_is_that_of_the_steps() -> None:
    solvers = {"few": ZOGD(inner_step=1e-2), "many": ZOGD(inner_step=1e-2)}
    solvers["few"].estimator.batch_size, solvers["many"].estimator.batch_size = 2, 20_000
    result = paces(solvers, QuadraticBilevel(), 2, 5, 2)
    assert 0.0 < 5.0 * result["few"] < result["many"] < 60.0
