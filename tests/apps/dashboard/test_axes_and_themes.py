"""The dashboard in a real browser: axes, scales, bands and themes of the plots."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.dashboard_page import Lab, wait_until_idle
from helpers.serving import Server
from zoviz.views.common.figure_frame import SHORT
from zoviz.views.common.log_axis import POWERS

if TYPE_CHECKING:
    from playwright.sync_api import Page

KEYS = ["gap", "gap.low", "gap.high"]


def contrast(ink: list[float], paper: list[float]) -> float:
    """Ratio of luminances as WCAG defines it, for RGBA on opaque RGB."""

    def luminance(colour: np.ndarray) -> float:
        c = colour / 255
        return float(np.where(c <= 0.03928, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])

    alpha = ink[3] if len(ink) > 3 else 1.0
    under = np.array(paper[:3])
    pair = sorted((luminance(alpha * np.array(ink[:3]) + (1 - alpha) * under), luminance(under)))
    return (pair[1] + 0.05) / (pair[0] + 0.05)


# Colours of a plot's texts, and of the page below it, as the browser resolves them.
COLOURS = """
const plot = find("plot-Gap"), box = document.createElement("div"); document.body.append(box);
const rgb = colour => { box.style.color = colour; return getComputedStyle(box).color.match(/[\\d.]+/g).map(Number) };
const axes = [...plot.below, ...plot.left].filter(m => m.major_label_text_color !== undefined);
const notes = plot.below.find(m => m.text !== undefined);
const inks = [plot.title.text_color, notes.text_color, ...axes.map(m => m.major_label_text_color)].map(rgb);
box.remove();
return [inks, getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number)];
"""


def line(lab: Lab) -> np.ndarray:
    columns = lab.js("const d = find('source-run1').data; return a.map(k => Array.from(d[k]))", KEYS)
    return np.array(columns, dtype=float)


def settled(lab: Lab) -> np.ndarray:
    """The line once it has not changed for half a second: what was drawn before may still be on its way."""
    before = None
    while str(now := line(lab)) != before:
        before = str(now)
        lab.page.wait_for_timeout(500)
    return now


def scales(lab: Lab) -> list[str]:
    return lab.js("const p = find('plot-Gap'); return [p.x_scale.type, p.y_scale.type]")


def check_bands(lab: Lab) -> None:
    bands = {}
    for name in ("Median, min–max", "Mean ± std", "Median alone", "Median, quartiles"):
        before = str(settled(lab))
        lab.page.get_by_label("Band").select_option(name)
        lab.until(lambda before=before: str(line(lab)) != before, f"the band is {name}")
        mean, low, high = bands[name] = settled(lab)
        between = np.isnan(low) if name == "Median alone" else (low <= 1.00001 * mean) & (mean <= 1.00001 * high)
        assert between[np.isfinite(mean)].all(), name  # no line is drawn across a gap between rows
    widths = {name: np.nanmean(band[2] - band[1]) for name, band in bands.items() if name != "Median alone"}
    assert widths["Median, min–max"] > max(widths["Mean ± std"], widths["Median, quartiles"])
    assert min(widths["Mean ± std"], widths["Median, quartiles"]) > 0


def check_themes(lab: Lab) -> None:
    paper = {}
    for look in ("light", "dark"):
        inks, paper[look] = lab.js(COLOURS)
        ratios = [contrast(ink, paper[look]) for ink in inks]
        print(f"{look}: contrasts of the plots' texts {', '.join(f'{r:.1f}' for r in ratios)}")
        assert min(ratios) >= 4.5
        lab.press("Toggle theme")
        lab.until(lambda look=look: lab.js(COLOURS)[1] != paper[look], "the theme changes")
        lab.page.wait_for_timeout(500)
    assert sum(paper["light"][:3]) > sum(paper["dark"][:3])


@pytest.mark.slow  # tests/views/plots has lines, axes and bands without a browser
def test_axes_scales_bands_and_themes(lab: Lab) -> None:
    lab.settle(Iterations="50", Seconds="auto", Replicas="5")
    lab.start()
    lab.end("finished")
    lab.until(lambda: len(lab.data("source-run1", "gap")) == 51, "all rows are drawn")

    calls = lab.data("source-run1", "x")
    lab.page.get_by_role("button", name="iterations", exact=True).click()
    lab.until(lambda: lab.data("source-run1", "x") == list(range(51)), "x is the iteration")
    lab.page.get_by_role("button", name="seconds", exact=True).click()
    lab.until(lambda: 0 < max(lab.data("source-run1", "x")) < 40, "x is the time")
    lab.page.get_by_role("button", name="calls", exact=True).click()
    lab.until(lambda: lab.data("source-run1", "x") == calls, "x is the number of calls")

    assert scales(lab) == ["LinearScale", "LogScale"] and (line(lab) > 0).all()
    lab.page.get_by_role("checkbox", name="Log x").click()
    lab.until(lambda: scales(lab) == ["LogScale", "LogScale"], "x is logarithmic")
    lab.page.get_by_role("checkbox", name="Log y").click()
    lab.until(lambda: scales(lab) == ["LogScale", "LinearScale"], "y is linear")

    check_bands(lab)
    check_themes(lab)


# What the gap's axis would have between each pair of ends: its ticks, and their labels where they are plain numbers.
TICKS = """
const axis = find("plot-Gap").left[0], plain = text => text.replace("k", "e3").replace("M", "e6").replace("G", "e9");
return a.map(([low, high]) => {
    const {major} = axis.ticker.get_ticks(low, high, null, 0);
    return [major, axis.formatter.doFormat(major, {loc: 0}).map(plain)];
});
"""


def is_labelled(low: float, high: float, ticks: list[float], labels: list[str]) -> bool:
    """Whether ticks stand all along an axis, no stretch without one is longer than 55%, and labels are their values."""
    values = np.array(ticks, dtype=float)
    places = np.log(np.array([low, *values, high]) / low) / np.log(high / low)
    spread = 2 <= values.size <= 14 and (np.diff(places) >= -1e-9).all() and np.diff(places).max() <= 0.55
    exponents = np.log10(values)
    if np.allclose(exponents, np.rint(exponents), atol=1e-9):
        return bool(spread)  # "10" and an exponent
    return bool(spread) and np.allclose([float(one) for one in labels], values, rtol=1e-6, atol=0.0)


def test_a_logarithmic_axis_has_labels_all_along_whatever_its_ends(lab: Lab) -> None:
    """Bokeh's ticker counts evenly below two decades: from 0.13 to 2 it has 0.5, 1, 1.5 and 2."""
    lab.until(lambda: lab.js("return !!find('plot-Gap')"), "the plot is there, without a run")
    spans = np.linspace(0.02, 25, 70)
    ends = [(low, low * 10.0**decades) for low in (0.13, 1.0, 3.1e-9, 240.0, 2.9) for decades in spans]
    axes = lab.js(TICKS, ends)
    assert len(axes) == len(ends) == 350
    wrong = [(*pair, *axis) for pair, axis in zip(ends, axes, strict=True) if not is_labelled(*pair, *axis)]
    assert not wrong


