"""The runs on the plots: show, rename, download or remove each."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from zoviz.runs.script import script
from zoviz.views.common.style import note
from zoviz.views.plots.board import Board, Shown


def csv_of(shown: Shown) -> io.StringIO:
    """The run's trace as CSV."""
    file = io.StringIO()
    shown.run.trace.write_csv(file)
    file.seek(0)
    return file


def script_of(shown: Shown) -> io.StringIO:
    """A script that does the run again."""
    return io.StringIO(script(shown.run))


_SWATCH = "<div style='width:14px;height:14px;border-radius:3px;background:{};margin-top:9px'></div>"


def _download(shown: Shown, make: Callable[[Shown], io.StringIO], label: str, suffix: str) -> pmui.FileDownload:
    return pmui.FileDownload(
        callback=lambda: make(shown),
        filename=f"zoviz_{shown.key}.{suffix}",
        label=label,
        size="small",
        variant="text",
        width=88,
        margin=(3, 0),
        embed=False,
    )


class Shelf(pn.viewable.Viewer):
    """One row for each run on a board.

    Parameters
    ----------
    board : Board
    on_remove : callable
        Called with a run's key when its row is removed, before it leaves the board.
    """

    def __init__(self, board: Board, on_remove: Callable[[str], None], **params: Any) -> None:
        super().__init__(**params)
        self._board, self._on_remove = board, on_remove
        self._rows: dict[str, pn.FlexBox] = {}
        self._column = pn.Column(sizing_mode="stretch_width", margin=0)
        self._hint = note("Runs appear here. A finished run stays on the plots when the next one starts.")
        self.update()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    def update(self) -> None:
        """Follow the board; nothing where it is followed."""
        if self._rows.keys() == self._board.shown.keys() and self._column.objects:
            return
        for key, shown in self._board.shown.items():
            if key not in self._rows:
                self._rows[key] = self._row(shown)
        self._rows = {key: row for key, row in self._rows.items() if key in self._board.shown}
        rows: list[pn.viewable.Viewable] = [*self._rows.values()]
        self._column.objects = rows or [self._hint]

    def _row(self, shown: Shown) -> pn.FlexBox:
        key = shown.key
        swatch = pn.pane.HTML(_SWATCH.format(shown.colour), margin=(2, 4, 2, 10))
        visible = pmui.Switch(value=True, label="", width=46, margin=(6, 0))
        name = pmui.TextInput(value=shown.name, label="", size="small", width=150, margin=(2, 4))
        visible.param.watch(lambda event: self._board.reveal(key, event.new), "value")
        name.param.watch(lambda event: self._board.rename(key, event.new or shown.name), "value")
        remove = pmui.IconButton(icon="delete", size="small", margin=(4, 2), on_click=lambda _: self._remove(key))
        remove.description = "Remove from the plots"
        parts = [
            swatch,
            visible,
            name,
            _download(shown, csv_of, "CSV", "csv"),
            _download(shown, script_of, "Script", "py"),
        ]
        look = {"align_items": "center", "sizing_mode": "stretch_width", "margin": 0}
        return pn.FlexBox(*parts, remove, css_classes=[f"zoviz-run-{key}"], **look)

    def _remove(self, key: str) -> None:
        self._on_remove(key)
        self._board.take_off(key)
        self.update()
