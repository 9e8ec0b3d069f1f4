"""A store in a file, and small runs to put into it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete

from helpers import waiting
from zoviz import Run
from zoviz.problems import LoadTracking
from zoviz.runs.engine.trace import Trace
from zoviz.runs.storage.schema import RUNS
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """Makes a URL of a fresh database, in a server that is started for the session."""
    from helpers.postgres import database, server  # not for Windows

    with server() as one:
        yield lambda: database(one, f"zoviz_{uuid.uuid4().hex[:12]}")


@pytest.fixture(scope="session")
def shared(postgres: Any) -> Iterator[Store]:
    """A PostgreSQL store for tests that leave it as they like: making a database takes longer than most of them."""
    with postgres() as url, Store(url) as one:
        yield one


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Of a store that is yet to be made, of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'zoviz.db'}"
        return
    with request.getfixturevalue("postgres")() as fresh:
        yield fresh


@pytest.fixture
def emptied(shared: Store) -> Store:
    """The session's PostgreSQL store, without the runs of other tests."""
    with shared.database.writing() as connection:
        connection.execute(delete(RUNS))
    return shared


@pytest.fixture
def path(store: Store) -> Path:
    """The file of a store."""
    return Path(store.database.name)


@pytest.fixture
def small(store: Store) -> Callable[..., Run]:
    """Makes a cheap run that is stored: 5 loads, coordinate differences."""

    def make(**settings: Any) -> Run:
        problem = LoadTracking(n=5, curtailment=40.0)
        defaults = {"problem": problem, "solver": ZOCEG(), "replicas": 2, "seed": 3, "store": store}
        return Run(**(defaults | settings))

    return make


@pytest.fixture
def until() -> Callable[..., None]:
    return waiting.until


@pytest.fixture
def same_trace() -> Callable[[Trace, Trace], None]:
    def compare(one: Trace, other: Trace, but: tuple[str, ...] = ()) -> None:
        left, right = one.snapshot().columns, other.snapshot().columns
        assert left.keys() == right.keys()
        for name in left.keys() - set(but):
            np.testing.assert_array_equal(left[name], right[name], err_msg=name)

    return compare
