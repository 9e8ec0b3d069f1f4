"""The file of a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoviz.runs.store import Store


@pytest.fixture
def path(store: Store) -> Path:
    return Path(store.database.name)
