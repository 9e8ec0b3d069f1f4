"""The page of stored runs: the list, the commands for selected ones, and one of them in full."""

from __future__ import annotations

import html
import json
import time
from concurrent.futures import Future
from functools import partial
from typing import Any

import panel as pn

from zoviz.core.parameters import value_words
from zoviz.core.threads.background_work import file_in_background
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.storage.queries import Record
from zoviz.views.common.buttons import DownloadButton, text_button
from zoviz.views.common.drags import iteration_at
from zoviz.views.common.run_controller import RunController, say_errors, store_of
from zoviz.views.common.style import WIDE, muted_html, note, update_changed
from zoviz.views.stored.fork_form import ForkForm
from zoviz.views.stored.table import StoredRunsTable

_FORMATS = {"html": "Report", "csv": "CSV", "parquet": "Parquet", "nc": "NetCDF"}
"""Formats of files: the ending, and what the button says."""
_EMPTY = "<b>Runs are kept here</b>: to compare, resume, replay, fork and export them. There are none yet."
_HINT = (
    "Select runs. Arrow keys move, Space selects, Enter opens, F2 edits. A fork repeats a run up to an iteration "
    "(double-click on a plot to choose it) and waits there for changes. It then has the run's budgets of iterations "
    "and calls, and no time limit."
)


