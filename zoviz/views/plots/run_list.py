"""The list of the runs on the plots, to show, rename, download or remove each."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import panel as pn
import panel_material_ui as pmui
import param

from zoviz.runs.script import script
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.shown_runs import ShownRun
from zoviz.views.common.style import UNSEEN_LABEL, batched_changes, muted_html, note


def csv_of(entry: ShownRun) -> io.StringIO:
    """Return the trace of a run on the page as CSV."""
    file = io.StringIO()
    entry.run.trace.write_csv(file)
    file.seek(0)
    return file


def script_of(entry: ShownRun) -> io.StringIO:
    """Return a Python script that does a run on the page again."""
    return io.StringIO(script(entry.run))


def file_name(entry: ShownRun, suffix: str) -> str:
    """Return the name of a file of a run: its name, problem and solver, in letters that every disk takes."""
    words = (entry.name, type(entry.run.problem).__name__, type(entry.run.solver).__name__)
    plain = (re.sub(r"[^\w.-]+", "-", word, flags=re.ASCII).strip("-") for word in words)
    return f"zoviz_{'_'.join(word for word in plain if word)}.{suffix}"


_SWATCH = (
    "<svg width='30' height='14' style='margin-top:9px' aria-hidden='true'>"
    "<line x1='0' y1='7' x2='30' y2='7' stroke='{}' stroke-width='4'/></svg>"
)


class _Row(NamedTuple):
    """The row of a run, and the widgets in it that follow the run."""

    box: pn.FlexBox
    visible: pmui.Switch
    remark: pn.pane.HTML
    downloads: tuple[pmui.FileDownload, ...]


def _download(entry: ShownRun, make: Callable[[ShownRun], io.StringIO], label: str, suffix: str) -> pmui.FileDownload:
    return pmui.FileDownload(
        callback=lambda: make(entry),
        filename=file_name(entry, suffix),
        label=label,
        size="small",
        variant="text",
        width=88,
        margin=(3, 0),
        embed=False,
    )


class RunList(pn.viewable.Viewer):
    """A list with one row for each run on the plots.

    Parameters
    ----------
    controller : RunController
        Ends the page's run before its row is removed.
    below : Viewer
        What stands below the rows, where there are any.
    """

    def __init__(self, controller: RunController, below: pn.viewable.Viewer, **params: Any) -> None:
        super().__init__(**params)
        self._below, self._complete = below, False  # whether it stands below the rows
        self._controller, self._runs_shown = controller, controller.runs_shown
        self._rows: dict[str, _Row] = {}
        self.column = pn.Column(sizing_mode="stretch_width", margin=0)
        self._hint = note("Runs appear here. A finished run stays on the plots when the next one starts.")
        self.update()

    def __panel__(self) -> pn.viewable.Viewable:
        return self.column

    def update(self) -> None:
        """Update the list to the runs on the plots, if they changed, once the browser has drawn their lines.

        Called by the page's looks, which have the document's lock: a widget's handler may lack it. What stands below
        the first row comes with the look after it: a look that makes both holds up the server's other pages.
        """
        runs = self._runs_shown.runs
        self._follow()
        if self._rows.keys() == runs.keys() and self.column.objects:
            if runs and not self._complete:
                self._complete = True
                with batched_changes(pn.state.curdoc):
                    self.column.append(self._below)
            return
        self._rows = {key: self._rows[key] if key in self._rows else self._row(entry) for key, entry in runs.items()}
        rows: list[pn.viewable.Viewable] = [row.box for row in self._rows.values()]
        self._complete = self._complete and bool(rows)
        with batched_changes(pn.state.curdoc):
            self.column.objects = [*rows, *[self._below] * self._complete] if rows else [self._hint]
        self._follow()

    def _follow(self) -> None:
        """Bring the switches and the words of the rows to their runs, and send nothing where they are there already."""
        entries = [entry for key, entry in self._runs_shown.runs.items() if key in self._rows]
        several = len({entry.problem for entry in self._runs_shown.runs.values()}) > 1
        changes: list[tuple[param.Parameterized, dict[str, Any]]] = []
        for entry in entries:
            row, verdict = self._rows[entry.key], self._controller.verdict(entry.run)
            words = ["" if verdict is None else str(verdict.word), entry.problem_title if several else ""]
            remark = muted_html(html.escape(" · ".join(filter(None, words))))
            for download, suffix in zip(row.downloads, ("csv", "py"), strict=True):
                name = file_name(entry, suffix)
                changes += [(download, {"filename": name})] if download.filename != name else []
            changes += [(row.visible, {"value": entry.visible})] if row.visible.value != entry.visible else []
            changes += [(row.remark, {"object": remark})] if row.remark.object != remark else []
        for widget, values in changes:
            widget.param.update(**values)

    def _row(self, entry: ShownRun) -> _Row:
        key = entry.key
        swatch = pn.pane.HTML(_SWATCH.format(entry.colour), margin=(2, 4, 2, 10))
        remark = pn.pane.HTML("", margin=(8, 6))
        visible = pmui.Switch(
            value=entry.visible, label="On the plots", width=46, margin=(6, 0), stylesheets=[UNSEEN_LABEL]
        )
        name = pmui.TextInput(
            value=entry.name,
            label="Name of the run",
            size="small",
            width=150,
            margin=(1, 4),
            stylesheets=[UNSEEN_LABEL, ".MuiInputBase-input {padding: 5px 8px !important}"],
        )
        visible.param.watch(lambda event: self._runs_shown.reveal(key, event.new), "value")
        name.param.watch(
            lambda event: self._runs_shown.rename(key, event.new or self._runs_shown.runs[key].name), "value"
        )
        remove = pmui.IconButton(icon="delete", size="small", margin=(4, 2))
        remove.on_click(lambda _: self._controller.forget(key))
        remove.description = "Remove from the plots"
        downloads = _download(entry, csv_of, "CSV", "csv"), _download(entry, script_of, "Script", "py")
        parts = [swatch, visible, name, remark, *downloads]
        look = {"align_items": "center", "sizing_mode": "stretch_width", "margin": 0}
        return _Row(pn.FlexBox(*parts, remove, css_classes=[f"zoviz-run-{key}"], **look), visible, remark, downloads)
