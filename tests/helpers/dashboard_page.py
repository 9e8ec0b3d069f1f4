"""The dashboard's page as a person meets it, in a browser that Playwright drives."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

IDLE = "() => window.Bokeh && Bokeh.documents.length > 0 && Bokeh.documents.every(d => d.is_idle)"
PATIENCE = 120
"""Seconds that a page may take for what is asked of it: other tests share the machine."""

HANDLE = ".logslider-primal_step input[type=range]"
"""The slider of the step size."""


def open_list(lab: Lab) -> float:
    """Open the stored runs; seconds until the first line is there."""
    begun = time.perf_counter()
    lab.enter("Stored runs")
    lab.page.locator(".tabulator-row").first.wait_for()
    return time.perf_counter() - begun


def tick(lab: Lab, button: str = "Replay", line: int = 0) -> None:
    """Tick a stored run, and wait until a button is enabled; again where the list was drawn anew under the tick."""
    box = lab.page.locator(".tabulator-row input[type=checkbox]").nth(line)
    end = time.monotonic() + lab.patience
    while not lab.enabled(button):
        assert time.monotonic() < end, f"{button} is not enabled"
        if not box.is_checked():
            box.click()
        lab.page.wait_for_timeout(300)


def playwright_errors() -> type[Exception]:
    """What Playwright raises."""
    from playwright.sync_api import Error

    return Error


def wait_until_idle(page: Page, timeout: float = PATIENCE) -> None:
    """Wait until every Bokeh document of the page has drawn all it was sent.

    Parameters
    ----------
    page : playwright.sync_api.Page
    timeout : float
        Seconds.
    """
    page.wait_for_function(IDLE, timeout=1000 * timeout)


# Not Bokeh's own get_model_by_name: it stumbles over models that have arrived but are not initialised yet, and finds
# replaced ones, which stay in the document for half a minute.
FIND = """const find = name => {
    let found;
    for (const d of window.Bokeh?.documents ?? []) for (const m of d._all_models.values())
        try { if (m.name === name) found = m } catch {}
    return found;
};"""


FOLDS = {"Problem": "parameters and noise", "Solver": "structure", "Run": "limits and targets"}
"""What there is more of in the parts of the form."""


@dataclass
class Lab:
    """The dashboard's page as a person meets it.

    Attributes
    ----------
    page : playwright.sync_api.Page
    patience : float
        Seconds to wait for anything: generous, for machines that do other work meanwhile.
    """

    page: Page
    patience: float = PATIENCE

    def visit(self, url: str) -> Lab:
        """Open the address and wait until the page is drawn."""
        self.page.goto(url, timeout=1000 * self.patience)
        wait_until_idle(self.page, self.patience)
        return self

    def js(self, body: str, argument: Any = None) -> Any:
        """Value of a function body in the browser, with ``find(name)`` for Bokeh models and ``a`` for the argument."""
        return self.page.evaluate(f"a => {{ {FIND} {body} }}", argument)

    def until(self, condition: Callable[[], Any], what: str, seconds: float | None = None) -> Any:
        """Wait until the condition holds and return its value."""
        end = time.monotonic() + (seconds or self.patience)
        while not (value := condition()):
            assert time.monotonic() < end, f"Waited in vain until {what}; the page says: {self.line()} {self.message()}"
            self.page.wait_for_timeout(25)
        return value

    def press(self, button: str) -> None:
        """Press a button by its label."""
        self.page.get_by_role("button", name=button, exact=True).click(timeout=1000 * self.patience)

    def enter(self, room: str) -> None:
        """Open a room by its tab."""
        self.page.get_by_role("tab", name=room, exact=True).click(timeout=1000 * self.patience)

    def enabled(self, button: str) -> bool:
        """Whether a button is there and can be pressed."""
        found = self.page.get_by_role("button", name=button, exact=True)
        return found.count() > 0 and found.is_enabled()

    def unfold(self, part: str) -> None:
        """Show all parameters of a part of the form: Problem, Solver or Run."""
        more = self.page.get_by_role("button", name=re.compile(f"(More|Fewer) · {FOLDS[part]}"))
        more.wait_for()  # a room that was just opened
        if more.get_attribute("aria-expanded") == "false":
            more.click()
            self.until(lambda: more.get_attribute("aria-expanded") == "true", "there are more fields")

    def field(self, label: str) -> Any:
        """A number field by its label."""
        return self.page.get_by_label(label, exact=True)

    def type(self, label: str, text: str) -> None:
        """Type into a number field."""
        self.field(label).fill(text)
        self.field(label).press("Enter")

    def settle(self, **texts: str) -> None:
        """Fill fields of the run, e.g. ``Iterations="60"``, and see that they are taken."""
        self.unfold("Run")
        for label, text in texts.items():
            self.type(label.replace("_", " "), text)
        self.page.wait_for_timeout(200)
        assert self.page.get_by_text("the value stays").count() == 0

    def choose(self, select: str, option: str) -> None:
        """Choose from a drop-down list."""
        box = self.page.get_by_role("combobox", name=select, exact=True)
        if box.evaluate("box => box.matches('select')"):
            box.select_option(label=option)
        else:
            found = self.page.locator("[role=option]:visible").get_by_text(option, exact=True)

            def offered() -> bool:
                """Open the list; close it again where it is still that of another problem."""
                box.click()
                if not found.count():
                    self.page.keyboard.press("Escape")
                return found.count() > 0

            self.until(offered, f"{option} is offered")
            found.click()

    def status(self) -> str:
        """ready, running, paused, finished, stopped or failed."""
        return self.page.locator(".zoviz-chip").inner_text()

    def line(self) -> str:
        """The line of counters."""
        return self.page.locator(".zoviz-counters").inner_text()

    def message(self) -> str:
        """What the run or the page has to say."""
        return self.page.locator(".zoviz-message").inner_text()

    def iteration(self) -> int:
        """The iteration counter; 0 before the first run. It comes with the status: a paused or ended run's is final."""
        match = re.search(r"iteration ([\d,]+)", self.line())
        return int(match[1].replace(",", "")) if match else 0

    def data(self, source: str, column: str) -> list[Any]:
        """A column of a named data source as the browser has it; empty where there is none."""
        return self.js("return Array.from(find(a[0])?.data?.[a[1]] ?? [])", [source, column])

    def columns(self, source: str, *names: str) -> list[list[Any]]:
        """Columns of a data source at one moment: a run that goes on adds points between two calls of ``data``."""
        body = "const data = find(a[0])?.data ?? {}; return a[1].map(name => Array.from(data[name] ?? []))"
        return self.js(body, [source, names])

    def drawn(self, plot: str = "plot-Gap") -> list[str]:
        """The names of the lines on a plot."""
        return self.js("return find(a)?.renderers.map(one => one.name).filter(name => name) ?? []", plot)

    def notes(self, plot: str = "plot-Gap") -> list[str]:
        """The notes below a plot, one for each reference that needs one."""
        return self.js("return find(a)?.below.flatMap(one => one.text?.split(' · ') ?? []) ?? []", plot)

    def row(self, key: str) -> Any:
        """A run's row above the plots."""
        return self.page.locator(f".zoviz-run-{key}")

    def choose_of_run(self, key: str, item: str) -> None:
        """Choose from the menu of a run's row."""
        self.row(key).get_by_role("button", name="Menu of").click()
        self.row(key).get_by_role("menuitem", name=item).click()

    def remove(self, key: str = "run1") -> None:
        """Remove a run from the page."""
        self.choose_of_run(key, "Remove from the plots")

    def start(self, key: str = "run1") -> None:
        """Press Start and wait until the run has lines, and the plots are in sight."""
        self.press("Start")
        self.until(lambda: len(self.data(f"source-{key}", "gap")) > 1, f"{key} has lines")
        self.until(lambda: self.page.locator(".bk-Figure:visible").count() > 0, "plots are in sight")

    def complete(self) -> None:
        """Wait until no plot or picture has come for a second: lines are there before all of them are."""
        figures = self.page.locator(".bk-Figure")

        def settled() -> bool:
            before = figures.count()
            self.page.wait_for_timeout(1000)
            return figures.count() == before

        self.until(settled, "all plots and pictures are there")

    def end(self, status: str) -> None:
        """Wait until the run has this status."""
        self.until(lambda: self.status() == status, f"the status is {status}")
