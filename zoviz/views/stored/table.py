"""The list of stored runs, which reads one page at a time, so that it stays quick however many there are."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import panel as pn
import param

from zoviz.core.registry import discover
from zoviz.problems.base import Problem
from zoviz.runs.storage.queries import STATUSES, Record
from zoviz.solvers.base import Solver
from zoviz.views.common.buttons import text_button
from zoviz.views.common.run_controller import RunController, say_errors, store_of
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.style import WIDE, muted_html, note, update_changed
from zoviz.views.stored.grid_keys import FOCUS_RING, GridKeys
from zoviz.views.stored.summary import Summaries, Summary
from zoviz.views.upstream.panel import changes_wait

PAGE = 25
"""Runs on a page of the list."""
AGAIN, SHARE = 2.0, 30.0
"""Seconds after which a list in sight is read again; and how many times as long as reading it took, at least."""
DRAWING = 5.0
"""Seconds that a browser has for drawing the list: before they are over it gets no single cells."""
ORDERS = {
    "newest first": "-created",
    "oldest first": "created",
    "objective": "objective",
    "largest objective": "-objective",
    "violation": "violation",
    "largest violation": "-violation",
    "most calls": "-calls",
    "fewest calls": "calls",
    "label": "label",
    "label, from Z": "-label",
    "problem": "problem",
    "problem, from Z": "-problem",
    "solver": "solver",
    "solver, from Z": "-solver",
    "status": "status",
    "status, from Z": "-status",
}
_FIELDS = {"begun": "created"}
"""Names that columns of the list have in the store, where they differ."""
_TITLES = {
    "label": "Name",
    "problem": "Problem",
    "solver": "Solver",
    "verdict": "Verdict",
    "objective": "Objective",
    "gap": "Gap",
    "violation": "Violation",
    "calls": "Calls",
    "status": "Status",
    "begun": "Started",
    "tags": "Tags",
    "notes": "Notes",
    "run": "Run",
    "parameters": "Parameters",
}
"""Of the columns, in their order: those that a narrow page may leave to scrolling come last."""
_COLUMNS = tuple(_TITLES)
_WIDTHS = {"verdict": 140, "gap": 76, "label": 110, "notes": 110}
"""Of columns whose texts come later than the others, and of those that a person fills, in pixels."""
_READING = "Reading the list ..."
_EDITED = ("label", "tags", "notes")
_SPOKEN = ["run", "label", "problem", "solver", "verdict", "status"]
"""What a screen reader says of a row."""
_EDITORS = {name: {"type": "input"} if name in _EDITED else None for name in _COLUMNS}
_CLASS = "zoviz-stored-runs"
_STYLE = """
.tabulator {font-size: 13px !important; height: 100% !important}
.tabulator .tabulator-cell {padding: 4px 6px !important}
.tabulator .tabulator-row.tabulator-selectable:hover {
    background-color: color-mix(in srgb, currentColor 15%, transparent) !important;
    color: inherit !important;
}
/* What a window has beside the bars above and the buttons below, and a run's details where there are some. */
:host(.tall) {height: max(330px, calc(100vh - 440px)) !important; flex-basis: auto !important}
:host(.low) {height: max(190px, calc(100vh - 710px)) !important; flex-basis: auto !important}
"""


class StoredRunsTable(pn.viewable.Viewer):
    """A list of a store's runs with search, order and pages; labels, tags and notes are edited in place.

    Parameters
    ----------
    controller : RunController
        Has the store, and says what cannot be done.
    clock : callable
        Seconds, from any origin.

    Attributes
    ----------
    records : list of Record
        Those on the page of the list.
    tabulator : Tabulator
    """

    text = param.String(default="", label="Search", doc="Labels, notes, tags, problems, solvers, messages, ids.")
    status: param.Selector[str] = param.Selector(
        default="any", objects=["any", *STATUSES], label="Status", doc="Show runs with this status."
    )
    order: param.Selector[str] = param.Selector(
        default="newest first", objects=list(ORDERS), label="Order", doc="Sort order of the list."
    )
    page = param.Integer(default=0, bounds=(0, None), label="Page", doc="Page of the list.")
    selection: param.List[list[Record]] = param.List(default=[], doc="The selected records.")
    was_read = param.Event(doc="The list was read from the store.")
    entered = param.Event(doc="Enter was pressed on a row, now the only one selected.")

    def __init__(self, controller: RunController, clock: Callable[[], float] = time.monotonic, **params: Any) -> None:
        super().__init__(**params)
        self._store, self.say = store_of(controller), controller.say
        self._clock, self._next_read, self._drawn = clock, -math.inf, -math.inf
        self.records: list[Record] = []
        self.tabulator = pn.widgets.Tabulator(
            _frame(()),
            show_index=False,
            selectable="checkbox",
            editors=_EDITORS,
            titles=_TITLES,
            text_align={name: "right" for name in ("calls", "gap", "objective", "violation")},
            stylesheets=[_STYLE, FOCUS_RING],
            css_classes=[_CLASS, "tall"],
            layout="fit_data_stretch",  # columns are as wide as what is in them, the last as what is left
            widths=_WIDTHS,
            theme="simple",
            sortable={name: _FIELDS.get(name, name) in ORDERS.values() for name in _COLUMNS},
            height=330,
            # Else Tab does not leave its cells; and keys move among all rows of the page, not those in sight.
            configuration={"keybindings": {"navNext": False, "navPrev": False}, "renderVertical": "basic"},
            sizing_mode="stretch_width",
            margin=(4, 10),
        )
        self.tabulator.on_edit(lambda _: self._keep())
        self.tabulator.param.watch(lambda _: self._choose(), "selection")
        self.tabulator.param.watch(lambda event: self._sort(event.new), "sorters")
        self._summaries, self._sent = Summaries(self._store), _frame(())
        self._keys: GridKeys | None = None  # of the page that shows the list
        self._where, self._position = note(_READING), ""
        self._back = text_button("Newer", lambda: self._turn(-1))
        self._on = text_button("Older", lambda: self._turn(1))
        search = pn.widgets.TextInput.from_param(self.param.text, width=260, margin=(4, 8))
        lists = [SearchList.of_room(one, width) for one, width in ((self.param.status, 140), (self.param.order, 180))]
        self._fields = [search, *lists]
        self.param.watch(lambda _: self._restart(), ["text", "status", "order"])
        self.param.watch(lambda _: self.read(), "page")

    def __panel__(self) -> pn.viewable.Viewable:
        bar = pn.FlexBox(*self._fields, self._back, self._on, self._where, align_items="center")
        names: dict[str, Any] = {"title": "Stored runs", "key": "run", "spoken": _SPOKEN, "edited": list(_EDITED)}
        self._keys = GridKeys(self._enter, table=_CLASS, **names)
        self._keys.param.watch(lambda _: self._tell_where(), "drawn")
        return pn.Column(bar, self.tabulator, self._keys, **WIDE)

    def make_room(self, needed: bool) -> None:
        """Be lower where a run's details are to be in sight below the list."""
        update_changed(self.tabulator, css_classes=[_CLASS, "low" if needed else "tall"])

    def _choose(self) -> None:
        """Set ``selection`` to the records that are ticked."""
        self.selection = [self.records[i] for i in self.tabulator.selection if i < len(self.records)]

    def _enter(self, run: str) -> None:
        """Tick the run whose row Enter was pressed on, alone."""
        rows = [i for i, one in enumerate(self.records) if _short(one) == run]
        if rows:
            self.tabulator.selection = rows
            self.entered = True

    @say_errors("The store cannot be read: ")
    def read(self) -> None:
        """Read the page of the list from the store again; runs that were ticked stay so."""
        self._keep()
        which: dict[str, Any] = {
            "text": _searched(self.text) or None,
            "status": None if self.status == "any" else self.status,
        }
        began = self._clock()
        total = self._store.count(**which)
        first = self.page * PAGE
        self.records = self._store.runs(**which, sort=ORDERS[self.order], limit=PAGE, offset=first)
        ticked = {one.id for one in self.selection}
        places = [i for i, one in enumerate(self.records) if one.id in ticked]
        self._show()
        update_changed(self.tabulator, selection=places)
        self._choose()  # the same places may have other records now, or the same with another status
        self._summaries.ask(self.records)
        self._position = f"{first + 1:,} to {first + len(self.records):,} of {total:,}" if self.records else "No runs"
        self._tell_where()
        update_changed(self._back, disabled=self.page == 0)
        update_changed(self._on, disabled=first + PAGE >= total)
        ended = self._clock()
        self._next_read = ended + max(AGAIN, SHARE * (ended - began))
        self.was_read = True

    @property
    def empty(self) -> bool:
        """Whether the store has no run at all, as far as it was read."""
        return not self.records and (self.text, self.status, self.page) == ("", "any", 0)

    def _tell_where(self) -> None:
        """Say which runs are listed, once a browser shows the first."""
        drawn = self._keys is None or self._keys.drawn or not self.records
        update_changed(self._where, object=muted_html(self._position if drawn else _READING))

    @say_errors("The list cannot be completed: ")
    def update(self) -> None:
        """Complete the list by what a thread has read of its runs; called by the page's refreshes while it is in sight.

        It is read again now and then: runs may be another process's, which tells this one nothing.
        A tick that the server has but has not taken on yet comes first, and so does what is being typed into a cell:
        the new list would undo it.
        """
        if changes_wait(self.tabulator) or (self._keys is not None and self._keys.editing):
            return
        self._keep()
        if self._clock() >= self._next_read:
            self.read()
        elif self._summaries.collect():
            self._show()
            self._summaries.ask(self.records)

    def _show(self) -> None:
        """Send what has changed of the list: the cells alone where the runs are the same, in the same order."""
        frame, shown = self._frame(), self.tabulator.value
        self._sent = frame.copy()
        if frame.equals(shown):
            return
        now = self._clock()
        # While a browser draws the whole list anew it takes no ticks, and what is typed is lost. A patch that comes
        # while it still does so raises there, and what else its message brings is lost.
        if list(frame["run"]) == list(shown["run"]) and now >= self._drawn + DRAWING:
            cells = {name: np.flatnonzero(frame[name].to_numpy() != shown[name].to_numpy()) for name in _COLUMNS}
            patches = {name: [(int(i), frame[name][i]) for i in rows] for name, rows in cells.items() if len(rows)}
            self.tabulator.patch(patches)
        else:
            self.tabulator.value, self._drawn = frame, now

    def _frame(self) -> pd.DataFrame:
        return _frame([(one, self._summaries.get(one)) for one in self.records])

    def _sort(self, sorters: list[dict[str, Any]]) -> None:
        """Order all runs of the store, not this page of them, by the column whose head was clicked; twice: reversed."""
        if not sorters:
            return
        name = _FIELDS.get(sorters[0]["field"], sorters[0]["field"])
        ways = [title for title, sort in ORDERS.items() if sort.removeprefix("-") == name]
        self.tabulator.sorters = []
        if ways:
            self.order = ways[(ways.index(self.order) + 1) % len(ways)] if self.order in ways else ways[0]

    def _restart(self) -> None:
        if self.page:
            self.page = 0
        else:
            self.read()

    def _turn(self, by: int) -> None:
        self.page = max(0, self.page + by)

    @say_errors("The store cannot be changed: ")
    def _keep(self) -> None:
        """Store what was typed into labels, tags and notes since the list was sent.

        Panel tells of it after it has the new text, and a list that is sent in between would have the old one.
        """
        now, sent = self.tabulator.value, self._sent
        self._sent = now.copy()
        if list(now["run"]) != list(sent["run"]) or len(now) != len(self.records):
            return
        for name in _EDITED:
            for i in np.flatnonzero(now[name].to_numpy() != sent[name].to_numpy()):
                text = str(now[name][i] or "")
                value: Any = tuple(text.replace(",", " ").split()) if name == "tags" else text
                self._store.annotate(self.records[i].id, **{name: value})
                self._next_read = -math.inf  # what is known of it is out of date


