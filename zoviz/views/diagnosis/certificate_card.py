"""A card that certifies the point of the page's run, and says what it found."""

from __future__ import annotations

import html
from collections.abc import Callable

import panel as pn

from zoviz.diagnosis.certificate import Certificate, Certifier, certificate_of, known_certainty
from zoviz.runs.run import Run
from zoviz.views.common.parameter_row import ParameterRow
from zoviz.views.common.style import WIDE, section, update_changed
from zoviz.views.diagnosis.background_task import Offer, TaskControl

_LINE = "<div style='line-height:1.4'><b>Certificate of iteration {iteration:,}</b> {sentence}</div>"


class CertificateCard(pn.viewable.Viewer):
    """A card that certifies the point that the first replica of a paused or ended run reports.

    Attributes
    ----------
    control : TaskControl
    certificate : Certificate or None
        The newest of the page's run.
    line : HTML
        Its sentence; hidden until there is one.
    """

    def __init__(self) -> None:
        super().__init__()
        self._certifier = Certifier()
        self._run: Run | None = None
        self.certificate: Certificate | None = None
        self.line = pn.pane.HTML("", visible=False, sizing_mode="stretch_width", margin=(4, 10))
        fields = [ParameterRow.from_param(self._certifier.param[name]) for name in ("repeats", "tolerance")]
        self.control = TaskControl("Certify this point", self._offer, self._show, fields=fields)

    def __panel__(self) -> pn.viewable.Viewable:
        title = section("Certificate: is this point stationary?")
        return pn.Column(title, self.control, self.line, **WIDE)

    def _offer(self, run: Run) -> Offer[tuple[int, Certificate]]:
        certifier, iteration = self._certifier.clone(), run.progress.iteration

        def take(proceed: Callable[[], None]) -> tuple[int, Certificate]:
            return iteration, certificate_of(run, 0, certifier, proceed)

        return Offer(*certifier.cost(run.problem, known_certainty(run, 0, certifier)), take)

    def _show(self, run: Run, outcome: tuple[int, Certificate]) -> None:
        iteration, self.certificate = outcome
        sentence = html.escape(self.certificate.sentence)
        update_changed(self.line, object=_LINE.format(iteration=iteration, sentence=sentence), visible=True)

    @property
    def pending(self) -> bool:
        """Whether the card has to be drawn again although it is hidden."""
        return self.control.at_work or self.certificate is not None

    def update(self, run: Run | None) -> None:
        """Show what is new; called with the document's lock at every refresh."""
        if run is not self._run:
            self._run, self.certificate = run, None
            update_changed(self.line, visible=False)
        self.control.update(run)
