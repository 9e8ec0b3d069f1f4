"""A store of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete

from zoviz.runs.storage.schema import RUNS
from zoviz.runs.store import Store


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Of each kind, and empty: the same tests for SQLite and PostgreSQL."""
    if request.param == "sqlite":
        with Store(f"sqlite:///{tmp_path / 'zoviz.db'}") as one:
            yield one
        return
    one = request.getfixturevalue("shared")
    with one.database.writing() as connection:
        connection.execute(delete(RUNS))
    yield one
