"""Tables 1 and 2 of paper conex: what an answer is, what it is worth, and the same effort for every method."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.papers.conex.methods import OURS, PLAIN
from zoviz.papers.conex.table_1 import SampleSizes
from zoviz.papers.conex.table_2 import ValidationErrors
from zoviz.papers.conex.tuning import METHODS, FreshTrials, TunedApplication, feasible, loss
from zoviz.problems import Gramacy, HMCTuning, NetworkTuning

SIZES = {"trials": 2, "search": 0, "calls": 60, "fresh": 3, "problem": {}}


class OnTheToy(SampleSizes):
    """A table of a problem whose values are known."""

    __abstract = True

    sizes = {"quick": {**SIZES, "search": 2}, "full": SIZES}
    steps = ((1e-3, 5e-3), (1e-2, 2e-2))

    def problem(self, instance: int) -> Any:
        return Gramacy(noise="independent", noise_scale=0.05)

    def fresh(self, problem: Any, x: Array, count: int) -> FreshTrials:
        value = problem.evaluate(x)
        return FreshTrials(np.full(count, value.f), np.full(count, value.f), np.tile(value.h, (count, 1)))


def test_every_method_may_try_as_many_settings_on_instances_that_are_not_reported() -> None:
    for cls, size in itertools.product((SampleSizes, ValidationErrors), ("quick", "full")):
        one = cls(size=size)
        assert {len(one.choices(method)) for method in METHODS} == {4}
        tuning = one.tuning()
        assert tuning is not None and tuning.settings == 4 and not set(tuning.trial_seeds) & set(tuning.reported_seeds)


def test_an_answer_that_breaks_a_limit_by_two_standard_errors_is_worth_nothing() -> None:
    h = np.array([[0.1, -1.0], [0.3, -1.0], [0.2, -1.0], [0.2, -1.0]])
    trials = FreshTrials(np.ones(4), np.array([1.0, 2.0, 3.0, 2.0]), h)
    bad = trials.figures()
    assert not feasible(bad) and np.isinf(loss(bad)) and bad["merit"] == 1.0
    unsure = trials._replace(h=h - [0.15, 0.0]).figures()  # mean 0.05, standard error 0.041
    assert feasible(unsure) and loss(unsure) == 2.0


def test_the_answer_of_szo_conex_is_its_last_iterate_that_met_its_limits() -> None:
    one = OnTheToy()
    problem, x = one.answer(OURS, (1e-3, 1e-2), 0)
    again, same = one.answer(OURS, (1e-3, 1e-2), 0)
    assert type(again) is type(problem)
    np.testing.assert_array_equal(x, same)
    _, plain = one.answer(PLAIN, (1e-3, 1e-2), 0)
    assert not np.array_equal(x, plain), "without extrapolation it goes elsewhere"


def test_the_search_takes_the_setting_with_the_least_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def outcome(self: TunedApplication, method: str, setting: Any, instance: int) -> Any:
        tried.append(instance)
        return {"merit": 0.0, "objective": abs(setting[0] - 5e-3), "constraints": [-setting[1]], "errors": [0.0]}

    monkeypatch.setattr(TunedApplication, "outcome", outcome)
    one = OnTheToy(size="quick")
    assert one.best_setting(OURS) == (5e-3, 1e-2) and set(tried) == {1000, 1001} and len(tried) == 8
    first = f"{OURS} / 0"
    assert one.needs(first) == [] and one.needs(f"{OURS} / 1") == [first]
    figures = one.measure_after(first, {})
    assert figures["setting"] == [5e-3, 1e-2] and len(tried) == 17
    assert one.measure_after(f"{OURS} / 1", {first: figures})["setting"] == [5e-3, 1e-2]
    assert len(tried) == 18, "only the first part searches"
    assert OnTheToy().best_setting(OURS) == (1e-3, 1e-2), "the first for no search"


def test_an_infeasible_answer_loses_against_a_feasible_one_and_ties_with_another() -> None:
    one = type("Many", (OnTheToy,), {"sizes": {"full": {**SIZES, "trials": 12}}, "_Many__abstract": True})()
    good = {"setting": [1.0, 0.5], "merit": 3.0, "objective": 1.0, "constraints": [-1.0], "errors": [0.1]}
    measured = {part: good if part.startswith(f"{OURS} /") else {**good, "constraints": [1.0]} for part in one.parts()}
    assert list(measured)[:2] == [f"{OURS} / 0", f"{PLAIN} / 0"], "instance by instance: a part of it is a table, too"
    assert all((claim.evidence(measured, OURS).margins >= 0.0).all() for claim in one.claims())
    assert {claim.evidence(measured, OURS).reason for claim in one.claims()} == {one.doubt}
    (table,) = one.tables(measured)
    assert table.rows[0][:2] == (OURS, "108 000 ± 992") and table.rows[1][3:5] == ("–", "0 of 12")
    assert [panel.heading for panel in one.panels(measured)] == ["Table 1"]


@pytest.mark.parametrize("cls, problem", [(SampleSizes, HMCTuning), (ValidationErrors, NetworkTuning)])
def test_both_tables_measure_answers_by_fresh_trials(cls: Any, problem: Any) -> None:
    pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')
    small = problem(gradients=200) if problem is HMCTuning else problem(steps=20)
    start = small.initial(type("One", (), {"replicas": 1})())[0]
    one = cls().fresh(small, start, 3)
    assert one.f.shape == (3,) and one.h.shape == (3, small.m)
    value = small.evaluate(start)
    assert np.isfinite([*one.f, *one.h.ravel(), value.f]).all()
    assert one.f.std() > 0.0, "trials are drawn afresh"
