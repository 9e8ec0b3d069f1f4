"""What a page does about a lost connection is still needed, and can tell a new session from its own."""

from __future__ import annotations

from pathlib import Path

import bokeh.server
import pytest
from bokeh.document import Document

from zoviz.views.common.connection import watch_connection

BOKEH = Path(bokeh.server.__file__).parent / "static" / "js" / "bokeh.js"


@pytest.mark.parametrize(
    "part",
    [
        "this.session.document.replace_with_json(doc_json);",  # without what stands beside the text
        "const { doc_json, buffers } = await this._pull_doc_json();",
        "this._receiver = new receiver_1.Receiver();",  # once, and not for each websocket
        "MAX_RECONNECTION_ATTEMPTS = 5;",
    ],
)
def test_bokehs_own_way_back_still_fails(part: str) -> None:
    """Once it does not, a page need not mend it."""
    assert BOKEH.read_text(encoding="utf-8").count(part) == 1


def test_each_session_has_a_key_of_its_own() -> None:
    documents = Document(), Document()
    for document in documents:
        watch_connection(document)
    assert len({document.config.name for document in documents}) == 2
    assert not any(document.config.reconnect_session for document in documents), "attempts are the page's own"
