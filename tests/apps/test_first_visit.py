"""A browser's first visit: the page comes as dark as the system says, and is not drawn light first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import panel as pn
import pytest

from helpers.serving import serving
from zoviz.views.app.page_template import page_template

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def address() -> Iterator[str]:
    """Address of a page whose parts are empty."""

    def make() -> pn.Template:
        parts = {name: pn.Column() for name in ("header", "guide", "forms", "room")}
        return page_template(**parts, open_room="run", dark=False)

    with serving(make) as port:
        yield f"http://localhost:{port}/"


@pytest.mark.parametrize("look", ["dark", "light"])
def test_the_first_page_is_as_the_system_says(open_page: Callable[..., Page], address: str, look: Any) -> None:
    page = open_page(color_scheme=look)
    page.goto(address, wait_until="domcontentloaded")
    ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert ground == {"dark": "rgb(15, 19, 24)", "light": "rgb(250, 251, 252)"}[look]
