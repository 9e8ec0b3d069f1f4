"""What the tests of stores share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select

from zoviz import Run
from zoviz.runs.store import Store

Small = Callable[..., Run]
EACH_KIND = pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True)
"""The same tests for SQLite and PostgreSQL."""


def rows(store: Store, table: Any, run: str | None = None) -> int:
    query = select(func.count()).select_from(table)
    with store.database.reading() as connection:
        return connection.execute(query if run is None else query.where(table.c.run == run)).scalar_one()
