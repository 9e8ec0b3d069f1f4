"""Thirty students on a server with its limits: none is locked out, all get their share, and its end loses nothing.

Two minutes here; ten by ``python -m helpers.classroom`` in the folder ``tests``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.classroom import lesson
from helpers.postgres import database, server

STUDENTS = 30


@pytest.mark.slow
@pytest.mark.bench
@pytest.mark.timeout(900)
def test_a_class_of_thirty(tmp_path: Path) -> None:
    with server() as one, database(one, "class") as url:
        held = lesson(tmp_path, url, STUDENTS, 180, 60, 1000)
    print(held)
    assert held.failures == [] and len(held.waits["start"]) == held.starts >= STUDENTS and held.changes > STUDENTS
    # Once all are there: a page that is being made holds the event loop for about a second.
    assert np.quantile(held.lag[held.arrived :], 0.99) < 0.25
    assert held.unfairness <= 2.0
    assert (held.code, held.lost, held.resumed) == (0, [], [True] * 5) and len(held.told) == STUDENTS
    assert {str(run.status) for run in held.records} == {"interrupted"}
