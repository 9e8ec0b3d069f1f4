"""The first minute in a real browser: gallery, rooms, keys, tour, full screen; and what a screen reader finds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from helpers.accessibility import serious
from helpers.dashboard_page import Lab
from helpers.serving import Server

# How high the plot of this name is drawn.
HEIGHT = "return Bokeh.index.find_one(find(a)).el.getBoundingClientRect().height"


def check_keys_and_full_screen(lab: Lab) -> None:
    """Space holds and lets go, but not while a person types; F fills the screen with the plot under the pointer."""
    keyboard = lab.page.keyboard
    keyboard.press("Space")
    lab.end("paused")
    lab.field("Batch size k").focus()
    keyboard.press("Space")
    keyboard.press("s")
    lab.page.locator(".zoviz-status").click()
    lab.page.wait_for_timeout(500)
    assert lab.status() == "paused"
    keyboard.press("Space")
    lab.end("running")
    low = lab.js(HEIGHT, "plot-Gap")
    lab.page.locator(".bk-Figure").first.hover()
    keyboard.press("f")
    lab.until(lambda: lab.js(HEIGHT, "plot-Gap") > 2 * low, "the plot fills the screen")
    keyboard.press("f")
    lab.until(lambda: lab.js(HEIGHT, "plot-Gap") == low, "it is as it was")
    keyboard.press("f")
    keyboard.press("f")
    lab.page.wait_for_timeout(1000)
    assert lab.js(HEIGHT, "plot-Gap") == low and lab.js("return document.fullscreenElement === null"), "twice quickly"
    keyboard.press("s")
    lab.end("stopped")


def assert_in_sight(lab: Lab, tour: Any) -> None:
    """The tour's card lies within the window, and its ring around a part that can be seen, if it has one."""
    width, ring = lab.page.viewport_size["width"], lab.page.locator(".ring").bounding_box()
    boxes = [tour.bounding_box(), *([] if ring is None else [ring])]
    outside = [box for box in boxes if min(box["x"], box["y"]) < -6 or box["x"] + box["width"] > width + 6]
    assert not outside and all(box["width"] > 9 for box in boxes), boxes


def check_tour(lab: Lab) -> None:
    """The sheet of keys leads to the tour, which goes on, back, and away."""
    lab.page.keyboard.press("?")
    lab.press("Take the tour")
    tour = lab.page.get_by_role("dialog", name="Tour")
    assert "1 of 5" in tour.inner_text()
    assert_in_sight(lab, tour)
    lab.press("Next")
    assert "Parameters" in tour.inner_text()
    lab.page.keyboard.press("Escape")
    assert tour.is_hidden()


@pytest.mark.slow
def test_a_first_minute(lab: Lab) -> None:
    lab.enter("Gallery")
    card = lab.page.get_by_role("button", name="A first descent")
    card.wait_for()
    assert lab.page.locator(".bk-Figure").first.is_hidden()
    card.click()
    lab.end("running")
    lab.until(lambda: lab.page.locator(".bk-Figure").first.is_visible(), "the plots are shown")
    # The focus is the card's until the browser notices that it is hidden.
    lab.until(lambda: lab.js("return document.activeElement === document.body"), "keys are the page's")
    check_keys_and_full_screen(lab)
    lab.enter("Stored runs")
    lab.page.locator(".tabulator-row").first.wait_for()
    lab.until(lambda: "room=runs" in lab.page.url, "the address says so")
    check_tour(lab)
    lab.visit(lab.page.url.partition("?")[0] + "?room=runs")
    lab.page.locator(".tabulator-row").first.wait_for()


@pytest.mark.slow
def test_the_address_follows_what_is_set_and_another_page_shows_the_same(
    lab: Lab, open_lab: Callable[..., Lab]
) -> None:
    lab.type("Batch size k", "7")
    lab.page.get_by_label("Log x").click()
    lab.until(lambda: "batch_size=7" in lab.page.url and "log_x=true" in lab.page.url, "the address says so")
    other = open_lab(lab.page.url)
    other.until(lambda: other.field("Batch size k").input_value() == "7", "the batch size is the same")
    assert other.page.get_by_label("Log x").is_checked()


@pytest.mark.slow
def test_a_run_goes_on_in_other_rooms_with_a_way_back_and_stop(lab: Lab) -> None:
    lab.press("Start")
    lab.end("running")
    lab.enter("Compare")
    lab.until(lambda: lab.enabled("Stop the run"), "the run is named in the header")
    assert not lab.enabled("Stop") and lab.page.get_by_role("button", name="ZO-SPLM: running").is_visible()
    lab.press("Stop the run")
    lab.until(lambda: not lab.enabled("Stop the run"), "it has ended")
    lab.enter("Run")
    lab.end("stopped")


