"""A drawer at the right with what more calls tell of the page's run, closed until somebody opens it."""

from __future__ import annotations

from collections.abc import Callable

import panel as pn
import param

from zoviz.certainty.certainty import Certainty
from zoviz.runs.run import Run
from zoviz.views.common.buttons import text_button
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.style import DRAWER, batched_changes, update_changed
from zoviz.views.diagnosis.certificate_card import CertificateCard
from zoviz.views.diagnosis.ledger_bars import LedgerBars
from zoviz.views.diagnosis.microscope_card import MicroscopeCard
from zoviz.views.diagnosis.remedy_card import RemedyCard

EVERY = 4
"""Refreshes between two drawings of the ledger: once a second."""


class DiagnosisDrawer(pn.viewable.Viewer):
    """A drawer with remedies, certificate, ledger and microscope of the page's run, made when it is first opened.

    Parameters
    ----------
    controller : RunController

    Attributes
    ----------
    ledger : LedgerBars
    remedy_button : Button or None
        Opens the drawer at the remedies of a run that needs some; made when it is first needed.
    """

    open = param.Boolean(
        default=False,
        label="Diagnosis",
        doc="What may mend this run, what the calls were for, and how accurate this point and its estimate are.",
    )

    def __init__(self, controller: RunController) -> None:
        super().__init__()
        self.ledger = LedgerBars()
        self._controller = controller
        self._certificate: CertificateCard | None = None
        self._microscope: MicroscopeCard | None = None
        self._remedies: RemedyCard | None = None
        self.remedy_button: pn.widgets.Button | None = None
        self._column = pn.Column(visible=False, stylesheets=[DRAWER], margin=0, css_classes=["zoviz-diagnosis"])
        self._refreshes = 0

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    @property
    def certificate(self) -> CertificateCard:
        """The certificate's card, whose fields are made when it is first asked for."""
        if self._certificate is None:
            self._certificate = CertificateCard()
        return self._certificate

    @property
    def microscope(self) -> MicroscopeCard:
        """The microscope's card, whose figure is made when it is first asked for."""
        if self._microscope is None:
            self._microscope = MicroscopeCard(self._controller)
        return self._microscope

    @property
    def remedies(self) -> RemedyCard:
        """The card of remedies, made when it is first asked for."""
        if self._remedies is None:
            self._remedies = RemedyCard(self._controller)
        return self._remedies

    def offer(self, run: Run | None, put: Callable[[pn.viewable.Viewable], None]) -> None:
        """Show the button of remedies for a run that needs some other than more calls; ``put`` gives it its place."""
        named = [] if run is None else self._controller.remedies(run)
        offered = any(one.changes or one.afresh for one in named)
        if offered and self.remedy_button is None:
            self.remedy_button = text_button("Remedies", lambda: update_changed(self, open=True), margin=(0, 3))
            put(self.remedy_button)
        if self.remedy_button is not None:
            update_changed(self.remedy_button, visible=offered)

    @property
    def certainty(self) -> Certainty | None:
        """How sure the point is that was certified last; None without a certificate of the page's run."""
        made = None if self._certificate is None else self._certificate.certificate
        return None if made is None else made.certainty

    def switch(self) -> pn.widgets.Toggle:
        """Return the button that opens and closes the drawer."""
        return pn.widgets.Toggle.from_param(self.param.open, margin=(4, 6))

    def update(self, run: Run | None) -> None:
        """Show what is new in the drawer, or what was asked for before it was closed; nothing else costs anything."""
        self._refreshes += 1
        begins = self.open and not self._column.visible
        if self.open and (begins or run is None or not run.active or self._refreshes % EVERY == 0):
            self.ledger.update(run)
        if self.open or (self._certificate is not None and self._certificate.pending):
            self.certificate.update(run)
        if self.open or (self._microscope is not None and self._microscope.control.at_work):
            self.microscope.update(run)
        if self.open or (self._remedies is not None and self._remedies.control.at_work):
            self.remedies.update(run)
        self._show()

    def _show(self) -> None:
        """Open or close the drawer; what it first shows is up to date before it comes: a change might overtake it."""
        if self.open == self._column.visible:
            return
        with batched_changes(pn.state.curdoc):
            if not self._column.objects:
                close = text_button(
                    "Close Diagnosis", lambda: update_changed(self, open=False), color="light", margin=0
                )
                cards = self.remedies, self.certificate, self.ledger, self.microscope, self.microscope.plot
                self._column.objects = [close, *cards]
            update_changed(self._column, visible=self.open)

    def close(self) -> None:
        """Call off what is at work, with the page's session."""
        for card in (self._certificate, self._microscope, self._remedies):
            if card is not None:
                card.control.cancel()
