"""The first minute in a real browser: gallery, rooms, keys, tour, full screen; and what a screen reader finds."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.dashboard_page import Lab

# How high the plot of this name is drawn.
HEIGHT = "return Bokeh.index.find_one(find(a)).el.getBoundingClientRect().height"
KNOWN = "tabulator"
"""Whose grid names its body by an id that it does not give: Tabulator's own."""


def serious(lab: Lab) -> list[str]:
    """What axe-core finds wrong with the page that is serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    # Colours change in a transition: one that is half done has the contrast of neither.
    lab.page.wait_for_timeout(1500)
    response: dict[str, Any] = Axe().run(lab.page, options={"resultTypes": ["violations"]}).response
    return [
        f"{one['id']} {node['target']} {node['html'][:120]} {[check['message'] for check in node['any']]}"
        for one in response["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
        if KNOWN not in str(node["target"])
    ]


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
    keyboard.press("s")
    lab.end("stopped")


def check_tour(lab: Lab) -> None:
    """The sheet of keys leads to the tour, which goes on, back, and away."""
    lab.page.keyboard.press("?")
    lab.press("Take the tour")
    tour = lab.page.get_by_role("dialog", name="Tour")
    assert "1 of 5" in tour.inner_text()
    lab.press("Next")
    assert "Parameters" in tour.inner_text()
    lab.page.keyboard.press("Escape")
    assert tour.is_hidden()


@pytest.mark.slow
def test_a_first_minute_and_what_a_screen_reader_finds(lab: Lab) -> None:
    warnings: list[str] = []
    lab.page.on("console", lambda m: warnings.append(m.text) if m.type == "warning" and "range" in m.text else None)
    assert serious(lab) == []
    card = lab.page.get_by_role("button", name="A first descent")
    assert card.is_visible() and lab.page.locator(".bk-Figure").first.is_hidden()
    card.click()
    lab.end("running")
    lab.until(lambda: lab.page.locator(".bk-Figure").first.is_visible(), "the plots are shown")
    check_keys_and_full_screen(lab)
    assert serious(lab) == []
    lab.press("Stored runs")
    lab.page.locator(".tabulator-row").first.wait_for()
    lab.until(lambda: "room=runs" in lab.page.url, "the address says so")
    assert lab.status() == "stopped" and serious(lab) == []
    lab.press("Toggle theme")
    for room in ("Gallery", "Run"):
        lab.press(room)
        assert serious(lab) == [], room
    check_tour(lab)
    assert warnings == []
    lab.visit(lab.page.url.partition("?")[0] + "?room=runs")
    lab.page.locator(".tabulator-row").first.wait_for()
