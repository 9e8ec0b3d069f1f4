"""A real browser and a real server: Debian's Chromium, driven by Playwright, on ``panel serve``."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = ROOT / "apps" / "dashboard.py"
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
LOCAL_HOSTS = {"localhost", "127.0.0.1"}
LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
# Bokeh leaves a write unawaited when a page goes away in the middle of it; nothing is lost by that.
PAGE_LEFT = re.compile(
    r"^[^\n]*Task exception was never retrieved\nfuture: <Task [^\n]*exception=WebSocketClosedError\(\)>\n"
    r"Traceback .*?^tornado\.websocket\.WebSocketClosedError\n",
    re.MULTILINE | re.DOTALL,
)
IDLE = "() => window.Bokeh && Bokeh.documents.length > 0 && Bokeh.documents.every(d => d.is_idle)"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that drives a browser."""
    for item in items:
        if {"browser", "page", "open_page", "open_lab"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.browser)


def no_browser(reason: str) -> NoReturn:
    """Skip, or fail where a browser is required."""
    if os.environ.get("ZOVIZ_REQUIRE_BROWSER") or os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def playwright_errors() -> type[Exception]:
    """What Playwright raises."""
    from playwright.sync_api import Error

    return Error


def wait_until_idle(page: Page, timeout: float = 30) -> None:
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
    patience: float = 40

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

    def enabled(self, button: str) -> bool:
        """Whether a button can be pressed."""
        return self.page.get_by_role("button", name=button, exact=True).is_enabled()

    def tab(self, name: str) -> None:
        """Show a tab of the sidebar."""
        self.page.get_by_role("tab", name=name, exact=True).click()

    def field(self, label: str) -> Any:
        """A number field by its label, on the tab that is shown."""
        return self.page.get_by_label(label, exact=True)

    def type(self, label: str, text: str) -> None:
        """Type into a number field."""
        self.field(label).fill(text)
        self.field(label).press("Enter")

    def settle(self, **texts: str) -> None:
        """Fill fields of the Run tab, e.g. ``Iterations="60"``, and see that they are taken."""
        self.tab("Run")
        for label, text in texts.items():
            self.type(label.replace("_", " "), text)
        self.page.wait_for_timeout(200)
        assert self.page.get_by_text("the value stays").count() == 0

    def choose(self, select: str, option: str) -> None:
        """Choose from a drop-down list."""
        self.page.get_by_role("combobox", name=re.compile(f"^{select}")).click()
        self.page.get_by_role("menuitem", name=option, exact=True).click()

    def status(self) -> str:
        """ready, running, paused, finished, stopped or failed."""
        return self.page.locator(".MuiChip-label").inner_text()

    def line(self) -> str:
        """The line of counters."""
        return self.page.locator(".zoviz-status div").first.inner_text()

    def message(self) -> str:
        """What the run or the page has to say."""
        return self.page.locator(".zoviz-message div").first.inner_text()

    def iteration(self) -> int:
        """The iteration counter; 0 before the first run."""
        found = re.search(r"iteration ([\d,]+)", self.line())
        return int(found[1].replace(",", "")) if found else 0

    def data(self, source: str, column: str) -> list[Any]:
        """A column of a named data source as the browser has it; empty where there is none."""
        return self.js("return Array.from(find(a[0])?.data?.[a[1]] ?? [])", [source, column])

    def legend(self, plot: str = "plot-Gap") -> list[str]:
        """The labels in a plot's legend."""
        return self.js("return find(a).above.filter(m => m.items).flatMap(m => m.items.map(i => i.label.value))", plot)

    def row(self, key: str) -> Any:
        """A run's row under the plots."""
        return self.page.locator(f".zoviz-run-{key}")

    def start(self, key: str = "run1") -> None:
        """Press Start and wait until the run has lines."""
        self.press("Start")
        self.until(lambda: len(self.data(f"source-{key}", "gap")) > 1, f"{key} has lines")

    def end(self, status: str) -> None:
        """Wait until the run has this status."""
        self.until(lambda: self.status() == status, f"the status is {status}")


@dataclass
class Pages:
    """The open pages of one test, and all that went wrong in them."""

    contexts: list[BrowserContext] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def open(self, browser: Browser, **options: Any) -> Page:
        """Open a page with cookies and cache of its own; ``options`` go to ``Browser.new_context``."""
        options.setdefault("viewport", {"width": 1280, "height": 800})
        context = browser.new_context(**options)
        self.contexts.append(context)
        context.route(lambda url: not is_local(url), self._refuse)
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("console", lambda m: m.type == "error" and self.problems.append(f"console: {m.text} ({m.location})"))
        page.on("websocket", lambda s: is_local(s.url) or self.problems.append(f"request outside localhost: {s.url}"))
        page.on("response", lambda r: r.status >= 400 and self.problems.append(f"status {r.status}: {r.url}"))
        page.on("requestfailed", lambda r: self._failed(r.url, r.failure))
        return page

    def close(self) -> None:
        """Close every page; what they report while closing is not an error."""
        seen = list(self.problems)
        while self.contexts:
            self.contexts.pop().close()
        self.problems[:] = seen

    def _refuse(self, route: Route) -> None:
        self.problems.append(f"request outside localhost: {route.request.url}")
        route.abort()

    def _failed(self, url: str, failure: str | None) -> None:
        # A page that is left or reloaded aborts what it was still loading.
        if is_local(url) and failure != "net::ERR_ABORTED":
            self.problems.append(f"failed request: {url} ({failure})")


