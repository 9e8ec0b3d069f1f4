"""What zoviz replaces and reads inside Panel is still there, and still needs it."""

from __future__ import annotations

import importlib.metadata
import inspect

import panel as pn
import panel_material_ui as pmui
import param
import pytest
from packaging.specifiers import SpecifierSet
from panel.io.resources import DIST_DIR, LOCAL_DIST
from panel.io.server import ComponentResourceHandler
from panel.io.state import state
from panel.util import edit_readonly

from zoviz.views.common.panel_internals import (
    PARSE_ANY_PATH,
    REPLACED_CODE,
    TYPESETTER,
    VERSIONS,
    harden_page,
    linked_parameter,
)


def test_this_panel_was_checked() -> None:
    assert importlib.metadata.version("panel") in SpecifierSet(VERSIONS), (
        "check this file's claims, then widen VERSIONS"
    )


def test_panel_brings_what_sets_formulas() -> None:
    file = DIST_DIR / TYPESETTER.removeprefix(LOCAL_DIST)
    assert file.is_file() and "mathml" in file.read_text(encoding="utf-8")


def test_panels_own_route_still_imports_what_an_address_names() -> None:
    """Once it does not, ``import_no_addressed_modules`` has nothing to do."""
    source = inspect.getsource(PARSE_ANY_PATH)
    assert "importlib.import_module(mod)" in source and "self._resource_attrs" in source
    assert list(inspect.signature(ComponentResourceHandler.parse_url_path).parameters)[1:] == ["path"]


def test_a_widget_of_param_knows_its_parameter() -> None:
    class Owner(param.Parameterized):
        size = param.Integer(1)

    owner = Owner()
    widget = pn.Param(owner, parameters=["size"])[1]
    assert linked_parameter(widget) is owner.param.size
    assert linked_parameter(pmui.TextInput()) is None


def busy_pages(*pages: pmui.Page) -> list[bool]:
    """Which pages follow the server's being busy with a click."""
    with edit_readonly(state):
        state.busy = True
        try:
            return [page.busy for page in pages]
        finally:
            state.busy = False


def test_a_page_takes_a_file_as_logo_and_follows_the_servers_busyness_unless_hardened() -> None:
    usual, hardened = pmui.Page(), pmui.Page()
    harden_page(hardened)
    assert usual.param["logo"].class_ is not type(None) and hardened.param["logo"].class_ is type(None)
    assert busy_pages(usual, hardened) == [True, False]


@pytest.mark.parametrize("text", REPLACED_CODE)
def test_the_browser_still_has_the_code_that_tells_all_it_draws(text: str) -> None:
    """Where it has not, ``TELL_OWN_CHANGES`` leaves all as it is."""
    script = (DIST_DIR / "panel.min.js").read_text(encoding="utf-8")
    assert script.count(text.replace("\n", "\\n")) == 1
