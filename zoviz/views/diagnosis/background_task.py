"""A look at the page's run that costs calls: the price stands beside its button, a thread takes it, Cancel ends it."""

from __future__ import annotations

import html
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import panel as pn

from zoviz.core.durations import duration
from zoviz.core.errors import ZovizError
from zoviz.core.threads.background_work import in_background
from zoviz.diagnosis.observed_run import FORM
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.run import Run
from zoviz.views.common.buttons import text_button
from zoviz.views.common.style import WIDE, muted_html, note, update_changed

FIELD_WIDTH = 235
"""Of a setting beside the button, in pixels."""
_Outcome = TypeVar("_Outcome")


class CalledOff(ZovizError):
    """A look that a person has cancelled."""


class BackgroundTask(Generic[_Outcome]):
    """A look that a thread takes and that may be called off between two batches of calls.

    Parameters
    ----------
    take : callable
        Is given ``proceed``, to be called before every batch, and returns what it saw.
    """

    def __init__(self, take: Callable[[Callable[[], None]], _Outcome]) -> None:
        self._cancelled, self._begun = threading.Event(), time.monotonic()
        self._future = in_background(lambda: take(self._proceed))

    def _proceed(self) -> None:
        if self._cancelled.is_set():
            raise CalledOff("Cancelled.")

    def cancel(self) -> None:
        """End the look before its next batch, or after the call in progress of a black box."""
        self._cancelled.set()

    @property
    def done(self) -> bool:
        """Whether it has come to an end."""
        return self._future.done()

    @property
    def sentence(self) -> str:
        """How long it has been at work, or that it is about to end."""
        if self._cancelled.is_set():
            return "Cancelled; ends after the current call."
        return f"Measuring for {time.monotonic() - self._begun:.0f} s."

    def outcome(self) -> _Outcome:
        """Return the result of the measurement, or raise its error."""
        return self._future.result()


class Offer(NamedTuple, Generic[_Outcome]):
    """The price of a measurement, and the function that makes it.

    Attributes
    ----------
    least, most : int
        Calls.
    take : callable
        As for ``BackgroundTask``.
    """

    least: int
    most: int
    take: Callable[[Callable[[], None]], _Outcome]


def price(run: Run, least: int, most: int) -> str:
    """Return the sentence on what ``least`` to ``most`` calls cost, in seconds at the run's own pace."""
    progress = run.progress
    pace = progress.seconds / max(progress.calls * run.replicas, 1)
    calls = f"{least:,}" if least == most else f"{least:,}–{most:,}"
    return f"{calls} extra calls, not charged to the run. Takes up to {duration(most * pace)}."


class TaskControl(pn.viewable.Viewer, Generic[_Outcome]):
    """A button that takes a look at the page's run, with its price beside it, and one that cancels it.

    Parameters
    ----------
    label : str
        Of the button.
    offer : callable
        Returns the ``Offer`` for a run that has an iterate; raises a ZovizError where there is none.
    show : callable
        Is given the run and what was seen, with the document's lock.
    while_running : bool
        Whether it may be taken of a run that is going on.
    fields : sequence of Viewable
        Its settings, to stand beside the button.
    """

    def __init__(
        self,
        label: str,
        offer: Callable[[Run], Offer[_Outcome]],
        show: Callable[[Run, _Outcome], None],
        while_running: bool = False,
        fields: Sequence[pn.viewable.Viewable | pn.viewable.Viewer] = (),
    ) -> None:
        super().__init__()
        self._fields = [pn.Column(field, width=FIELD_WIDTH, margin=0) for field in fields]
        self._offer, self._show, self._while_running = offer, show, while_running
        self._run: Run | None = None
        self._work: BackgroundTask[_Outcome] | None = None
        self._complaint = ""
        self.button = text_button(label, self.begin, disabled=True, margin=(4, 4, 4, 10))
        self.cancel_button = text_button("Cancel", self.cancel, visible=False)
        self.note = note("", sizing_mode="stretch_width")

    def __panel__(self) -> pn.viewable.Viewable:
        row = pn.FlexBox(self.button, self.cancel_button, *self._fields, align_items="center", margin=0)
        return pn.Column(row, self.note, **WIDE)

    @property
    def at_work(self) -> bool:
        """Whether a look is being taken."""
        return self._work is not None

    def begin(self) -> None:
        """Start the work, unless it is going on or cannot be done now."""
        run = self._run
        if run is None or self.at_work or self._obstacle(run):
            return
        try:
            self._work, self._complaint = BackgroundTask(self._offer(run).take), ""
        except ZovizError as error:
            self._complaint = str(error)

    def cancel(self) -> None:
        """Call off the look that is being taken."""
        if self._work is not None:
            self._work.cancel()

    def update(self, run: Run | None) -> None:
        """Take up what was seen and show the price; called with the document's lock at every refresh."""
        if run is not self._run:
            self.cancel()  # of another run: nobody waits for it any more
            self._run, self._work, self._complaint = run, None, ""
        if run is not None and self._work is not None and self._work.done:
            self._take_up(run, self._work)
        obstacle, sentence = self._words(run)
        update_changed(self.button, disabled=self.at_work or obstacle)
        update_changed(self.cancel_button, visible=self.at_work)
        update_changed(self.note, object=muted_html(html.escape(sentence)))

    def _take_up(self, run: Run, work: BackgroundTask[_Outcome]) -> None:
        self._work = None
        try:
            self._show(run, work.outcome())
        except Exception as error:  # a black box may raise anything: the page says it
            if not isinstance(error, (ZovizError, ValueError)):
                logging.getLogger("zoviz").warning("A measurement at a run failed.", exc_info=error)
            self._complaint = str(error)

    def _words(self, run: Run | None) -> tuple[bool, str]:
        """Return whether the look cannot be taken now, and what is said beside its button."""
        if self._work is not None:
            return False, self._work.sentence
        obstacle = "Start a run first." if run is None else self._obstacle(run)
        if run is None or obstacle:
            return True, obstacle
        try:
            offer = self._offer(run)
        except ZovizError as error:
            return True, str(error)
        return False, " ".join(filter(None, [self._complaint, price(run, offer.least, offer.most)]))

    def _obstacle(self, run: Run) -> str:
        """Return why it cannot be done for a run now; empty where it can."""
        if run.problem.form != FORM:
            return f"Only for {FORM} problems; this one is {run.problem.form}."
        if run.state is None:
            return "The run has no iterate yet."
        if run.status is RunStatus.RUNNING and not self._while_running:
            return "Pause the run first, or wait until it ends."
        return ""
