"""How long the page takes from a click on Start to a run's first line on the screen.

``python -m helpers.first_line`` from ``tests``. A page cannot tell when what it drew is shown: Chromium's own record
(its tracing) can. The time ends where the compositor hands over the first frame with more than three points of a
coloured line in it, and the click is the browser's event.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.page_states import CHROMIUM
from helpers.serving import DASHBOARD, start

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WAIT = "() => window.Bokeh && Bokeh.documents.length && Bokeh.documents.every(document => document.is_idle)"
# Marks in Chromium's record: the click, and the first stroke in a colour on a plot that is in sight.
MARK = r"""
() => {
    const prototype = CanvasRenderingContext2D.prototype, {beginPath, lineTo, stroke} = prototype;
    let points = 0, clicked = false;
    window.drawn = false;
    const begin = () => {
        performance.mark("click");
        clicked = true;
    };
    document.addEventListener("click", begin, {capture: true, once: true});
    const coloured = style => {
        const parts = /^#(..)(..)(..)/.exec(style)?.slice(1).map(part => parseInt(part, 16));
        return parts && Math.max(...parts) - Math.min(...parts) > 60;
    };
    prototype.beginPath = function () { points = 0; return beginPath.call(this); };
    prototype.lineTo = function (...at) { points += 1; return lineTo.apply(this, at); };
    prototype.stroke = function (...path) {
        if (clicked && !window.drawn && points > 3 && coloured(this.strokeStyle)) {
            const {top, width, height} = this.canvas.getBoundingClientRect();
            if (width > 150 && height > 80 && top >= 0 && top < innerHeight) {
                window.drawn = true;
                performance.mark("drawn");
            }
        }
        return stroke.apply(this, path);
    };
}
"""


STAGES = (
    "click",
    "drawn",
    "ProxyImpl::Commit",
    "LayerTreeHostImpl::ActivateSyncTree",
    "SoftwareRenderer::SwapBuffers",
)
"""What a frame goes through from the page to the screen, in Chromium's words."""


def shown(events: list[dict]) -> float:
    """Return the seconds from the click to the swap of the frame in which a line was first drawn, from a record."""
    ends = {name: sorted(one["ts"] + one.get("dur", 0) for one in events if one["name"] == name) for name in STAGES}
    time = ends["drawn"][0]
    for stage in STAGES[2:]:
        time = next(end for end in ends[stage] if end >= time)
    return (time - ends["click"][0]) / 1e6


def measure(browser: Browser, url: str, record: Path) -> float:
    """Return the seconds of one Start on a page opened anew."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(url, timeout=60_000)
    page.wait_for_function(WAIT, timeout=60_000)
    button = page.get_by_role("button", name="Start", exact=True)
    button.wait_for(timeout=60_000)
    page.wait_for_timeout(2500)  # what a page makes when it is idle
    page.evaluate(MARK)
    browser.start_tracing(page=page, path=record, categories=["blink.user_timing", "cc", "viz"])
    button.click()
    page.wait_for_function("() => window.drawn", timeout=30_000, polling=100)
    page.wait_for_timeout(500)
    browser.stop_tracing()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.wait_for_timeout(1000)
    context.close()
    return shown(json.loads(record.read_text())["traceEvents"])


def main() -> None:
    """Measure several times, and print every time and the median."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--times", type=int, default=10)
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = start(DASHBOARD, Path(folder) / "server.log", ())
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            seconds = [measure(browser, server.url, Path(folder) / "record.json") for _ in range(times + 1)][1:]
        finally:
            browser.close()
            server.stop()
    print("Start to the first line on the screen, s:", *(f"{one:.2f}" for one in seconds))
    print(f"median {statistics.median(seconds):.2f}")


if __name__ == "__main__":
    main()
