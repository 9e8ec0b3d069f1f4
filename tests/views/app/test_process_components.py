"""No address has a module imported: Panel's route for components' files answers for those that are loaded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from panel.io.server import ComponentResourceHandler
from tornado.web import HTTPError

from zoviz.views.app.process import prepare


def found(path: str) -> str:
    return ComponentResourceHandler.parse_url_path(ComponentResourceHandler, path)


def test_an_address_imports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare()
    (tmp_path / "left_alone.py").write_text("class Thing:\n    __css__ = ['a.css']\n")
    (tmp_path / "a.css").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    for path in ("left_alone/Thing/__css__/a.css", "os/no_such/__css__/a.css", "../x/Thing/__css__/a.css", ""):
        with pytest.raises(HTTPError) as refusal:
            found(path)
        assert refusal.value.status_code == 404
    assert "left_alone" not in sys.modules
    monkeypatch.setitem(sys.modules, "left_alone", __import__("left_alone"))
    assert found("left_alone/Thing/__css__/a.css") == str(tmp_path / "a.css")
