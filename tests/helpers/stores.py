"""What the tests of stores share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select

from zoviz import Run
from zoviz.benchmark.stored_study import StoredStudy, StudySnapshot
from zoviz.runs.store import Store

Small = Callable[..., Run]
EACH_KIND = pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True)
"""The same tests for SQLite and PostgreSQL."""


def whole_study(store: Store, name: str) -> StudySnapshot:
    """A study with all of its runs: one look leaves to the next what it has no time for."""
    stored = StoredStudy(store, name)
    while (snapshot := stored.read()).unread:
        assert snapshot.outcomes
    return snapshot


def rows(store: Store, table: Any, run: str | None = None) -> int:
    query = select(func.count()).select_from(table)
    with store.database.reading() as connection:
        return connection.execute(query if run is None else query.where(table.c.run == run)).scalar_one()
