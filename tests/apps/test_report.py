"""A report opened from a disk, without a network, as whoever was sent it sees it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.accessibility import serious
from helpers.dashboard_page import PATIENCE
from zoviz import Run
from zoviz.problems import WeldedBeam
from zoviz.solvers import ZOSQP

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SHOWN = """name => {
    const figure = Bokeh.documents[0].get_model_by_name(name);
    return {ink: figure.title.text_color, x: figure.x_range.end};
}"""
DRAWING = """() => {
    const figure = Bokeh.documents[0].get_model_by_name("picture-BeamDrawing");
    return JSON.stringify(figure.renderers.map(one => one.data_source.data.xs?.map(x => Array.from(x)) ?? 0));
}"""
PAUSE_AT_ANOTHER = f"""drawn => {{  // by the page itself, which may be at its end before a busy machine's test is
    if (({DRAWING})() === drawn) return false;
    document.getElementById("play").click();
    return document.getElementById("place").value;
}}"""
WORDS = """() => {
    const texts = [], visit = node => {
        if (node.shadowRoot) visit(node.shadowRoot);
        if (node.classList?.contains("bk-Tooltip")) texts.push((node.shadowRoot ?? node).textContent);
        node.childNodes.forEach(visit);
    };
    visit(document.body);
    return texts.join(" ");
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    path = tmp_path_factory.mktemp("report") / "run.html"
    run = Run(WeldedBeam(), ZOSQP(), replicas=20, calls=200)
    run.run()
    run.report(path)
    return run, path


def opened(browser: Browser, path: Path, scheme: str) -> tuple[Page, list[str]]:
    """A page of its own with the report, and what its console and its requests said."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=scheme, offline=True)
    context.set_default_timeout(1000 * PATIENCE)
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if request.url != path.as_uri() else None)
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready]")
    return page, said


def test_a_report_opens_plays_and_answers_the_pointer(browser: Browser, report: tuple[Run, Path]) -> None:
    run, path = report
    page, said = opened(browser, path, "light")
    assert path.stat().st_size < 3e6 and page.locator("figure").count() >= 6, "five plots and the picture"
    assert page.locator(".zoviz-best-f").first.inner_text().startswith(f"{run.best_design.f:.10g}")

    box = page.locator(".plots figure").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.4 * box["height"])
    page.wait_for_function(f"() => /oracle calls/.test(({WORDS})())")

    before = page.evaluate(SHOWN, "plot-Gap")["x"]
    page.mouse.down()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.4 * box["height"], steps=3)
    page.mouse.up()
    page.wait_for_function(f"before => ({SHOWN})('plot-Gap').x !== before", arg=before)  # a drag moves the axis

    end, last = page.locator(".readout").inner_text(), page.evaluate(DRAWING)
    page.locator("#place").fill("0")
    page.wait_for_function(f"last => ({DRAWING})() !== last", arg=last)
    start, drawn = page.locator(".readout").inner_text(), page.evaluate(DRAWING)
    assert "iteration 0" in start and start != end and f"{run.progress.calls:,} calls" in end
    page.get_by_role("button", name="Play").click()
    place = page.wait_for_function(PAUSE_AT_ANOTHER, arg=drawn).json_value()
    assert float(place) > 0, "the picture has moved with the player"
    page.get_by_role("button", name="Play").wait_for()
    assert said == []
    page.context.close()


def test_a_report_is_as_dark_as_its_reader_has_it_and_axe_finds_nothing_serious(
    browser: Browser, report: tuple[Run, Path]
) -> None:
    inks = {}
    for scheme in ("light", "dark"):
        page, said = opened(browser, report[1], scheme)
        inks[scheme] = (page.evaluate(SHOWN, "plot-Gap")["ink"], page.evaluate("getComputedStyle(document.body).color"))
        assert serious(page) == [] and said == []
        page.context.close()
    assert inks["light"] == ("#15191F", "rgb(21, 25, 31)") and inks["dark"] == ("#E8ECF1", "rgb(232, 236, 241)")
