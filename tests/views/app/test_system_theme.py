"""Light or dark as the system asks, or as the person chose; the browser's part: tests/apps/dashboard."""

from __future__ import annotations

import pytest
from bokeh.document import Document

from zoviz.views.app.system_theme import COOKIE, begins_dark, follow_system_theme


@pytest.mark.parametrize(
    ("said", "dark"),
    [("dark", True), ("system-dark", True), ("light", False), ("system-light", False), ("", False), ("<b>", False)],
)
def test_a_page_begins_as_the_last_one_was(said: str, dark: bool) -> None:
    assert begins_dark({COOKIE: said} if said else {}) is dark


def test_a_page_is_told_to_follow_once_it_stands() -> None:
    document = Document()
    follow_system_theme(document)
    (callback,) = document.callbacks.js_event_callbacks["document_ready"]
    assert "prefers-color-scheme: dark" in callback.code and COOKIE in callback.code
