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
    def hidden() -> int:
        count, seen = lab.js(SEEN)
        return 0 if seen else count

    assert lab.until(hidden, f"no hidden part is seen {when}") > 3, "some parts are hidden at any time"


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
        lab.until(lambda: not bars.is_visible(), "the drawer is closed")
        lab.until(lambda: not lab.page.get_by_role("button", name="Certify this point").is_visible(), "with its button")
        assert_nothing_hidden_is_seen(lab, "after it was closed")
    for room, part in (("Experiments", "article.card"), ("Compare", "table.zoviz-compare"), ("Run", ".bk-Figure")):
        lab.enter(room)
        lab.page.locator(part).locator("visible=true").first.wait_for()
        assert_nothing_hidden_is_seen(lab, f"in the room {room}")
