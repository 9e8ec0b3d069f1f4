"""A button of the room Benchmark that sets results of other benchmarks beside a study's."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import panel as pn

from zoviz.benchmark.exchange.imported_runs import Import
from zoviz.benchmark.exchange.optiprofiler_file import SUFFIX
from zoviz.benchmark.exchange.result_files import ARCHIVES, read_upload
from zoviz.core.threads.background_work import in_background
from zoviz.views.common.buttons import text_button
from zoviz.views.common.run_controller import say_errors
from zoviz.views.common.style import muted_html, update_changed

_DOC = (
    "data_for_loading.h5 of OptiProfiler, or a COCO folder as .zip or .tgz: their solvers join the curves, on the "
    "problems in common."
)


class ImportedFiles(pn.viewable.Viewer):
    """A file button, the sentences on what its files have in common with a study, and a button that takes them away.

    Parameters
    ----------
    say : callable
        Shows a sentence where a file cannot be read.
    take_up : callable
        Called once what is imported has changed.

    Attributes
    ----------
    imported : Import
        What the files have; they are kept as long as the page is open.
    """

    def __init__(self, say: Callable[[str], None], take_up: Callable[[], None], **params: Any) -> None:
        super().__init__(**params)
        self.say, self._take_up = say, take_up
        self.imported = Import([], [])
        self._work: Future[Import] | None = None
        accepted = ",".join((SUFFIX, *ARCHIVES))
        self.field = pn.widgets.FileInput(
            label="Import results", accept=accepted, multiple=True, width=260, margin=(4, 10), description=_DOC
        )
        self.field.param.watch(lambda _: self.read(), "value")
        self.away = text_button("Remove imports", self.take_away, visible=False)
        self.remarks = pn.pane.HTML("", margin=(2, 10), sizing_mode="stretch_width")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.FlexBox(self.field, self.away, align_items="center")

    def read(self) -> None:
        """Have a thread read the files that were chosen: an archive may take a while."""
        names, contents = _several(self.field.filename), _several(self.field.value)
        if not names or len(names) != len(contents):
            return
        self.tell(["Reading the files ..."])
        self._work = in_background(lambda: Import.joined(map(read_upload, names, contents)))

    def update(self) -> None:
        """Take up what a thread has read; called with the document's lock at every look of the page."""
        if self._work is not None and self._work.done():
            work, self._work = self._work, None
            self._finish(work)

    @say_errors()
    def _finish(self, work: Future[Import]) -> None:
        self.tell([])
        self.imported = Import.joined([self.imported, work.result()])
        update_changed(self.away, visible=True)
        self._take_up()

    def take_away(self) -> None:
        """Go back to the study alone."""
        self.imported = Import([], [])
        update_changed(self.away, visible=False)
        self.tell([])
        self._take_up()

    def tell(self, sentences: Sequence[str]) -> None:
        """Say what of the files is compared, and what is not."""
        text = "<br>".join(html.escape(one) for one in sentences)
        update_changed(self.remarks, object=muted_html(text) if text else "")


def _several(value: Any) -> list[Any]:
    """Return what a field for several files holds as a list: nothing, one or many."""
    return [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
