"""The header: what it takes from a browser, and what it shows of a run in other rooms; its looks: tests/apps."""

from __future__ import annotations

import panel as pn
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from helpers.waiting import until
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import RUN
from zoviz.views.app.header import THEME_COOKIE, Header, begins_dark
from zoviz.views.app.rooms import Room, Rooms
from zoviz.views.common.design import DARK, LIGHT
from zoviz.views.common.run_controller import RunController
from zoviz.views.controls.run_form import RunForm


@pytest.fixture
def controller() -> RunController:
    return RunController(RunForm(NonconvexQCQP(n=4), ZOSPLM()))


@pytest.fixture
def header(controller: RunController) -> Header:
    rooms = Rooms([Room("gallery", "Gallery", pn.Column), Room(RUN, "Run", pn.Column)])
    return Header(controller, rooms, RUN)


@pytest.mark.parametrize(
    ("said", "dark"),
    [("dark", True), ("system-dark", True), ("light", False), ("system-light", False), ("", False), ("<b>", False)],
)
def test_a_page_begins_as_the_last_one_was(said: str, dark: bool) -> None:
    assert begins_dark({THEME_COOKIE: said} if said else {}) is dark


def test_a_tab_opens_its_room(header: Header) -> None:
    assert header.rooms == [["gallery", "Gallery"], [RUN, "Run"]] and header.open == "gallery"
    header.take({"open": RUN})
    assert header.open == RUN


@pytest.mark.parametrize(
    "message", [None, "run", {"open": "attic"}, {"open": ["run"]}, {"stop": 1}, {"theme": "red"}, {}]
)
def test_what_else_a_browser_may_send_is_left_alone(header: Header, message: object) -> None:
    document = Document()
    before = document.theme
    with set_curdoc(document):
        header.take(message)
    assert header.open == "gallery" and document.theme is before


def test_figures_are_drawn_as_light_or_dark_as_the_page(header: Header) -> None:
    document = Document()
    for word, theme in (("dark", DARK), ("light", LIGHT)):
        with set_curdoc(document):
            header.take({"theme": word})
        assert document.theme is theme


def test_another_room_names_the_run_that_goes_on_and_stops_it(controller: RunController, header: Header) -> None:
    def looked(status: str) -> bool:
        controller.refresh()
        return controller.status == status

    controller.start()
    until(lambda: looked("running"))
    assert header.chip == "ZO-SPLM: running"
    header.take({"open": RUN})
    assert header.chip == ""
    header.take({"open": "gallery"})
    header.take({"stop": True})
    until(lambda: looked("stopped"))
    assert header.chip == ""
