"""A real browser and a real server: Debian's Chromium, driven by Playwright, on ``panel serve``."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from helpers.dashboard_page import Lab, playwright_errors, wait_until_idle
from helpers.serving import DASHBOARD, Pages, Server, start

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

OWN_APP = """
import numpy as np
from zoviz.problems import BlackBox, Problem
from zoviz.core.sets import Ball
from zoviz.core.types import Evaluation
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.app.process import prepare

prepare()
"""
"""Before the source of an app of a test's own."""


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
    """``open_lab(url, **options)``: one more page, with the dashboard at this address, in the room of the run."""

    def open_one(url: str, **options: Any) -> Lab:
        return Lab(open_page(**options)).visit(url if "?" in url else f"{url}?room=run")

    return open_one


@pytest.fixture
def lab(page: Page, server: Server) -> Iterator[Lab]:
    """A page with the dashboard, in the room of the run."""
    lab = Lab(page).visit(f"{server.url}?room=run")
    yield lab
    for button in ("Stop", "Stop the run"):  # else its session, and so its run, would outlive the page for a while
        if not page.is_closed() and lab.enabled(button):
            with contextlib.suppress(playwright_errors()):  # it may end by itself at this moment
                page.get_by_role("button", name=button, exact=True).click(timeout=3000)


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


@pytest.fixture
def open_app(serve: Callable[..., Server], open_lab: Callable[..., Lab], tmp_path: Path) -> Callable[[str], Lab]:
    """``open_app(source)``: a page of an app of one's own."""

    def open_one(source: str) -> Lab:
        app = tmp_path / "own.py"
        app.write_text(OWN_APP + source, encoding="utf-8")
        return open_lab(serve(app=app).url)

    return open_one


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
