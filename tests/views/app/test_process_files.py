"""A browser that names a file as a tool's icon is not sent that file."""

from __future__ import annotations

from pathlib import Path

from bokeh.models import PanTool

from zoviz.views.app.process import prepare

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cfc0f01f00050001ff56c72f"
    "db0000000049454e44ae426082"
)


def test_an_icon_names_no_file(tmp_path: Path) -> None:
    prepare()
    path = tmp_path / "picture.png"
    path.write_bytes(PIXEL)
    tool = PanTool()
    try:
        tool.set_from_json("icon", str(path))
    except ValueError:
        assert tool.icon is None
    assert tool.icon in (None, str(path))
