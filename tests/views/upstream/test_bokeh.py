"""What zoviz replaces inside Bokeh is still there, and still needs it; its effect in a browser: tests/apps."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import bokeh
import pytest
from bokeh.core.property.visual import Image

from zoviz.views.upstream.bokeh import (
    TRANSFORM_ANY_IMAGE,
    read_no_named_files,
)

SCRIPT = Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.js"


def test_bokehs_own_icons_are_still_read_from_files() -> None:
    """Once they are not, ``read_no_named_files`` has nothing to do."""
    source = inspect.getsource(TRANSFORM_ANY_IMAGE)
    assert "Path(value)" in source and "path.exists()" in source


def test_text_names_no_file_and_arrays_are_still_images(tmp_path: Path) -> None:
    import numpy as np

    read_no_named_files()
    path = tmp_path / "words.svg"
    path.write_text("<svg/>")
    assert Image().transform(str(path)) == str(path)
    assert Image().transform(np.zeros((2, 2, 3), dtype=np.uint8)).startswith("data:image/png;base64,")


@pytest.mark.parametrize(
    ("module", "name", "method"),
    [
        ("core/dom", "InlineStyleSheet", "_update"),
        ("core/dom", "InlineStyleSheet", "css"),
        ("models/layouts/layout_dom", "LayoutDOMView", "update_layout"),
    ],
)
def test_what_is_replaced_in_the_browser_stands_where_it_is_looked_for(module: str, name: str, method: str) -> None:
    script = SCRIPT.read_text(encoding="utf-8")
    source = script.partition(f"/* {module}.js */")[2].partition("\n},\n/* ")[0]
    body = re.search(rf"^    class {name}\b.*?^    }}$", source, re.MULTILINE | re.DOTALL)
    head = rf"^        (/\*protected\*/ )?(get )?{method}\("
    assert body and re.search(head, body[0], re.MULTILINE), f"{name} with a method {method}"


def test_a_browser_still_takes_models_that_were_sent_to_it_for_new() -> None:
    """Once it does not, ``know_sent_models`` has nothing to do."""
    script = SCRIPT.read_text(encoding="utf-8")
    read = script[script.index("_apply_json_patch(patch, buffers") :]
    assert "this._new_models.add(obj);" in read[:500]
    sent = script[script.index("create_json_patch(events) {") :][:800]
    assert "!this._new_models.has(model)" in sent and "this._new_models.clear();" in sent
