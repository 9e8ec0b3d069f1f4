"""A browser's first visit: the page comes as dark as the system asks for, and is not drawn light first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import panel as pn
import panel_material_ui as pmui
import pytest

from helpers.serving import serving
from zoviz.views.app.page_template import page_template
from zoviz.views.app.system_theme import begins_dark

if TYPE_CHECKING:
    from playwright.sync_api import Page

BEGUN = "Bokeh.documents[0].roots().find(model => model.class_name === 'Page').data.dark_theme"


@pytest.fixture
def address() -> Iterator[str]:
    """Address of a page that begins as its browser's cookie says, and follows nothing afterwards."""

    def make() -> pmui.Page:
        return pmui.Page(title="looks", template=page_template(), dark_theme=begins_dark(pn.state.cookies))

    with serving(make) as port:
        yield f"http://localhost:{port}/"


@pytest.mark.parametrize("look", ["dark", "light"])
def test_the_first_page_is_as_the_system_asks(
    open_page: Callable[..., Page], address: str, idle: Callable[..., None], look: Any
) -> None:
    page = open_page(color_scheme=look)
    page.goto(address)
    idle(page)
    assert page.evaluate(BEGUN) is (look == "dark")
