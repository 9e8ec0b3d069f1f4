"""The card of past points, without a browser: a file is read, counted or refused, and the next run has its points."""

from __future__ import annotations

import pytest

from helpers.waiting import until
from zoviz.core.types import Array
from zoviz.problems import BlackBox, LoadTracking
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.controls.past_points_card import PastPointsCard
from zoviz.views.controls.run_form import RunForm

TABLE = b"x1,x2,f,h1\n0.1,0.1,1,-1\n0.2,0.2,2,-1\n5,5,1,-1\n0.3,0.3,,\n0.4,0.4,3,\n"


def box() -> BlackBox:
    def fun(x: Array) -> tuple[float, Array]:
        return float(x @ x), x[:1] - 0.5

    return BlackBox(fun, bounds=[(-1, 1)] * 2, x0=[0.5] * 2, joint=True, m=1)


def choose(card: PastPointsCard, content: bytes, name: str = "points.csv") -> None:
    card.field.param.update(filename=name, value=content)


def test_a_file_is_counted_and_the_next_run_begins_with_it() -> None:
    page = Dashboard(box())
    page.refresh()
    card = page.form.past_points
    choose(card, TABLE)
    reasons = "1 outside the bounds; 1 without f: the call failed; 1 without the value of a constraint."
    assert f"2 of 5 past points are used: {reasons}" in card.note.object
    page.form.settings.calls = 30
    page.controller.start()
    until(lambda: page.refresh() or (page.controller.run is not None and not page.controller.active))
    run = page.controller.run
    assert run is not None and run.spec.past["x"][:2] == [[0.1, 0.1], [0.2, 0.2]]
    assert "past point" in run.message
    card.away.clicks += 1
    assert card.points is None and not card.away.visible and card.note.object == ""


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"x1,f,h1\n0.1,1,-1\n", "Expected columns x1, x2 and f, got x1, f, h1"),
        (b"x1,x2,x3,f\n0.1,0.2,0.3,1\n", "Expected columns x1, x2 and f, got x1, x2, x3, f"),
        (b"0.1\n0.2\n", "Expected past points with 2 variables"),
        (b"x1,x2,f\n,,\n5,5,1\n", "got none: 2 outside the bounds"),
        (b"x1,x2,f\n0.1,0.1,1\n", "got none: 1 without the value of a constraint"),
        (b"x1,x2,f\n", "Expected a past point or more, got an empty table"),
        (b"\xff\xfe\x00", "Expected a text file or a .parquet one, got points.csv"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_a_sentence_and_no_run_begins(content: bytes, sentence: str) -> None:
    page = Dashboard(box())
    page.refresh()
    card = page.form.past_points
    choose(card, content)
    assert sentence in card.note.object and card.points is None
    page.controller.start()
    until(lambda: page.refresh() or sentence in page.controller.message)
    assert page.controller.run is None
    choose(card, TABLE)
    assert not page.form.check() and card.points is not None


def test_the_field_is_offered_for_own_problems_alone_and_a_file_belongs_to_one() -> None:
    own, card = box(), PastPointsCard()
    for problem in (None, own):
        form = RunForm(problem)
        form.update(False)
        assert (form.past_points.__panel__() in form.own.objects) == (problem is own)
    card.follow(own)
    choose(card, TABLE)
    card.follow(own)
    assert card.points is not None
    card.lock(True)
    assert card.field.disabled
    card.follow(LoadTracking(n=4))
    assert card.points is None
