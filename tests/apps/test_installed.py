"""The page of an installed wheel, outside of the source: a run is begun in a browser, killed, and resumed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.dashboard_page import Lab
from helpers.distributions import installed
from helpers.ports import free_port, until_listening
from helpers.serving import Pages

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest.importorskip("hatchling", reason='python -m pip install -e ".[test]"')
pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_a_run_is_begun_on_the_page_killed_and_resumed(
    open_page: Callable[..., Page], pages: Pages, tmp_path: Path
) -> None:
    outside = installed(tmp_path)
    assert "zoviz" in outside.zoviz("doctor")
    port = free_port()
    server = outside.serve(port)
    try:
        until_listening(port, server, outside.folder / "server.txt")
        lab = Lab(open_page()).visit(f"http://localhost:{port}/")
        lab.start()
        lab.until(lambda: lab.iteration() > 100, "a hundred iterations are done")
        pages.close()  # before its server is gone, which it would report
    finally:
        server.kill()
        server.wait()
    (run,) = json.loads(outside.zoviz("runs", "--json"))
    assert run["status"] == "interrupted" and run["iterations"] > 0
    outside.zoviz("resume", run["id"], "--quiet")
    (again,) = json.loads(outside.zoviz("runs", "--json"))
    assert again["status"] == "finished" and again["iterations"] > run["iterations"]