@pytest.mark.slow
def test_problems_and_solvers_are_found_and_chosen_by_keys_alone(lab: Lab) -> None:
    keys, options = lab.page.keyboard, lab.page.locator("[role=option]:visible")  # not those of the browser's own lists
    problem, solver = (lab.page.get_by_role("combobox", name=name) for name in ("Problem", "Solver"))
    problem.focus()
    keys.press("Enter")
    for group in ("Engineering design", "Online bilevel"):
        lab.page.get_by_role("group", name=group).wait_for()
    many = options.count()
    keys.type("beam")
    assert options.count() < many / 4, "what does not match is left out"
    keys.press("Enter")
    assert options.count() == 0 and problem.input_value() == "Welded beam design"
    lab.until(lambda: solver.input_value() == "ZOSQP", "the solvers are offered")
    solver.focus()
    keys.type("splm")
    keys.press("Enter")
    lab.until(lambda: lab.page.get_by_label("Primal step c", exact=True).is_visible(), "the solver's form is there")
    assert solver.input_value() == "ZO-SPLM"


CONTROLS = ", ".join(
    f"{one}:visible"
    for one in ("button", "input", "select", "textarea", "a[href]", "summary", "[role=combobox]", "[tabindex='0']")
)
# The controls that Tab must come to, each by a number of its own; of a group whose members the arrows reach, any one.
NUMBER = """all => all.map((e, i) => {
    const group = e.closest("[role=tablist], [role=radiogroup], [role=group], [role=rowgroup]");
    (group ?? e).number ??= i;
    const name = e.ariaLabel || e.labels?.[0]?.innerText || e.innerText || e.title || e.outerHTML.slice(0, 160);
    const off = e.disabled || e.ariaDisabled === "true" || e.type === "file" || e.ariaHidden === "true";
    return [off ? -1 : (group ?? e).number, name.trim()];
}).filter(([number]) => number >= 0)"""
ACTIVE = """() => {
    let e = document.activeElement;
    while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
    return (e?.closest("[role=tablist], [role=radiogroup], [role=group], [role=rowgroup]") ?? e)?.number ?? -1;
}"""


# Of the row that has the focus its place, what a screen reader is told of it, and whether it is ticked; and all places.
ROW = """() => {
    let e = document.activeElement;
    while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
    const rows = [...(e?.closest(".tabulator-table")?.children ?? [])];
    return [rows.indexOf(e), e?.ariaLabel ?? "", e?.ariaSelected, rows.length];
}"""


def tab_to_rows(lab: Lab) -> None:
    """Press Tab until a row of a table has the focus."""
    for _ in range(60):
        lab.page.keyboard.press("Tab")
        if lab.page.evaluate(ROW)[0] >= 0:
            break
    assert lab.page.evaluate(ROW)[0] >= 0


def out_of_reach(lab: Lab, steps: int = 250) -> list[str]:
    """Return the names of the controls in sight that the Tab key does not come to."""
    controls = lab.page.locator(CONTROLS).evaluate_all(NUMBER)
    reached = set()
    for _ in range(steps):
        lab.page.keyboard.press("Tab")
        reached.add(lab.page.evaluate(ACTIVE))
        if reached >= {number for number, _ in controls}:
            return []
    enabled = {number for number, _ in lab.page.locator(CONTROLS).evaluate_all(NUMBER)}  # the run may have ended
    return [name for number, name in controls if number in enabled - reached]


BLUR = "let e = document.activeElement; while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement; e.blur()"


def visit_rooms(lab: Lab, check: Callable[[str], None]) -> None:
    """Call a check in each state of a page: as it opens, with a run at work, the drawer open, its other rooms."""
    lab.enter("Gallery")
    lab.page.get_by_role("button", name="A first descent").wait_for()
    check("first screen")
    lab.page.get_by_role("button", name="A first descent").click()
    lab.page.mouse.move(2, 2)  # a plot's own tools are there while the pointer is over it, and for the pointer only
    lab.end("running")
    lab.until(lambda: len(lab.data("source-run1", "x")) > 5, "there are lines")
    lab.complete()
    check("running")
    lab.press("Diagnosis")
    lab.page.locator(".bars").wait_for()
    check("drawer open")
    for tab in ("Problem", "Solver", "Run"):
        lab.unfold(tab)
        check(f"tab {tab}")
    lab.end("finished")
    low = lab.js(HEIGHT, "plot-Gap")
    lab.js(BLUR)  # a field that has the focus would take the key
    lab.page.locator(".bk-Figure").locator("visible=true").first.hover()
    lab.page.keyboard.press("f")
    lab.until(lambda: lab.js(HEIGHT, "plot-Gap") > 2 * low, "the plot fills the screen")
    check("full screen")
    lab.page.keyboard.press("f")
    lab.until(lambda: lab.js(HEIGHT, "plot-Gap") == low, "it is as it was")
    lab.enter("Stored runs")
    lab.page.locator(".tabulator-row").first.wait_for()
    check("stored runs")
    lab.page.locator(".tabulator-row input[type=checkbox]").first.click()
    lab.until(lambda: lab.enabled("Open"), "one run chosen")
    lab.press("Open")
    lab.page.get_by_text("chosen automatically").wait_for()
    check("details of a stored run")


