"""A page whose connection is cut says so, comes back with the same run, and says where its session has ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.cut_line import Line, line_to
from helpers.dashboard_page import Lab, wait_until_idle
from helpers.ports import free_port
from helpers.serving import DASHBOARD, Pages, Server
from zoviz.runs.store import Store

PROBE = Path(__file__).with_name("probe_app.py")
CUT = re.compile(r"ERR_|Could not open websocket|not connected|repull|Failed to load resource|status 405")
"""What a browser and Bokeh write of a connection that is cut."""


NOTE_TIMES = """
    const page = find("zoviz-status").document;
    [window.cut_at, window.back_at] = [undefined, undefined];
    page.on_event("connection_lost", () => { window.cut_at ??= performance.now() });
    page.on_event("client_reconnected", () => { window.back_at = performance.now() });
"""
"""Has a page note when its connection was lost, and when it was back."""


class Cut:
    """Servers that a browser reaches by a line that can be cut.

    Attributes
    ----------
    line : Line
    """

    def __init__(self, serve: Any, line: Line) -> None:
        self._serve, self.line = serve, line
        self._flags = ("--allow-websocket-origin", f"localhost:{line.port}", "--unused-session-lifetime", "600000")

    def serve(self, *more: str, app: Path = DASHBOARD) -> Server:
        """Start a server behind the line."""
        server = self._serve(*self._flags, *more, app=app)
        self.line.target = server.port
        return server

    def url(self, app: Path = DASHBOARD) -> str:
        """The page's address."""
        return f"http://localhost:{self.line.port}/{app.stem}"


@pytest.fixture
def line(pages: Pages) -> Iterator[Line]:
    """A line that leads nowhere yet; what a cut has a page write is no error."""
    with line_to(0, free_port()) as one:
        yield one
    pages.close()
    pages.problems[:] = [problem for problem in pages.problems if not CUT.search(problem)]


@pytest.fixture
def own_store(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The store of each server of the test."""
    monkeypatch.setenv("ZOVIZ_STORE", store.url)
    return store


def lost(lab: Lab) -> str:
    """What the page says of its connection."""
    return lab.page.locator(".zoviz-connection").inner_text()


def test_a_page_comes_back_with_the_same_run(serve: Any, open_lab: Any, line: Line, own_store: Store) -> None:
    cut = Cut(serve, line)
    cut.serve()
    lab = open_lab(cut.url())
    lab.settle(Seconds="none")
    lab.start()
    sockets: list[str] = []
    lab.page.on("websocket", lambda socket: sockets.append(socket.url))
    for down in (False, True):
        lab.until(lambda: "runs=" in lab.page.url, "its address names the run")
        before, address = lab.iteration(), lab.page.url
        lab.js(NOTE_TIMES)
        line.cut(down)
        if down:
            lab.until(lambda: lab.page.locator(".zoviz-connection").count(), "it is said")
            assert re.match("Connection lost.*[Rr]econnecting…", lost(lab)) and lab.status() == "connection lost"
            assert lab.js("return [...document.body.children].some(one => one.inert)"), "nothing can be clicked in vain"
            assert lab.js("return getComputedStyle(document.body.lastChild).backdropFilter") == "grayscale(1)"
            line.mend()
        lab.until(lambda: lab.js("return window.back_at"), "it is back")
        lab.until(lambda: lab.page.locator(".zoviz-chip").count() == 1 and lab.status() == "running", "the run is seen")
        lab.until(lambda before=before: lab.iteration() > before, "the run goes on")
        assert lab.page.locator(".zoviz-connection").count() == 0 and lab.page.url == address
        assert not lab.js("return [...document.body.children].some(one => one.inert)")
        assert len(sockets) > 1 if down else len(sockets) == 1, "the first attempt comes at once, and succeeds"
        print(f"back after {lab.js('return window.back_at - window.cut_at') / 1000:.1f} s of the page's time")
    lab.press("Stop")
    lab.end("stopped")
    assert [run.status for run in own_store.runs()] == ["stopped"], "one run, of the whole time"


@pytest.mark.parametrize(
    "why",
    [
        "expired",
        pytest.param("restarted", marks=pytest.mark.slow),
        pytest.param("restarted with another key", marks=pytest.mark.slow),
    ],
)
def test_a_page_whose_session_has_ended_says_so_and_finds_its_run(
    serve: Any, open_lab: Any, line: Line, own_store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, why: str
) -> None:
    if why == "restarted with another key":
        monkeypatch.setenv("BOKEH_SIGN_SESSIONS", "yes")
        monkeypatch.setenv("BOKEH_SECRET_KEY", "one")
    cut, app, more = Cut(serve, line), DASHBOARD, tuple[str, ...]()
    if why == "expired":
        app, more = PROBE, ("--check-unused-sessions", "200", "--args", str(tmp_path / "report"), "kept", "fleeting")
    server = cut.serve(*more, app=app)
    lab = open_lab(cut.url(app))
    lab.settle(Seconds="none")
    lab.start()
    line.cut(down=True)
    lab.until(lambda: lab.page.locator(".zoviz-connection").count(), "it is said")
    if why == "expired":
        lab.until(lambda: own_store.count(status="interrupted") == 1, "the session's end")
    else:
        monkeypatch.setenv("BOKEH_SECRET_KEY", "another")
        server.stop()
        server = cut.serve()
    line.mend()
    reload = lab.page.get_by_role("button", name="Reload")
    reload.wait_for()
    assert lost(lab).startswith("This page's session has ended") and lab.status() == "session ended"
    (run,) = own_store.runs()
    if why == "restarted with another key":
        assert "had invalid signature" in server.text()
        server.log.write_text("")  # else the refusal would count as an error of the server
    reload.click()
    lab.until(lambda: lab.page.locator(".zoviz-connection").count() == 0, "the page anew")
    wait_until_idle(lab.page)
    lab.until(lambda: "1 run was interrupted." in lab.message(), "the run is offered")
    assert run.id in lab.page.url and run.status == "interrupted" and run.iterations > 0