class StoredRunsPage(pn.viewable.Viewer):
    """A page of a store's runs with buttons to draw, resume, replay, fork, export and delete them.

    Parameters
    ----------
    controller : RunController
        Has the store, starts and shows runs, and says what cannot be done.

    Attributes
    ----------
    table : StoredRunsTable
    fork : ForkForm
    buttons : dict of str to Button
    hint : Column
        What the room is for, shown while the store is empty.
    """

    def __init__(self, controller: RunController, **params: Any) -> None:
        super().__init__(**params)
        self._controller, self._store, self.say = controller, store_of(controller), controller.say
        self.table = StoredRunsTable(controller)
        self._deleted: list[str] = []
        # The id of the run that is described, and of when.
        self._opened, self._described_at = "", (0.0, RunStatus.READY)
        self.buttons = {
            "overlay": text_button("Put on the plots", self.put_on_plots),
            "open": text_button("Open", self.open),
            "resume": text_button("Resume run", self.resume),
            "replay": text_button("Replay", self.replay),
            "fork": text_button("Fork", self.begin_fork),
            "delete": text_button("Delete", self.delete),
            "undo": text_button("Undo delete", self.undo_delete, disabled=True),
        }
        self.fork = ForkForm(self.buttons["fork"])
        self._exports = {suffix: self._export(suffix, label) for suffix, label in _FORMATS.items()}
        start = text_button("Start a run", controller.start, first=True)
        self.hint = pn.Column(note(_EMPTY), start, visible=False, margin=(8, 0))
        self._sign = note("")
        self._detail = pn.pane.HTML("", sizing_mode="stretch_width", margin=(4, 10))
        self._enable([])
        self.table.param.watch(lambda event: self._follow(event.old, event.new), "selection")
        self.table.param.watch(lambda _: self.open(), "entered")
        self.table.param.watch(lambda _: self._follow_store(), "was_read")
        # A second double click on the same place counts, too.
        controller.runs_shown.param.watch(lambda event: self._pick_place(*event.new), "picked", onlychanged=False)

    def __panel__(self) -> pn.viewable.Viewable:
        buttons = [button for name, button in self.buttons.items() if name != "fork"]
        actions = pn.FlexBox(*buttons, *self._exports.values(), align_items="center")
        parts = (self.hint, self.table, actions, self._sign, self._detail, self.fork, note(_HINT))
        column = pn.Column(*parts, **WIDE)
        self.table.read()
        return column

    def read(self) -> None:
        """Read the list anew."""
        self.table.read()

    def update(self) -> None:
        """Complete the list, and read it again now and then."""
        self.table.update()

    @say_errors()
    def _pick_place(self, axis: str, place: float) -> None:
        """Set the fork's place to what a double click on the plots means for the selected run."""
        if len(self.table.selection) == 1:
            self.fork.at = iteration_at(self._store.load(self._ticked().id), axis, place)

    def _follow(self, before: list[Record], now: list[Record]) -> None:
        """Follow the ticks: another run's takes away what is known of the one that is open.

        None at all leaves it: a browser that draws the list anew drops its ticks.
        """
        self._enable(now)
        if now and [one.id for one in now] != [self._opened]:
            self._close()
        if [one.id for one in before] != [one.id for one in now]:
            self.fork.reset()

    def _close(self) -> None:
        self._detail.object, self._opened = "", ""
        self.table.make_room(False)

    @say_errors()
    def _follow_store(self) -> None:
        """Show what the store says by now of the run that is open; nothing where it is not in the list."""
        update_changed(self.hint, visible=self.table.empty)
        record = next((one for one in self.table.records if one.id == self._opened), None)
        if record is None:
            self._close()
        elif (record.updated, record.status) != self._described_at:
            self._describe(record)

    def _enable(self, records: list[Record]) -> None:
        """Enable the buttons that make sense for the selected records."""
        one = records[0] if len(records) == 1 else None
        enabled = {
            "overlay": bool(records),
            "open": one is not None,
            "resume": one is not None and one.status not in (RunStatus.FINISHED, RunStatus.DIVERGED, RunStatus.FAILED),
            "replay": one is not None,
            "fork": one is not None,
            "delete": bool(records),
        }
        for name, button in self.buttons.items():
            if name != "undo":
                update_changed(button, disabled=not enabled[name])
        for suffix, download in self._exports.items():
            update_changed(download, disabled=one is None, filename=self._name(one, suffix))

    @say_errors()
    def put_on_plots(self) -> None:
        """Add the selected runs to the plots, and say which."""
        names = []
        for record in self.table.selection:
            run = self._store.load(record.id)
            names.append(self._controller.runs_shown.put(run, run.label or f"{record.solver} {record.id[:6]}").name)
        self._tell(f"On the plots now, under Run: {', '.join(names)}.")

    def _ticked(self) -> Record:
        """Return the one run that is ticked: a click may be under way when its tick, and with it the button, goes."""
        if len(self.table.selection) != 1:
            raise ValueError(f"Expected one selected run, got {len(self.table.selection)}: select one.")
        return self.table.selection[0]

    def _tell(self, sentence: str) -> None:
        """Say below the buttons what one of them has done."""
        self._sign.object = muted_html(html.escape(sentence))

    def _tell_begun(self, sentence: str) -> None:
        """Say what has been begun with the selected run, which is selected no more."""
        self.table.tabulator.selection = []
        self.table.read()
        self._tell(sentence)

    @say_errors()
    def resume(self) -> None:
        """Resume the selected run; one that is still at work in this server is shown."""
        record = self._ticked()
        if record.status.active:
            if not self._controller.join(record.id):
                self.say(
                    f"Expected a run of this server, got one of {record.host} (process {record.pid}): watch it only."
                )
            return
        self._controller.begin(self._store.load(record.id).resume())
        self._tell_begun(f"Run {record.id[:8]} continues, under Run.")

    @say_errors()
    def replay(self) -> None:
        """Run the selected run again from its start."""
        record = self._ticked()
        self._controller.begin(self._store.load(record.id).replay())
        self._tell_begun(f"Run {record.id[:8]} is being replayed, under Run.")

    @say_errors()
    def begin_fork(self) -> None:
        """Repeat the selected run up to a place, and wait there for changes."""
        record = self._ticked()
        run, at = self.fork.make(self._store, record.id)
        self._controller.begin(run, at)
        self._tell_begun(f"Run {record.id[:8]} is forked at iteration {at:,}, under Run.")

    @say_errors()
    def delete(self) -> None:
        """Delete the selected runs; ``undo_delete`` restores them."""
        self._deleted = [record.id for record in self.table.selection]
        self._store.delete(self._deleted)
        update_changed(self.buttons["undo"], disabled=False)
        self.table.read()
        self._tell(f"Deleted: {', '.join(id[:8] for id in self._deleted)}. Undo delete restores them.")

    @say_errors()
    def undo_delete(self) -> None:
        """Restore the runs that were deleted last."""
        self._store.restore(self._deleted)
        self._tell(f"Restored: {', '.join(id[:8] for id in self._deleted)}.")
        self._deleted = []
        update_changed(self.buttons["undo"], disabled=True)
        self.table.read()

    @say_errors()
    def open(self) -> None:
        """Show everything about the selected run, from then on as it is in the store."""
        self._describe(self._ticked())
        self.table.make_room(True)

    def _describe(self, record: Record) -> None:
        stored = self._store.load(record.id)
        self._opened, self._described_at = record.id, (record.updated, record.status)
        record = stored.record
        parts = {
            "started": time.strftime("%Y-%m-%d %H:%M", time.localtime(record.created)),
            "counts": f"{record.iterations:,} iterations, {record.calls:,} calls, {record.seconds:.3g} s",
            "samples": ", ".join(filter(None, [_counted(record.samples, "ξ"), _counted(record.zeta_samples, "ζ")])),
            "message": stored.message,
            "problem": _spelled(json.loads(stored.recipe["problem"])),
            "solver": _spelled(json.loads(stored.recipe["solver"])),
            "settings": ", ".join(
                f"{name}={value}" for name, value in stored.settings.items() if value not in (None, "")
            ),
            "chosen automatically": ", ".join(
                f"{name}={value_words(value, digits=4)}" for name, value in stored.resolved.items()
            ),
            "steering": "<br>".join(
                html.escape(f"iteration {c.iteration}: {c.name} {c.old} to {c.new}") for c in stored.journal
            ),
            "versions": ", ".join(f"{name} {version}" for name, version in stored.versions.items()),
        }
        rows = "".join(
            f"<tr><td style='opacity:.65;padding-right:16px;vertical-align:top'>{name}</td>"
            f"<td style='overflow-wrap:anywhere'>{value if name == 'steering' else html.escape(str(value))}</td></tr>"
            for name, value in parts.items()
            if value
        )
        self._detail.object = (
            f"<b>Run {stored.id[:8]}, {record.status}</b><table style='font-size:.82rem'>{rows}</table>"
        )

    def _export(self, suffix: str, label: str) -> DownloadButton:
        """Return a button that downloads the selected run in a format."""
        return DownloadButton(partial(self._exported, suffix), label=label, filename=f"zoviz.{suffix}")

    def _exported(self, suffix: str) -> Future[bytes]:
        """Have a thread make a file of the selected run: a report takes seconds."""
        run = self._store.load(self._ticked().id)
        return file_in_background(run.report if suffix == "html" else run.export, suffix)

    @staticmethod
    def _name(record: Record | None, suffix: str) -> str:
        return f"zoviz_{'run' if record is None else record.id[:8]}.{suffix}"


def _counted(samples: int | None, name: str) -> str:
    """Return how many samples of a name there were, in words; nothing where there were none, or nobody counted."""
    return f"{samples:,} of {name}" if samples else ""


def _spelled(recipe: Any) -> str:
    """Return a recipe as it would be written in Python."""
    if isinstance(recipe, dict) and "class" in recipe:
        inner = ", ".join(f"{name}={_spelled(value)}" for name, value in recipe["values"].items() if value is not None)
        return f"{recipe['class'].rpartition(':')[2]}({inner})"
    return str(recipe)
