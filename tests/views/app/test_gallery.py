"""The gallery of starting points: each set-up can be had, has its course, and one click starts it."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.project import ROOT
from helpers.waiting import until
from zoviz import minimize
from zoviz.problems import NonconvexQCQP
from zoviz.problems.find import find_problem
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.app.gallery import Gallery, card
from zoviz.views.app.page_address import apply_query
from zoviz.views.app.set_ups import SET_UPS, SetUp
from zoviz.views.app.thumbnails import course, ends, thumbnails
from zoviz.views.controls.background_build import BackgroundBuild
from zoviz.views.controls.picker import Picker
from zoviz.views.controls.run_form import RunForm


@pytest.fixture
def page() -> Any:
    page = Dashboard()
    yield page
    page.controller.stop()


def press(page: Dashboard, message: object) -> None:
    """Have the browser say that a card was clicked, or whatever it likes."""
    gallery = page.rooms.__panel__()[0][0]
    assert isinstance(gallery, Gallery)
    gallery.choose(message)


def test_every_set_up_names_what_the_page_offers_and_has_its_course() -> None:
    form, courses = RunForm(), thumbnails()
    assert [one.title for one in SET_UPS] == list(courses)
    for one in SET_UPS:
        assert apply_query(form, one.query, afresh=True) == [], one.title
        assert (form.picker.problem_name, form.picker.solver_name) == (one.problem, one.solver)
        points = np.array(courses[one.title]["points"])
        assert (np.diff(points[:, 0]) > 0).all() and points.min() == 0 and points.max() == 1, one.title
    assert form.picker.problems["Nonconvex QCQP"].noise == "independent"
    apply_query(form, SET_UPS[0].query, afresh=True)
    assert form.picker.problem.noise == "deterministic", "a set-up begins from the defaults"


def test_a_card_names_its_axes_and_says_that_they_are_logarithmic() -> None:
    courses = thumbnails()
    first, slicing = (
        next(one for one in SET_UPS if one.title == title) for title in ("A first descent", "Network slicing")
    )
    text = card(0, first, courses[first.title])
    assert "gap, log scale" in text and "iterations" in text and "<span>433</span><span>5e-9</span>" in text
    text = card(0, slicing, courses[slicing.title])
    assert "log scale" not in text and "<span>objective</span>" in text and "<span>2.82</span>" in text
    top, low = ends(course("objective gap", np.arange(4.0), np.array([10.0, 1e3, 1e-6, 0.1]), True))
    assert (top, low) == (pytest.approx(1e3), pytest.approx(1e-6, rel=0.05))
    flat = ends(course("objective", np.arange(3.0), np.full(3, 2.0), False))
    assert flat == (2.0, 2.0)


def test_a_click_starts_a_set_up_and_shows_its_run(page: Dashboard) -> None:
    assert page.rooms.open == "gallery"
    page.rooms.begin()
    page.form.settings.seed = 5
    for nonsense in (-1, 99, "0", None, {"at": 0}):
        press(page, nonsense)
    assert page.controller.run is None and page.form.settings.seed == 5
    press(page, 1)
    run = page.controller.run
    assert run is not None and run.problem.noise == "independent" and run.seed == 0 and page.rooms.open == "run"
    press(page, 0)
    assert page.controller.run is run and "still in progress" in page.controller.error
    page.controller.stop()
    until(lambda: page.refresh() or not page.controller.active)


def test_a_problem_of_ones_own_and_an_address_that_names_one_need_no_gallery() -> None:
    assert Dashboard(NonconvexQCQP(n=4)).rooms.open == "run"
    page = Dashboard()
    for query, room in (("?problem=Nonconvex+QCQP", "run"), ("?room=gallery", "gallery"), ("?room=cellar", "gallery")):
        page.read_address(query)
        assert page.rooms.open == room, query


def test_a_solver_is_picked_once_the_data_of_its_problem_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    picker = Picker()
    monkeypatch.setattr(BackgroundBuild, "ready", lambda *_: False)
    assert picker.pick("Network slicing", "Linearised ALM")
    assert picker.complaint == "Loading the data of Network slicing." and picker.solver_name == "ZO-SPLM"
    monkeypatch.undo()
    picker.suggest()
    assert picker.solver_name == "Linearised ALM" and not picker.pick("Nonconvex QCQP", "Linearised ALM")


def test_a_card_says_nothing_that_could_be_taken_for_html_and_magnitudes_are_logarithmic() -> None:
    assert "&lt;b&gt; " in card(0, SetUp("<b> ", "", "P", "S"), None)
    thumbnail = course("gap", np.arange(3.0), np.array([1.0, -0.1, 0.01]), True)
    assert thumbnail["points"] == [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]] and thumbnail["last"] == 0.01


def test_the_own_problem_that_it_shows_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = re.findall("<pre>(.*?)</pre>", Gallery([], {}, print).content, flags=re.DOTALL)
    module, _, command = html.unescape(block).partition("# in the folder of the module\n")
    (tmp_path / "my_module.py").write_text(module, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert minimize(find_problem("my_module:problem")).x == pytest.approx([1.0, 0.0], abs=1e-4)
    assert command.endswith("--args my_module:problem") and command in (ROOT / "README.md").read_text(encoding="utf-8")