@dataclass
class Server:
    """A running ``panel serve``.

    Attributes
    ----------
    url : str
        Address of the app's page.
    port : int
        TCP port.
    process : subprocess.Popen
        The server.
    log : Path
        File with all that the server wrote.
    """

    url: str
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def text(self) -> str:
        """What the server wrote so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def errors(self, since: int = 0) -> str:
        """The text from this character on where it holds an error, else nothing."""
        text = PAGE_LEFT.sub("", self.text()[since:])
        return text if "ERROR" in text or "Traceback" in text else ""

    def wait(self, timeout: float = 60) -> None:
        """Wait for the TCP port: a request over HTTP would itself create a session."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError(f"Expected a server on port {self.port} within {timeout:g} s; it wrote:\n{self.text()}")

    def stop(self, timeout: float = 15) -> None:
        """Send SIGTERM and wait for the end; kill the server where it does not come."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


def is_local(url: str) -> bool:
    """Whether an address stays on this machine."""
    parts = urlsplit(url)
    return parts.scheme in {"about", "blob", "data"} or parts.hostname in LOCAL_HOSTS


def free_port() -> int:
    """A TCP port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(app: Path, log: Path, args: tuple[str, ...]) -> Server:
    """Start ``panel serve app *args`` and wait until it listens."""
    port = free_port()
    command = [sys.executable, "-m", "panel", "serve", str(app), "--address", "127.0.0.1", "--port", str(port)]
    command += ["--allow-websocket-origin", f"localhost:{port}", "--log-format", LOG_FORMAT, *args]
    own = f"sqlite:///{log.with_suffix('.db')}"  # else runs would be kept in the folder of the checkout
    environment = {"ZOVIZ_STORE": own, **os.environ, "PYTHONUNBUFFERED": "1"}
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=ROOT, env=environment)
    server = Server(f"http://localhost:{port}/{app.stem}", port, process, log)
    try:
        server.wait()
    except BaseException:
        server.stop()
        raise
    return server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a window."""
    chromium = next((p for p in ("/usr/bin/chromium", shutil.which("chromium")) if p and os.access(p, os.X_OK)), None)
    if chromium is None:
        no_browser("Chromium is missing: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        no_browser('Playwright is missing: python -m pip install -e ".[test]"')
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGS)
        yield running
        running.close()


@pytest.fixture
def pages() -> Iterator[Pages]:
    """The pages of this test; at its end none may have met an error or asked for anything outside localhost."""
    pages = Pages()
    yield pages
    pages.close()
    assert not pages.problems, "In the browser:\n" + "\n".join(pages.problems)


@pytest.fixture
def open_page(browser: Browser, pages: Pages) -> Callable[..., Page]:
    """``open_page(**options)``: one more page, in a browser context of its own."""

    def open_one(**options: Any) -> Page:
        return pages.open(browser, **options)

    return open_one


@pytest.fixture
def page(open_page: Callable[..., Page]) -> Page:
    """An empty page of 1280 x 800."""
    return open_page()


@pytest.fixture
def open_lab(open_page: Callable[..., Page]) -> Callable[..., Lab]:
    """``open_lab(url, **options)``: one more page, with the dashboard at this address."""

    def open_one(url: str, **options: Any) -> Lab:
        return Lab(open_page(**options)).visit(url)

    return open_one


@pytest.fixture
def lab(page: Page, server: Server) -> Iterator[Lab]:
    """A page with the dashboard."""
    lab = Lab(page).visit(server.url)
    yield lab
    if not page.is_closed() and lab.enabled("Stop"):  # its session, and so its run, would outlive the page for a while
        with contextlib.suppress(playwright_errors()):  # it may end by itself at this moment
            page.get_by_role("button", name="Stop", exact=True).click(timeout=3000)


@pytest.fixture
def serve(pages: Pages, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """``serve(*args, app=DASHBOARD)``: a ``panel serve`` with extra arguments, stopped after the test."""
    servers: list[Server] = []

    def start_one(*args: str, app: Path = DASHBOARD) -> Server:
        servers.append(start(app, tmp_path / f"server-{len(servers)}.log", args))
        return servers[-1]

    yield start_one
    pages.close()  # first, lest the pages report the lost connection
    for server in servers:
        server.stop()
    for server in servers:
        assert not server.errors(), f"The server wrote:\n{server.errors()}"


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that need nothing of their own."""
    server = start(DASHBOARD, tmp_path_factory.mktemp("shared") / "server.log", ())
    yield server
    server.stop()


@pytest.fixture
def server(shared: Server, pages: Pages) -> Iterator[Server]:
    """The dashboard's server, which other tests have used before."""
    before = len(shared.text())
    yield shared
    pages.close()  # first, lest the pages report the lost connection
    assert not shared.errors(before), f"The server wrote:\n{shared.errors(before)}"


@pytest.fixture
def idle() -> Callable[..., None]:
    """``idle(page)``: wait until all that the page was sent is drawn."""
    return wait_until_idle
