"""A card that tries the remedies of the page's run by forks, and goes on with the best."""

from __future__ import annotations

import html

import panel as pn

from zoviz.core.errors import ZovizError
from zoviz.diagnosis.remedies import trial_calls
from zoviz.diagnosis.trial import Trial, try_remedies
from zoviz.runs.run import Run
from zoviz.views.common.buttons import text_button
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.style import WIDE, section, update_changed
from zoviz.views.diagnosis.background_task import Offer, TaskControl


class RemedyCard(pn.viewable.Viewer):
    """A card that names the remedies of a paused or ended run, tries them by forks, and goes on with the best.

    Parameters
    ----------
    controller : RunController

    Attributes
    ----------
    control : TaskControl
    outcomes : HTML
        What the remedies came to.
    use : Button
        Goes on with the best.
    """

    def __init__(self, controller: RunController) -> None:
        super().__init__()
        self._controller = controller
        self._run: Run | None = None
        self._trial: Trial | None = None
        self.control = TaskControl("Try remedies", self._offer, self._show)
        self.outcomes = pn.pane.HTML("", visible=False, sizing_mode="stretch_width", margin=(2, 10))
        self.use = text_button("Continue with the best", self._go_on, first=True, visible=False)

    def __panel__(self) -> pn.viewable.Viewable:
        title = section("Remedies: what may mend this run?")
        return pn.Column(title, self.control, self.outcomes, self.use, **WIDE)

    def _offer(self, run: Run) -> Offer[Trial]:
        judged = self._controller.verdict(run)
        named = [] if judged is None else self._controller.remedies(run)
        if judged is None or not named:
            raise ZovizError("This run needs no remedy.")
        calls = trial_calls(run, judged, named)
        return Offer(calls, calls, lambda proceed: try_remedies(run, chosen=named, proceed=proceed))

    def _show(self, run: Run, trial: Trial) -> None:
        self._trial = trial
        rows = "".join(f"<li>{html.escape(one.sentence)}</li>" for one in trial.outcomes)
        said = f"{html.escape(trial.price)}<ul>{rows}</ul>{html.escape(trial.sentence)}"
        update_changed(self.outcomes, object=said, visible=True)
        update_changed(self.use, visible=trial.best is not None)

    def _go_on(self) -> None:
        if self._trial is not None and self._trial.best is not None:
            self._controller.go_on_with(self._trial.best.run)

    def update(self, run: Run | None) -> None:
        """Show what is new; called with the document's lock at every refresh."""
        if run is not self._run:
            self._run, self._trial = run, None
            update_changed(self.outcomes, visible=False)
            update_changed(self.use, visible=False)
        self.control.update(run)
