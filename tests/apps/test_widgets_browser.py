"""The form's widgets as a user meets them: typing, dragging, refusals, lists by keys alone."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import panel as pn
import param
import pytest

from helpers.serving import serving
from zoviz.core.parameters import Scale
from zoviz.core.threads.background_work import in_background
from zoviz.views.common.buttons import download_row
from zoviz.views.common.search_list import SearchList, SeveralList
from zoviz.views.common.small_fields import CheckBox, PlaceSlider
from zoviz.views.controls.parameter_forms import widget_for
from zoviz.views.upstream.bokeh import know_sent_models

if TYPE_CHECKING:
    from playwright.sync_api import Page


GROUPS = {"SZO-ConEX": "Zeroth-order", "ZO-SPLM": "Zeroth-order", "ZOSQP": "Black boxes with sqp"}


class Settings(param.Parameterized):
    step = Scale(
        0.01, softbounds=(1e-6, 10), label="Primal step c", doc="Primal step c, unlike Batch size, is a scale."
    )
    batch = param.Integer(
        50, bounds=(1, 4096), softbounds=(1, 1000), label="Batch size", doc="Directions per estimate."
    )
    budget = param.Integer(None, bounds=(1, None), allow_None=True, label="Budget")
    solver = param.Selector(
        default="ZOSQP", objects=["SZO-ConEX", "ZO-SPLM", "sqp-like", "ZOSQP", "SQP"], label="Solver"
    )
    keep = param.Boolean(False, label="Keep runs")
    place = param.Integer(100, bounds=(0, 100), label="Path up to")
    problems = param.List(["beam"], item_type=str, label="Problems")


@pytest.fixture
def settings() -> Settings:
    return Settings()


class Served:
    """A page with the widgets of ``settings``.

    Attributes
    ----------
    address : str
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.address = settings, ""
        self.document: Any = None  # once somebody has opened it

    def make(self) -> pn.Column:
        """The page."""
        self.document, settings = pn.state.curdoc, self.settings
        names = ["step", "batch", "budget"]
        widgets = {name: widget_for(settings.param[name]) for name in names}
        pane = pn.Param(settings, parameters=names, widgets=widgets, show_name=False)
        solver = SearchList.from_param(settings.param.solver, group=lambda title: GROUPS.get(title, "Others"))
        files = {"Table": ("t.csv", lambda: b"1,2"), "Figure": ("f.zip", lambda: in_background(lambda: b"drawn"))}
        others = [CheckBox.from_param(settings.param.keep), PlaceSlider.from_param(settings.param.place, words="half")]
        chosen = SeveralList.from_param(
            settings.param.problems, options={one: one for one in ("beam", "spring", "box")}
        )
        return pn.Column(pane, solver, *others, chosen, download_row(files), width=340)

    def set(self, **values: Any) -> None:
        """Set values as a run does, on the server's thread: once it has handled all that came before."""
        self.document.add_next_tick_callback(lambda: self.settings.param.update(**values))


@pytest.fixture
def served(settings: Settings) -> Iterator[Served]:
    one = Served(settings)
    with serving(one.make) as port:
        one.address = f"http://localhost:{port}/"
        yield one


@pytest.fixture
def address(served: Served) -> str:
    """Address of a page with the widgets of ``settings``."""
    return served.address


