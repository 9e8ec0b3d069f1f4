"""Fig. 2 and Fig. 3 of paper sogd, by the functions that its scripts print them with, on short runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')

from zoviz.papers.sogd import attack, loss_tuning  # noqa: E402
from zoviz.papers.sogd.attack import COLUMNS, Attack, AttackOnMNIST  # noqa: E402
from zoviz.papers.timing import paces, runtimes  # noqa: E402
from zoviz.problems import BlackBoxAttack, LossTuning, QuadraticBilevel  # noqa: E402
from zoviz.solvers import ZOGD  # noqa: E402
from zoviz.studies.experiment import plain  # noqa: E402
from zoviz.studies.verdict import Verdict

METHODS = [*attack.SINGLE, *attack.BILEVEL]


def figures(accuracy: float, size: float = 3.0) -> dict[str, Any]:
    some = np.linspace(-0.01, 0.01, 5)
    return {"accuracy": plain(accuracy + some), "size": plain(size + some), "calls": 100, "rounds": 10}


@pytest.mark.slow
def test_the_perturbation_misleads_and_every_method_asks_for_what_it_says() -> None:
    problem, result = BlackBoxAttack(), {}
    for method in METHODS:
        result[method] = attack.outcome(attack.course(method, 0.3, problem, 2, 0, {"iterations": 60}))
    calls = {method: one.calls[0] / one.rounds for method, one in result.items()}
    assert all(calls[name] == (13 if "Conserv" in name else 11) for name in attack.SINGLE)
    # 8 k + 6 k' at two points of a round, one in the first.
    assert result["ZO-SOGD"].calls[0] == result["ZO-SOGD (Adam)"].calls[0] == 140 + 59 * 280
    assert attack.queries(problem, 60) == 140 + 59 * 280
    for one in result.values():
        assert (one.accuracy < 0.97).all() and (one.size <= 5.0).all()
    assert result["ZO-SOGD (Adam)"].accuracy.mean() < result["ZO-O-GD"].accuracy.mean()


def test_a_search_takes_the_rate_that_misleads_most(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = Attack().settings["rates"]

    def course(method: str, rate: float, *_: Any) -> Any:
        accuracy = np.nan if rate == 3.0 else abs(np.log10(rate / 0.03))
        return attack.Outcome(*[np.full(1, accuracy)] * 4, 1)

    monkeypatch.setattr(attack, "course", course)
    monkeypatch.setattr(attack, "outcome", lambda run: run)
    assert attack.search("ZO-O-GD", rates, BlackBoxAttack(), 1, {}) == 0.03
    assert len(rates) == Attack().tuning().settings


def test_a_leader_that_stands_still_leaves_x_where_it_was() -> None:
    problem = BlackBoxAttack()
    ends = {}
    for method in ("ZO-SOGD", *attack.ABLATIONS):
        run = attack.course(method, 1.0, problem, 1, 0, {"iterations": 3})
        ends[method] = run.trace["weight"][-1] - run.trace["weight"][0]
    moved, *still = ends.values()
    assert abs(moved[0]) > 1e-6 and all(abs(one[0]) < 1e-9 for one in still)


def test_verdicts_on_the_attack() -> None:
    experiment = Attack(size="quick")
    names = [*METHODS, *attack.ABLATIONS]
    measured = {f"digits / {column} / {name}": figures(0.8) for column in COLUMNS for name in names}
    measured["digits / equal rounds / ZO-SOGD"] = figures(0.6)
    measured["digits / equal rounds / ZO-SOGD (Adam)"] = figures(0.6, 4.5)
    measured["digits / times"] = {"milliseconds": dict.fromkeys(names, 1.0) | {"ZO-SOGD": 1.4}}
    told = {claim.says: claim.evidence(measured, claim.method).verdict for claim in experiment.claims()}
    assert told["ZO-SOGD outperforms ZO-O-GD, equal rounds: digits"] is Verdict.YES
    assert told["ZO-SOGD (Adam) outperforms all, equal rounds: digits"] is Verdict.OPEN
    assert told["ZO-SOGD (Adam) outperforms all, equal queries: digits"] is Verdict.YES
    assert told["ZO-SOGD keeps ||y||_inf below 4: digits"] is Verdict.YES
    assert told["ZO-SOGD (Adam) keeps ||y||_inf below 4: digits"] is Verdict.NO
    assert told["the runtime of a round is like that of single-level methods: digits"] is Verdict.YES
    moves = next(claim for claim in experiment.claims() if "a leader that moves serves ZO-SOGD:" in claim.says)
    assert moves.evidence(measured, moves.method).verdict is Verdict.YES
    assert moves.evidence(measured, moves.ablation).verdict is Verdict.NO
    measured["digits / equal rounds / ZO-O-GD"]["calls"] = 10
    unequal = next(claim for claim in experiment.claims() if claim.says.endswith("ZO-O-GD, equal rounds: digits"))
    assert unequal.evidence(measured, unequal.method).reason.startswith("unequal budgets")


def test_on_mnist_claims_are_at_equal_rounds_and_at_equal_queries() -> None:
    says = [claim.says for claim in AttackOnMNIST().claims()]
    assert len(says) == 12 and sum("equal queries" in one for one in says) == 3
    assert not any("smallest weights" in one for one in says)
    assert len(AttackOnMNIST().parts()) == len(METHODS) + len(attack.ABLATIONS) + len(attack.SINGLE) + 2


@pytest.mark.slow
def test_the_tuning_plays_all_phases_and_gives_its_verdicts() -> None:
    pytest.importorskip("torch", reason='python -m pip install "zoviz[torch]"')
    problem, point = LossTuning(phase_length=3), {"beta": 0.1, "alpha": 1e-3}
    result = {
        method: loss_tuning.outcome(loss_tuning.course(method, point, problem, 2, 0), problem)
        for method in loss_tuning.METHODS
    }
    for one in result.values():
        assert all(values.shape == (4, 2) for values in one.accuracy.values()) and one.overall.shape == (2,)
    assert result["OGD"].calls[0] == 12 * 2 and result["SOGD"].calls[0] == 4 + 11 * 8


def test_verdicts_on_the_tuning() -> None:
    experiment = loss_tuning.Tuned(size="quick")
    grows = np.array([[0.4, 0.41, 0.42], [0.5, 0.52, 0.51], [0.6, 0.61, 0.63]])
    falls = np.array([[0.3, 0.31, 0.32], [0.2, 0.19, 0.2], [0.1, 0.11, 0.1]])
    good = {name: plain(grows) for name in loss_tuning.ACCURACIES}
    bad = {name: plain(falls) for name in loss_tuning.ACCURACIES}
    measured: dict[str, Any] = {f"digits / {name}": good for name in loss_tuning.METHODS}
    measured |= {"digits / OGD": bad, f"digits / {loss_tuning.UNCHANGED}": bad}
    measured["digits / times"] = {"milliseconds": {"OGD": 1.0, "SOGD": 2.0, "SOBOW": 3.0, "OAGD": 4.0}}
    told = [(claim.evidence(measured, claim.method).verdict, claim) for claim in experiment.claims()]
    assert [verdict for verdict, _ in told] == [Verdict.NO, Verdict.YES, Verdict.NO, *[Verdict.YES] * 5]
    assert all(claim.evidence(measured, claim.ablation).verdict is Verdict.NO for _, claim in told[3:])
    measured[f"digits / {loss_tuning.UNCHANGED}"] = good
    grown = [claim for _, claim in told if claim.place == "Fig. 3, claim 4"]
    verdicts = {claim.evidence(measured, claim.method).verdict for claim in grown}
    assert verdicts == {Verdict.OPEN}, "a network that is trained gets better whatever its classes"


def test_a_pace_is_that_of_the_steps() -> None:
    solvers = {"few": ZOGD(inner_step=1e-2), "many": ZOGD(inner_step=1e-2)}
    solvers["few"].estimator.batch_size, solvers["many"].estimator.batch_size = 2, 20_000
    result = paces(solvers, QuadraticBilevel(), 2, 5, 2)
    assert 0.0 < 5.0 * result["few"] < result["many"] < 60.0


def test_a_runtime_is_drawn_with_its_replicas() -> None:
    panel = runtimes("digits", {"SOGD": 20.0, "OGD": 4.0}, 5, 400)
    assert panel.lines == {"SOGD": ([0.0, 400.0], [0.0, 8.0]), "OGD": ([0.0, 400.0], [0.0, 1.6])}
    assert "5 replicas" in panel.heading and panel.y == "seconds"