def look(lab: Lab) -> str:
    """Whether the page's ground is light or dark."""
    ground = lab.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    red, green, blue = map(int, re.findall(r"\d+", ground))
    return "light" if red + green + blue > 380 else "dark"


@pytest.mark.slow
def test_a_page_is_light_or_dark_as_the_system_asks_unless_the_person_chose(
    open_lab: Callable[..., Lab], server: Server
) -> None:
    lab = open_lab(f"{server.url}?room=run", color_scheme="dark")
    lab.until(lambda: look(lab) == "dark", "the page is dark with the system")
    lab.page.emulate_media(color_scheme="light")
    lab.until(lambda: look(lab) == "light", "it follows the system")
    lab.press("Toggle theme")
    lab.until(lambda: look(lab) == "dark", "the person chose dark")
    lab.page.emulate_media(color_scheme="dark")
    lab.page.emulate_media(color_scheme="light")
    lab.page.reload()
    wait_until_idle(lab.page)
    lab.until(lambda: look(lab) == "dark", "the choice stands, whatever the system asks for")
    lab.press("Toggle theme")
    lab.until(lambda: look(lab) == "light", "light as the system again")
    lab.page.emulate_media(color_scheme="dark")
    lab.until(lambda: look(lab) == "dark", "which is followed again")
    assert "zoviz_theme=system-dark" in lab.page.evaluate("document.cookie")


@pytest.mark.parametrize(
    ("code", "ticks", "labels"),
    [
        (SHORT, [27.51, 27.515, 27.52], ["27.51", "27.515", "27.52"]),
        (SHORT, [1.7248523, 1.7248524], ["1.7248523", "1.7248524"]),
        (SHORT, [0.0, 1500.0, 2.5e6], ["0", "1.5k", "2.5M"]),
        (SHORT, [1.0 / 3.0], ["0.3333"]),
        (POWERS, [1e-3, 1e-2, 1e-1], ["10⁻³", "10⁻²", "0.1"]),
        (POWERS, [1.5e-3, 2e-3], ["0.0015", "0.002"]),
    ],
)
def test_labels_of_ticks_are_short_and_told_from_each_other(
    page: Page, code: str, ticks: list[float], labels: list[str]
) -> None:
    every = "([code, ticks]) => ticks.map((tick, i) => new Function('tick', 'index', 'ticks', code)(tick, i, ticks))"
    assert page.evaluate(every, [code, ticks]) == labels