def until(condition: Callable[[], bool], page: Page, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        page.wait_for_timeout(20)


def test_type_drag_and_refuse(page: Page, served: Served, idle: Any, settings: Settings) -> None:
    page.goto(served.address)
    idle(page)
    step, batch, budget = (page.get_by_label(label, exact=True) for label in ("Primal step c", "Batch size", "Budget"))
    handle = page.locator(".logslider-step input[type=range]")

    batch.fill("abc")
    batch.press("Enter")
    page.get_by_text("Expected a whole number from 1 to 4096, got 'abc': the value stays 50.").wait_for()
    assert settings.batch == 50 and batch.input_value() == "abc"

    budget.fill("1_000")
    budget.press("Tab")  # leaving the field is as good as Enter
    until(lambda: settings.budget == 1000 and budget.input_value() == "1000", page)

    step.fill("1.2345e-3")
    step.press("Enter")
    until(lambda: abs(float(handle.input_value()) - math.log10(1.2345e-3)) < 0.03, page)  # half a step of the handle
    assert settings.step == 1.2345e-3
    handle.press("ArrowRight")
    until(lambda: settings.step > 1.2345e-3, page)
    until(lambda: float(step.input_value()) == settings.step, page)

    box, share = handle.bounding_box(), (float(handle.input_value()) + 6) / 7  # of the slider, from 1e-6 to 10
    begin, middle = box["x"] + 7 + share * (box["width"] - 14), box["y"] + box["height"] / 2
    page.mouse.move(begin, middle)
    page.mouse.down()
    texts = []
    for shift in (20, 40, 60):
        before = settings.step
        page.mouse.move(begin + shift, middle)
        until(lambda before=before: settings.step != before, page)  # live: the button is still down
        texts.append(settings.step)
    page.mouse.up()
    assert texts == sorted(texts) and texts[-1] < 10
    until(lambda: step.input_value() == format(settings.step, "g"), page)  # the drag's last place is answered

    served.set(step=123.456789)
    until(lambda: step.input_value() == "123.456789", page)
    batch.fill("60")
    batch.press("Enter")
    until(lambda: settings.batch == 60, page)  # what the page says comes in order
    assert settings.step == 123.456789  # no echo of the slider's grid


def test_a_row_is_moved_by_keys_and_says_where_it_is(page: Page, served: Served, idle: Any, settings: Settings) -> None:
    page.goto(served.address)
    idle(page)
    step, batch, budget = (page.get_by_label(label, exact=True) for label in ("Primal step c", "Batch size", "Budget"))
    handle, count = (page.get_by_role("slider", name=f"{label}, slider") for label in ("Primal step c", "Batch size"))

    step.press("ArrowUp")
    until(lambda: settings.step == 0.011, page)
    step.press("ArrowDown")
    until(lambda: settings.step == 0.01 and step.input_value() == "0.01", page)
    batch.press("ArrowDown")
    until(lambda: settings.batch == 49, page)
    handle.press("PageUp")  # half a decade
    until(lambda: settings.step == 0.0316 and handle.get_attribute("aria-valuetext") == "0.0316", page)
    served.set(batch=1)
    until(lambda: count.get_attribute("aria-valuetext") == "1", page)
    for value in (2, 3):
        count.press("ArrowRight")  # by one at least
        until(lambda value=value: settings.batch == value, page)

    step.fill("7")
    step.press("Escape")
    assert step.input_value() == "0.0316" and settings.step == 0.0316
    budget.fill("5")
    budget.press("Enter")
    back = page.get_by_role("button", name="Budget: auto")
    until(lambda: settings.budget == 5 and back.is_visible(), page)
    back.click()
    until(lambda: settings.budget is None and budget.input_value() == "auto" and not back.is_visible(), page)


def test_one_message_of_a_drag_is_on_its_way_and_the_last_place_arrives(
    page: Page, address: str, idle: Any, settings: Settings
) -> None:
    page.goto(address)
    idle(page)
    taken: list[float] = []
    dragged = threading.Event()

    def dawdle(event: param.parameterized.Event) -> None:
        taken.append(event.new)
        assert dragged.wait(120)

    settings.param.watch(dawdle, "step")
    handle, batch = page.locator(".logslider-step input[type=range]"), page.get_by_label("Batch size", exact=True)
    for _ in range(20):
        handle.press("ArrowRight")
    dragged.set()
    until(lambda: math.isclose(settings.step, 0.1, rel_tol=0.02), page)  # a decade on
    until(lambda: page.get_by_label("Primal step c", exact=True).input_value() == format(settings.step, "g"), page)
    batch.fill("60")
    batch.press("Enter")
    until(lambda: settings.batch == 60, page)  # what the page says comes in order
    assert len(taken) == 2 and taken == sorted(taken) and math.isclose(settings.step, 0.1, rel_tol=0.02)


def test_a_list_opens_searches_chooses_and_closes_by_keys(
    page: Page, served: Served, idle: Any, settings: Settings
) -> None:
    page.goto(served.address)
    idle(page)
    box, options, keys = page.get_by_role("combobox", name="Solver"), page.get_by_role("option"), page.keyboard
    box.focus()
    for opener in ("Enter", "Space", "ArrowDown", "ArrowUp"):
        keys.press(opener)
        assert options.count() == 5 and box.get_attribute("aria-expanded") == "true", opener
        keys.press("Escape")
        assert options.count() == 0 and box.input_value() == settings.solver == "ZOSQP", opener
    box.click()
    assert options.count() == 5, "a click"
    keys.type("sqp")  # the search has the focus
    assert options.all_inner_texts() == ["SQP", "sqp-like", "ZOSQP"], "the best first, group by group"
    keys.press("ArrowDown")
    keys.press("Enter")
    assert options.count() == 0 and box.input_value() == "sqp-like"
    until(lambda: settings.solver == "sqp-like", page)
    keys.type("zo spl")  # a letter opens it, and every word is sought
    assert options.all_inner_texts() == ["ZO-SPLM"]
    keys.press("Tab")
    assert options.count() == 0 and box.input_value() == settings.solver == "sqp-like", "what is left is not chosen"
    box.focus()
    keys.type("zeroth")
    assert options.all_inner_texts() == ["SZO-ConEX", "ZO-SPLM"], "a group is found, too"
    options.last.click()
    until(lambda: settings.solver == "ZO-SPLM", page)
    box.click()
    box.fill("nothing like it")
    keys.press("Enter")
    assert settings.solver == "ZO-SPLM" and page.get_by_text("Nothing matches.").is_visible()
    box.fill("sqp")
    keys.press("ArrowDown")
    choices = ["ZO-SPLM", "ZOSQP", "sqp-like"]
    served.document.add_next_tick_callback(lambda: setattr(settings.param.solver, "objects", choices))
    until(lambda: options.all_inner_texts() == ["sqp-like", "ZOSQP"], page)  # other choices while it is open
    assert box.input_value() == "sqp" and page.locator("[role=option].at").inner_text() == "sqp-like", "the place stays"
    keys.press("Escape")
    served.document.add_next_tick_callback(lambda: setattr(settings.param.solver, "constant", True))
    until(box.is_disabled, page)


def test_boxes_places_and_lists_of_several_are_moved_by_keys(
    page: Page, served: Served, idle: Any, settings: Settings
) -> None:
    page.goto(served.address)
    idle(page)
    keys = page.keyboard
    page.get_by_role("checkbox", name="Keep runs").focus()
    keys.press("Space")
    until(lambda: settings.keep, page)
    place = page.get_by_role("slider", name="Path up to")
    assert place.get_attribute("aria-valuetext") == "half"
    for _ in range(3):
        place.press("ArrowLeft")
    until(lambda: settings.place == 97, page)
    served.set(keep=False, place=5)
    until(lambda: not page.get_by_role("checkbox", name="Keep runs").is_checked() and place.input_value() == "5", page)

    box, options = page.get_by_role("combobox", name="Problems"), page.get_by_role("option")
    box.focus()
    for word in ("spr", "box"):  # it stays open, and the next word takes the place of the last
        keys.type(word)
        keys.press("Enter")
        until(lambda: options.count() == 1 and options.first.get_attribute("aria-selected") == "true", page)
    keys.press("Escape")
    assert options.count() == 0 and box.input_value() == ""
    until(lambda: settings.problems == ["beam", "spring", "box"], page)
    page.get_by_role("button", name="Remove beam").press("Enter")
    until(lambda: settings.problems == ["spring", "box"], page)


@pytest.mark.parametrize("key", ["Enter", "Space"])
@pytest.mark.parametrize("name, file, content", [("Table", "t.csv", b"1,2"), ("Figure", "f.zip", b"drawn")])
def test_a_file_is_downloaded_by_a_key(
    page: Page, address: str, idle: Any, name: str, file: str, content: bytes, key: str
) -> None:
    page.goto(address)
    idle(page)
    with page.expect_download() as coming:
        page.get_by_role("button", name=name).press(key)
    assert coming.value.suggested_filename == file and Path(coming.value.path()).read_bytes() == content


@pytest.fixture
def room_address(settings: Settings) -> Iterator[str]:
    """Address of a page to which a list is added once it stands."""

    def make() -> pn.Column:
        room = pn.Column()
        know_sent_models(pn.state.curdoc)
        pn.state.onload(lambda: room.append(SearchList.from_param(settings.param.solver)))
        return room

    with serving(make) as port:
        yield f"http://localhost:{port}/"


def test_the_first_choice_in_a_room_that_came_later_is_heard(
    page: Page, room_address: str, idle: Any, settings: Settings
) -> None:
    page.goto(room_address)
    box = page.get_by_role("combobox", name="Solver")
    box.click()
    page.get_by_role("option", name="SQP", exact=True).click()
    until(lambda: settings.solver == "SQP", page)
    assert box.input_value() == "SQP"
