"""What the page hides is not to be seen, whatever its style sheets say, in a real browser."""

from __future__ import annotations

from helpers.dashboard_page import Lab

# How many parts of the layout that are hidden are in the page's document, and the types of those with a place on it.
SEEN = """
    const parts = [...document.querySelectorAll("*")], seen = [];
    for (const part of parts) parts.push(...(part.shadowRoot?.querySelectorAll("*") ?? []));
    const known = new Map();
    for (const d of Bokeh.documents) for (const m of d._all_models.values()) {
        const el = m.visible === false && m.sizing_mode !== undefined ? Bokeh.index.find_one(m)?.el : undefined;
        if (el instanceof Element) known.set(el, m);
    }
    const there = parts.filter(part => known.has(part));
    for (const part of there) if (getComputedStyle(part).display !== "none") seen.push(known.get(part).type);
    return [there.length, seen];
"""


def assert_nothing_hidden_is_seen(lab: Lab, when: str) -> None:
    lab.page.wait_for_timeout(300)
    hidden, seen = lab.js(SEEN)
    assert hidden > 3, "some parts are hidden at any time"
    assert seen == [], when


def test_a_closed_drawer_and_closed_rooms_are_not_to_be_seen(lab: Lab) -> None:
    lab.settle(Seconds="auto", Iterations="200", Replicas="2")
    lab.start()
    lab.end("finished")
    switch, bars = lab.page.get_by_role("button", name="Diagnosis", exact=True), lab.page.locator(".bars")
    for _ in range(2):
        switch.click()
        lab.until(lambda: bars.count() == 1 and bars.is_visible(), "the drawer is open")
        assert_nothing_hidden_is_seen(lab, "while it is open")
        lab.press("Close Diagnosis")
        lab.until(lambda: not bars.is_visible(), "the drawer is closed", 10)
        assert not lab.page.get_by_role("button", name="Certify this point").is_visible()
        assert_nothing_hidden_is_seen(lab, "after it was closed")
    for room in ("Experiments", "Compare", "Run"):
        lab.enter(room)
        assert_nothing_hidden_is_seen(lab, room)
