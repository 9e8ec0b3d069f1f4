"""The card of a first look, without a browser: offered for own problems alone, charged to no run."""

from __future__ import annotations

from helpers.waiting import until
from zoviz.core.types import Array
from zoviz.diagnosis.first_look import CALLS
from zoviz.problems import BlackBox, LoadTracking
from zoviz.runs.engine.answering import REPEATS
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.controls.first_look_card import FirstLookCard
from zoviz.views.controls.run_form import RunForm


def test_an_own_problem_is_tried_by_a_click_and_the_next_run_pays_for_itself_alone() -> None:
    points: list[Array] = []

    def fun(x: Array) -> float:
        points.append(x)
        return float(x @ x)

    page = Dashboard(BlackBox(fun, bounds=[(-1, 1)] * 3, x0=[0.5] * 3))
    page.refresh()
    assert not points, "nothing is called before a person asks for it"
    card = page.form.first_look
    card.button.clicks += 1
    until(lambda: page.refresh() or "charged to no run" in card.note.object)
    assert "3 variables, all bounded; 0 constraints; the start is feasible, f = 0.75" in card.note.object
    assert len(points) == CALLS and "so 400 calls take about" in card.note.object
    page.controller.start()
    until(lambda: page.refresh() or not page.controller.active)
    run = page.controller.run
    assert run is not None and run.answer is not None
    around = run.answer.certainty.calls  # those around the answer are not the search's either
    assert around == 17 and run.progress.calls == len(points) - CALLS - REPEATS - around


def test_a_problem_of_zoviz_s_has_no_such_card_and_what_is_raised_is_said() -> None:
    def broken(x: Array) -> float:
        raise RuntimeError("<no licence>")

    card = FirstLookCard()
    form = RunForm()
    form.update(False)
    assert not form.own.objects
    own = BlackBox(broken, bounds=[(-1, 1)] * 3, x0=[0.5] * 3)
    offered = RunForm(own)
    offered.update(False)
    assert offered.first_look.__panel__() in offered.own.objects
    card.update(own, None, True)
    assert card.button.disabled, "a run goes on"
    card.update(own, None, False)
    card.begin()
    until(lambda: card.update(own, None, False) or "licence" in card.note.object)
    assert "RuntimeError: &lt;no licence&gt;" in card.note.object
    card.update(LoadTracking(n=4), None, False)
    assert card.note.object == ""
