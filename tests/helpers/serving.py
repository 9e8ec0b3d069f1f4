"""Panel's servers, in a process of their own or in a thread of this one, and the pages that a browser opens on them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import panel as pn

from helpers.dashboard_page import PATIENCE
from helpers.ports import free_port, until_listening
from helpers.project import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

DASHBOARD = ROOT / "apps" / "dashboard.py"
LOCAL_HOSTS = {"localhost", "127.0.0.1"}
LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
PAGE_LEFT = re.compile(
    # Bokeh leaves a write unawaited when a page goes away in the middle of it; nothing is lost by that.
    r"^[^\n]*Task exception was never retrieved\nfuture: <Task [^\n]*exception=WebSocketClosedError\(\)>\n"
    r"Traceback .*?^tornado\.websocket\.WebSocketClosedError\n"
    # Where it goes away before Bokeh has bound its session to the connection, there is no session to be told.
    r"|^[^\n]*ERROR tornado\.application: Uncaught exception GET [^\n]*/ws [^\n]*\nHTTPServerRequest\([^\n]*\n"
    r"Traceback [^\n]*\n(?:^[ \t][^\n]*\n)*?^[^\n]*in on_close\n(?:^[ \t][^\n]*\n)*?"
    r"^    assert self\._session is not None\n(?:^[ \t][^\n]*\n)*?AssertionError\n",
    re.MULTILINE | re.DOTALL,
)
"""What Bokeh writes of pages that were closed at a moment it does not expect: no error of ours."""

AXES = re.compile(r"for log axis|initial ranges|Follow enabled")
"""What Bokeh warns of axes in a browser's console: that they have nothing to show, and what they take instead."""


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
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("console", lambda m: self._said(m.type, f"{m.text} ({m.location})"))
        page.on("websocket", lambda s: is_local(s.url) or self.problems.append(f"request outside localhost: {s.url}"))
        page.on("response", lambda r: r.status >= 400 and self.problems.append(f"status {r.status}: {r.url}"))
        page.on("requestfailed", lambda r: self._failed(r.url, r.failure))
        return page

    def close(self) -> None:
        """Close every page; what they report while closing is not an error."""
        problems = list(self.problems)
        while self.contexts:
            self.contexts.pop().close()
        self.problems[:] = problems

    def _said(self, kind: str, text: str) -> None:
        """Note what a page writes to its console that it should not: errors, and warnings of our own axes."""
        if kind == "error" or (kind == "warning" and AXES.search(text)):
            self.problems.append(f"console: {text}")

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
        # Blanked in the whole text: what the page of a test before left may be half written at this character.
        text = PAGE_LEFT.sub(lambda match: " " * len(match[0]), self.text())[since:]
        return text if "ERROR" in text or "Traceback" in text else ""

    def stop(self, timeout: float = 60) -> None:
        """Send SIGTERM and wait for the end; one that does not end is aborted, and its threads' stacks are shown."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            before = len(self.text())
            self.process.send_signal(signal.SIGABRT)  # it has its faulthandler write the stacks
            self.process.wait(timeout)
            stacks = self.text()[before:]
            raise AssertionError(f"The server did not end within {timeout:g} s of SIGTERM:\n{stacks}") from error


def is_local(url: str) -> bool:
    """Whether an address stays on this machine."""
    parts = urlsplit(url)
    return parts.scheme in {"about", "blob", "data"} or parts.hostname in LOCAL_HOSTS


def start(app: Path, log: Path, args: tuple[str, ...]) -> Server:
    """Start ``panel serve app *args`` and wait until it listens."""
    port = free_port()
    command = [sys.executable, "-m", "panel", "serve", str(app), "--address", "127.0.0.1", "--port", str(port)]
    command += ["--allow-websocket-origin", f"localhost:{port}", "--log-format", LOG_FORMAT, *args]
    own = f"sqlite:///{log.with_suffix('.db')}"  # else runs would be kept in the folder of the checkout
    environment = {"ZOVIZ_STORE": own, **os.environ, "PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1"}
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=ROOT, env=environment)
    server = Server(f"http://localhost:{port}/{app.stem}", port, process, log)
    try:
        until_listening(port, process, log)
    except BaseException:
        server.stop()
        raise
    return server


@contextmanager
def serving(make: Callable[[], Any], **options: Any) -> Iterator[int]:
    """Serve what a function makes from a thread of this process while the block runs; yield the port.

    ``options`` are those of ``panel.serve``. Panel returns before its thread listens: on a busy machine a browser was
    refused that came at once.
    """
    port = free_port()
    server = pn.serve(make, port=port, threaded=True, show=False, verbose=False, **options)
    try:
        until_listening(port, server)
        yield port
    finally:
        server.stop()
