"""What is replaced inside libraries is so for the versions that were checked."""

from __future__ import annotations

import importlib.metadata
import logging

import pytest

from zoviz.views import upstream
from zoviz.views.upstream import checked, suits


@pytest.mark.parametrize("library", upstream.VERSIONS)
def test_the_installed_version_was_checked(library: str) -> None:
    assert suits(library), f"check the claims of zoviz/views/upstream/{library}.py, then widen its versions"


@pytest.mark.parametrize(("version", "applied"), [("1.9.9", ["order"]), ("1.10.0", []), ("2.0.0a1", [])])
def test_a_part_is_applied_to_checked_versions(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, version: str, applied: list[str]
) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda library: version)
    done: list[str] = []
    with caplog.at_level(logging.WARNING, logger="zoviz"):
        checked("panel")(lambda: done.append("order"))()
    assert done == applied
    assert ("is not applied to version 1.10.0" in caplog.text) == (version == "1.10.0")