@pytest.mark.slow
@pytest.mark.parametrize("look", ["light", "dark"])
def test_a_screen_reader_finds_its_way(open_lab: Callable[..., Lab], server: Server, look: str) -> None:
    lab = open_lab(server.url, color_scheme=look, viewport={"width": 1440, "height": 900})
    complaints: dict[str, list[str]] = {}

    def check(state: str) -> None:
        complaints[state] = serious(lab.page)

    visit_rooms(lab, check)
    assert len(complaints) >= 9 and complaints == dict.fromkeys(complaints, [])


@pytest.mark.slow
def test_every_control_is_reached_by_keys(lab: Lab) -> None:
    unreached: dict[str, list[str]] = {}

    def check(state: str) -> None:
        if state != "full screen":  # the plot covers the rest
            unreached[state] = out_of_reach(lab)

    visit_rooms(lab, check)
    assert len(unreached) >= 8 and unreached == dict.fromkeys(unreached, [])


@pytest.mark.slow
@pytest.mark.parametrize("look", ["light", "dark"])
def test_experiments_are_found_by_screen_readers_and_keys(
    open_lab: Callable[..., Lab], server: Server, look: str
) -> None:
    lab = open_lab(server.url, color_scheme=look, viewport={"width": 1440, "height": 900})
    lab.enter("Experiments")
    lab.page.locator("article.card svg").first.wait_for(timeout=1000 * 2 * lab.patience)
    assert serious(lab.page) == [] and out_of_reach(lab) == [], "cards"
    lab.page.get_by_role("button", name="Figures and verdicts of splm Fig. 1").click()
    lab.page.get_by_text("Claims and our verdicts").wait_for()
    assert serious(lab.page) == [] and out_of_reach(lab) == [], "a sheet"


@pytest.mark.slow
def test_stored_runs_are_ticked_opened_and_labelled_by_keys(lab: Lab) -> None:
    press = lab.page.keyboard.press
    lab.settle(Seconds="auto", Iterations="30", Replicas="2")
    for key in ("run1", "run2", "run3"):
        lab.start(key)
        lab.end("finished")
    lab.enter("Stored runs")
    lab.page.locator(".tabulator-row").nth(2).wait_for()
    tab_to_rows(lab)
    place, name, ticked, many = lab.page.evaluate(ROW)
    assert (place, ticked) == (0, "false") and many >= 3
    assert "Nonconvex QCQP, ZO-SPLM" in name and "finished" in name
    for key, expected in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("Home", 0), ("End", many - 1)):
        press(key)
        assert lab.page.evaluate(ROW)[0] == expected, key
    press("Home")
    press("ArrowDown")
    press("Space")
    lab.until(lambda: lab.page.evaluate(ROW)[2] == "true" and lab.enabled("Open"), "Space ticks the row")
    assert lab.status() == "finished", "and does nothing to the run"
    press("Enter")
    lab.page.get_by_text("chosen automatically").wait_for()
    lab.until(lambda: lab.page.evaluate(ROW)[0] == 1, "the row keeps the focus")
    press("F2")
    lab.page.keyboard.type("by keys")
    press("Enter")
    lab.until(lambda: "by keys" in lab.page.evaluate(ROW)[1], "the label is the row's, which has the focus again")
    press("Tab")
    assert lab.page.evaluate(ROW)[0] == -1, "Tab leaves the table"
    press("Shift+Tab")
    assert lab.page.evaluate(ROW)[0] == 1, "and comes back to the same row"


@pytest.mark.slow
def test_rooms_and_buttons_stand_in_one_line_each_on_a_narrow_window(
    open_lab: Callable[..., Lab], server: Server
) -> None:
    for width, height in ((1100, 700), (1440, 900)):
        lab = open_lab(server.url, viewport={"width": width, "height": height})
        for names in (
            ("Gallery", "Experiments", "Stored runs", "Copy link", "Help and keys"),
            ("Start", "Stop", "Undo"),
        ):
            button, tab = (partial(lab.page.get_by_role, role, exact=True) for role in ("button", "tab"))
            boxes = [button(name=name).or_(tab(name=name)).first.bounding_box() for name in names]
            middles = [box["y"] + 0.5 * box["height"] for box in boxes]
            assert max(middles) - min(middles) < 12 and max(box["x"] + box["width"] for box in boxes) <= width


# How far down the picture and the last of the four plots reach, in pixels of the window.
REACH = """
const low = name => Bokeh.index.find_one(find(name))?.el.getBoundingClientRect().bottom ?? Infinity;
return ["picture-QuadraticSlice", "plot-Variance"].map(low);
"""


@pytest.mark.slow
def test_picture_plots_and_runs_are_seen_without_scrolling(open_lab: Callable[..., Lab], server: Server) -> None:
    lab = open_lab(server.url, viewport={"width": 1440, "height": 900})
    lab.settle(Seconds="auto", Iterations="300")
    lab.start()
    lab.end("finished")
    lab.until(lambda: lab.js(REACH)[0] > 0, "the picture is drawn")
    row = lab.row("run1").bounding_box()
    assert max(*lab.js(REACH), row["y"] + row["height"]) <= 900
