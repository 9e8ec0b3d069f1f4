"""What a browser says of the stored runs' keys: Enter ticks its row alone and opens it, and nonsense does nothing."""

from __future__ import annotations

from pathlib import Path

import panel as pn
import pytest

from zoviz import Run, Store
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.stored.grid_keys import GridKeys

# Bokeh's use of pandas
pytestmark = [
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def test_enter_ticks_its_row_alone_and_opens_it(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    for _ in range(2):
        Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-3), replicas=1, iterations=2, store=store).run()
    page = Dashboard(store=store)
    page.rooms.open = "runs"
    assert page.stored_runs is not None
    table, column = page.stored_runs.table, page.stored_runs.__panel__()
    assert isinstance(column, pn.Column)
    grid = column.select(GridKeys)[0]
    first, second = (record.id[:8] for record in table.records)
    assert set(grid.spoken) | set(grid.edited) | {grid.key} <= set(table.tabulator.value.columns)
    table.tabulator.selection = [0]
    for nonsense in (None, "open", {"open": 1}, {"open": "no run"}, {"open": ""}, [first]):
        grid.press(nonsense)
    assert [one.id[:8] for one in table.selection] == [first] and details(column) == ""
    grid.press({"open": second})
    assert [one.id[:8] for one in table.selection] == [second]
    assert f"Run {second}" in details(column)
    grid.press({"open": second})
    assert f"Run {second}" in details(column)


def details(column: pn.Column) -> str:
    """What the room says of a stored run in full."""
    return next((text for one in column if "started" in (text := str(getattr(one, "object", "")))), "")
