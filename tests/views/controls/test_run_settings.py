"""The form of a run's settings makes the run that it shows."""

from __future__ import annotations

import panel as pn
import pytest

from zoviz.problems import BlackBox, LoadTracking, QuadraticBilevel, StochasticQP
from zoviz.problems.base import Problem
from zoviz.solvers import ZOCEG
from zoviz.views.controls.run_settings import RunSettings, RunSettingsForm


@pytest.mark.parametrize("budget", ["seconds", "iterations", "calls"])
def test_every_budget_can_be_given_and_taken_back(budget: str) -> None:
    settings = RunSettings()
    field = RunSettingsForm(settings).fields[budget]
    field.receive({"seq": 1, "text": "7"})
    assert getattr(settings, budget) == 7 and not field.complaint
    field.receive({"seq": 2, "text": "none"})
    assert getattr(settings, budget) is None and not field.complaint


def test_the_run_has_the_settings() -> None:
    settings = RunSettings(replicas=3, seed=5, seconds=None, calls=100, gap=0.1, stop_at_targets=True)
    run = settings.make(LoadTracking(n=4), ZOCEG())
    assert (run.replicas, run.seed, run.seconds, run.iterations, run.calls) == (3, 5, None, None, 100)
    assert dict(run.targets) == {"gap": 0.1} and run.stop_at_targets


def test_without_targets_nothing_is_stopped_at_them() -> None:
    run = RunSettings(stop_at_targets=True).make(LoadTracking(n=4), ZOCEG())
    assert dict(run.targets) == {} and not run.stop_at_targets and run.seconds == 20.0


@pytest.mark.parametrize(
    ("problem", "offered"), [(LoadTracking(n=4), False), (StochasticQP(), False), (QuadraticBilevel(), True)]
)
def test_a_budget_of_zeta_is_offered_where_a_problem_draws_zeta(problem: Problem, offered: bool) -> None:
    settings = RunSettings()
    form = RunSettingsForm(settings)
    form.fold.button.value = True
    columns = form.__panel__().select(pn.Column)
    holder = next(one for one in columns if form.fields["zeta_samples"] in list(one))
    settings.suit(problem)
    assert holder.visible is offered
    settings.suit(LoadTracking(n=4))
    assert not holder.visible


def test_own_problems_have_a_budget_of_calls_and_one_replica_and_what_a_person_chose_stands() -> None:
    settings = RunSettings()
    settings.suit(LoadTracking(n=4))
    assert (settings.replicas, settings.calls, settings.seconds) == (20, None, 20.0)
    settings.suit(BlackBox(lambda x: float(x @ x), bounds=[(0, 1)] * 4))
    assert (settings.replicas, settings.calls, settings.seconds) == (1, 500, None)
    settings.suit(LoadTracking(n=4))
    assert (settings.replicas, settings.calls, settings.seconds) == (20, None, 20.0)
    settings.param.update(replicas=3, calls=77)
    settings.suit(BlackBox(lambda x: float(x @ x), bounds=[(0, 1)] * 4))
    assert (settings.replicas, settings.calls, settings.seconds) == (3, 77, None)
