"""The page of stored runs: the list, what can be done with the chosen ones, and one of them in full."""

from __future__ import annotations

import html
import io
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.run import Run
from zoviz.runs.storage.queries import Record
from zoviz.runs.storage.stored_run import Stored
from zoviz.runs.store import Store
from zoviz.views.common.style import amend, note
from zoviz.views.stored.fork_form import ForkForm
from zoviz.views.stored.table import Archive

_HINT = (
    "Tick runs in the list. A double click on a plot picks the place at which to fork. A fork repeats the run up to "
    "there and waits for changes. It has the run's budgets, as much again where they are spent there, and none of time."
)


class Library(pn.viewable.Viewer):
    """Stored runs, for a dashboard.

    Parameters
    ----------
    store : Store
    overlay : callable
        Puts a ``Stored`` on the plots.
    begin : callable
        Starts a ``Run`` (resumed, forked, replayed) and shows it; told an iteration, has it wait there.
    join : callable
        Takes up a run that is still at work in this process by its id; whether there is one.
    say : callable
        Shows a sentence.
    """

    def __init__(
        self,
        store: Store,
        overlay: Callable[[Stored], None],
        begin: Callable[[Run, int | None], None],
        join: Callable[[str], bool],
        say: Callable[[str], None],
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self._store, self._overlay, self._begin, self._join, self._say = store, overlay, begin, join, say
        self.archive = Archive(store, self._pick, say)
        self._picked: tuple[str, float] | None = None
        self._deleted: list[str] = []
        act = lambda label, what, **look: pmui.Button(  # noqa: E731
            label=label, on_click=lambda _: self._try(what), size="small", variant="outlined", margin=(4, 4), **look
        )
        self.buttons = {
            "overlay": act("Put on the plots", self._put),
            "open": act("Open", self._open),
            "resume": act("Resume run", lambda: self._again("resume")),
            "replay": act("Replay", lambda: self._again("replay")),
            "fork": act("Fork", self._fork),
            "delete": act("Delete", self._delete, color="error"),
            "undo": act("Undo delete", self._undo, disabled=True),
        }
        self.fork = ForkForm(self.buttons["fork"])
        self._exports = [self._export(suffix) for suffix in ("csv", "parquet", "nc")]
        self._detail = pn.pane.HTML("", sizing_mode="stretch_width", margin=(4, 10))
        self._pick([])

    def __panel__(self) -> pn.viewable.Viewable:
        buttons = [button for name, button in self.buttons.items() if name != "fork"]
        actions = pn.FlexBox(*buttons, pn.Row(*self._exports, margin=0), align_items="center")
        parts = (self.archive, actions, self.fork, note(_HINT), self._detail)
        column = pn.Column(*parts, sizing_mode="stretch_width", margin=0)
        self.archive.read()
        return column

    def place(self, axis: str, value: float) -> None:
        """Take the place of a double click on a plot as that of a fork: its axis, and the value there."""
        self._picked = (axis, value)
        chosen = self.archive.chosen
        if len(chosen) == 1:
            self._try(lambda: self._find_place(self._store.load(chosen[0].id)))

    def _find_place(self, stored: Stored) -> None:
        """The last recorded iteration before the picked place."""
        axis, value = self._picked or ("iteration", np.inf)
        columns = stored.trace.snapshot().columns
        course = columns[axis] if columns[axis].ndim == 1 else np.nanmean(columns[axis], axis=1)
        before = np.flatnonzero(course <= value)
        self.fork.at = int(columns["iteration"][before[-1]]) if before.size else 0

    def _pick(self, chosen: list[Record]) -> None:
        """Enable what makes sense for these."""
        one = chosen[0] if len(chosen) == 1 else None
        enabled = {
            "overlay": bool(chosen),
            "open": one is not None,
            "resume": one is not None and one.status not in (RunStatus.FINISHED, RunStatus.FAILED),
            "replay": one is not None,
            "fork": one is not None,
            "delete": bool(chosen),
        }
        for name, button in self.buttons.items():
            if name != "undo":
                amend(button, disabled=not enabled[name])
        for download in self._exports:
            amend(download, disabled=one is None, filename=self._name(one, download.label))
        self.fork.reset()

    def _try(self, what: Callable[[], None]) -> None:
        """Do it, or say why not."""
        try:
            what()
        except Exception as error:
            self._say(str(error))

    def _put(self) -> None:
        for record in self.archive.chosen:
            self._overlay(self._store.load(record.id))

    def _again(self, how: str) -> None:
        record = self.archive.chosen[0]
        if how == "resume" and record.status.active:
            if not self._join(record.id):
                self._say(
                    f"Expected a run of this server, got one of {record.host} (process {record.pid}): watch it only."
                )
            return
        self._begin(getattr(self._store, how)(record.id), None)
        self.archive.read()

    def _fork(self) -> None:
        self._begin(*self.fork.make(self._store, self.archive.chosen[0].id))
        self.archive.read()

    def _delete(self) -> None:
        self._deleted = [record.id for record in self.archive.chosen]
        self._store.delete(self._deleted)
        amend(self.buttons["undo"], disabled=False)
        self.archive.read()

    def _undo(self) -> None:
        self._store.restore(self._deleted)
        self._deleted = []
        amend(self.buttons["undo"], disabled=True)
        self.archive.read()

    def _open(self) -> None:
        """Show all that is known of one run."""
        stored = self._store.load(self.archive.chosen[0].id)
        record = stored.record
        parts = {
            "begun": time.strftime("%Y-%m-%d %H:%M", time.localtime(record.created)),
            "counts": f"{record.iterations:,} iterations, {record.calls:,} calls, {record.seconds:.3g} s",
            "message": stored.message,
            "problem": _spelled(json.loads(stored.recipe["problem"])),
            "solver": _spelled(json.loads(stored.recipe["solver"])),
            "settings": ", ".join(
                f"{name}={value}" for name, value in stored.settings.items() if value not in (None, "")
            ),
            "chosen by the rule": ", ".join(f"{name}={number:.4g}" for name, number in stored.resolved.items()),
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
        self._detail.object = f"<b>Run {stored.id[:8]}</b><table style='font-size:.82rem'>{rows}</table>"

    def _export(self, suffix: str) -> pmui.FileDownload:
        """A download of the one that is chosen."""

        def make() -> io.BytesIO | None:
            try:
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / f"run.{suffix}"
                    self._store.export(self.archive.chosen[0].id, str(path))
                    return io.BytesIO(path.read_bytes())
            except Exception as error:
                self._say(str(error))
                return None

        look: dict[str, Any] = {"size": "small", "variant": "text", "width": 96, "margin": (4, 0), "embed": False}
        return pmui.FileDownload(callback=make, filename=f"zoviz.{suffix}", label=suffix, **look)

    @staticmethod
    def _name(record: Record | None, suffix: str) -> str:
        return f"zoviz_{'run' if record is None else record.id[:8]}.{suffix}"


def _spelled(recipe: Any) -> str:
    """A recipe as it would be written in Python."""
    if isinstance(recipe, dict) and "class" in recipe:
        inner = ", ".join(f"{name}={_spelled(value)}" for name, value in recipe["values"].items() if value is not None)
        return f"{recipe['class'].rpartition(':')[2]}({inner})"
    return str(recipe)