def titles_of_classes() -> dict[str, str]:
    """Return the titles of problems and solvers by the names of their classes, under which stores have them."""
    kinds: dict[str, type[Problem] | type[Solver]] = {**discover("zoviz.problems", Problem)}
    kinds |= discover("zoviz.solvers", Solver)
    return {name: str(kind.title) or name for name, kind in kinds.items()}


def _searched(text: str) -> str:
    """Return what stores are searched for: for part of one class's title its name, under which they have it."""
    classes = [name for name, title in titles_of_classes().items() if text and text.casefold() in title.casefold()]
    return classes[0] if len(classes) == 1 and text.casefold() not in classes[0].casefold() else text


def _begun(created: float) -> str:
    """Return when a run began as a short text: the time of a day of this year, the date of an older one."""
    then = time.localtime(created)
    return time.strftime("%m-%d %H:%M" if then.tm_year == time.localtime().tm_year else "%Y-%m-%d", then)


def _short(record: Record) -> str:
    """Return as much of a run's id as the list has of it."""
    return record.id[:8]


def _number(value: float, form: str) -> str:
    return "" if math.isnan(value) else f"{value:{form}}"


def _frame(records: Sequence[tuple[Record, Summary | None]]) -> pd.DataFrame:
    """Return the table that the list shows of some records, with what is known of them beyond."""
    titles = titles_of_classes()
    rows = []
    for one, summary in records:
        more = Summary(math.nan, "…", "") if summary is None else summary
        row = {
            "run": _short(one),
            "label": one.label,
            "problem": titles.get(one.problem, one.problem),
            "verdict": more.verdict,
            "tags": " ".join(one.tags),
            "notes": one.notes,
            "gap": _number(more.gap, ".2g"),
            "objective": _number(one.objective, ".6g"),
            "violation": _number(one.violation, ".2g"),
            "solver": titles.get(one.solver, one.solver),
            "calls": f"{one.calls:,}",
            "status": str(one.status),
            "begun": _begun(one.created),
            "parameters": more.parameters,
        }
        rows.append(row)
    return pd.DataFrame(rows, columns=list(_COLUMNS))
