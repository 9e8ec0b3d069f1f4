"""The room of the papers' experiments in a browser: from a card to a running figure with the paper's numbers."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.dashboard_page import Lab

LIVE = {
    "splm-table-2": ("plot-Stationarity", "paper: 496 iterations (Table 2)"),
    "zoeg-table-2": ("plot-Gap", "paper: 5, 1, 0.1 % error, block 5 (Table 2)"),
    "conex-table-2": ("plot-Objective", "paper: SZO-ConEX 1.9 (Table 2)"),
    "salm-theorem-5-7": ("plot-Violation", "paper: order T^(-1/3) (Theorem 5.7)"),
    "sogd-fig-2": ("plot-Application", "paper: ‖y‖∞ no larger than 4 (§5.1)"),
}
"""An experiment of each paper, the plot that one of the paper's numbers stands on, and its note there."""
PATIENCE = 150
"""Seconds: data are loaded, a classifier is trained, and modules of all papers imported."""

# How many lines of a paper's numbers a plot draws, and whether the ranges heed them.
PRINTED = """
const plot = find(a), printed = r => r.glyph.line_color?.value === "#e02424";
return [plot.renderers.filter(printed).length, plot.renderers.filter(r => printed(r) && r.tags.length).length];
"""
# The name of the first curve of the first panel, and where its middle point is, in pixels of the window.
MIDDLE = """
const view = Bokeh.index.find_one(find("panel-0")), line = view.model.renderers.find(r => r.glyph.type === "Line");
const {x, y} = line.data_source.data, i = Math.floor(x.length / 2), box = view.el.getBoundingClientRect();
return [line.name, box.x + view.frame.x_scale.compute(x[i]), box.y + view.frame.y_scale.compute(y[i])];
"""


def open_room(lab: Lab) -> None:
    """Open the room, and wait for its cards."""
    lab.enter("Experiments")
    lab.page.locator("article.card").first.wait_for(timeout=1000 * PATIENCE)


def in_sight(lab: Lab, place: Any) -> bool:
    """Whether something stands within the window."""
    box, size = place.bounding_box(), lab.page.viewport_size
    return bool(box and size and 0 <= box["y"] and box["y"] + box["height"] <= size["height"])


@pytest.mark.slow
@pytest.mark.parametrize("name", LIVE)
def test_a_click_on_a_card_runs_it_with_the_papers_number_on_the_plot(lab: Lab, name: str) -> None:
    plot, label = LIVE[name]
    open_room(lab)
    lab.page.locator(f"article[data-name='{name}']").get_by_role("button", name="live").click()
    lab.until(lambda: lab.iteration() > 1, "the run takes steps", PATIENCE)
    lab.until(lambda: lab.page.locator(".bk-Figure:visible").count() > 0, "the plots are in sight", PATIENCE)
    lab.until(lambda: any(text.startswith(label) for text in lab.notes(plot)), f"{plot} has {label}", PATIENCE)
    drawn, ranged = lab.js(PRINTED, plot)
    assert drawn >= 1 and ranged == 0, "the ranges are those of what is measured"
    lab.until(lambda: "room=" not in lab.page.url, "the address is that of the room of the run")


@pytest.mark.slow
def test_the_numbers_go_with_the_next_run_from_the_form(lab: Lab) -> None:
    plot, label = LIVE["zoeg-table-2"]
    open_room(lab)
    lab.page.get_by_role("button", name="Run zoeg Table 2 live").click()
    lab.until(lambda: any(text.startswith(label) for text in lab.notes(plot)), "the number is there", PATIENCE)
    lab.end("finished")
    lab.press("Start")
    lab.until(lambda: lab.iteration() > 1, "the next run takes steps")
    lab.until(lambda: lab.notes(plot) and not any("paper:" in text for text in lab.notes(plot)), "it has gone")
    assert lab.js(PRINTED, plot) == [0, 0]


@pytest.mark.slow
def test_pictures_come_with_their_cards_and_a_curve_leads_to_its_runs(lab: Lab) -> None:
    open_room(lab)
    pictures = lab.page.locator("article.card svg")
    lab.until(lambda: pictures.count() > 0, "cards in sight have pictures")
    few, cards = pictures.count(), lab.page.locator("article.card").count()
    assert few < cards, "the others wait until they are in sight"
    lab.page.locator("article.card").last.scroll_into_view_if_needed()
    lab.until(lambda: pictures.count() > few, "they come")
    card = lab.page.get_by_role("button", name="Figures and verdicts of salm multipliers")
    card.click()
    lab.page.get_by_text("Claims and our verdicts").wait_for(timeout=1000 * PATIENCE)
    back = lab.page.get_by_role("button", name="All experiments")
    table, below = (
        lab.page.get_by_role("table", name=name) for name in ("Claims and our verdicts", "as a share of its start")
    )
    ends = [table.bounding_box()["y"] + table.bounding_box()["height"], below.bounding_box()["y"]]
    assert ends == sorted(ends), "claims are not cut off"
    lab.until(lambda: in_sight(lab, back), "a sheet begins at its top")
    back.click()
    lab.until(lambda: in_sight(lab, card), "the cards are where they were")
    lab.page.get_by_role("button", name="Figures and verdicts of splm Fig. 1").click()
    lab.page.get_by_text("Claims and our verdicts").wait_for(timeout=1000 * PATIENCE)
    lab.until(lambda: "experiment=splm-fig-1" in lab.page.url, "the address says so")
    lab.until(lambda: lab.js("return !!Bokeh.index.find_one(find('panel-2'))"), "figures are drawn")
    lab.page.locator(".bk-Figure:visible").first.scroll_into_view_if_needed()
    lab.page.wait_for_timeout(500)
    curve, x, y = lab.js(MIDDLE)
    lab.page.mouse.click(x, y)
    lab.page.get_by_text(f"{curve}: made of 1 part of zoviz reproduce splm-fig-1 --full").wait_for()
    assert lab.page.get_by_role("cell", name=f"n = 50 / {curve}", exact=True).is_visible()
    lab.page.get_by_role("button", name=f"Run live: {curve}, n = 50").last.click()
    lab.until(lambda: lab.iteration() > 1, "it runs", PATIENCE)
    lab.end("finished")
    lab.visit(lab.page.url.partition("?")[0] + "?room=experiments&experiment=splm-fig-1")
    lab.page.get_by_text("Claims and our verdicts").wait_for(timeout=1000 * PATIENCE)
