"""The card of remedies on a page without a browser."""

from __future__ import annotations

from helpers.waiting import until
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOCEG
from zoviz.views.app.dashboard import Dashboard


def test_remedies_are_offered_tried_and_the_best_goes_on() -> None:
    page = Dashboard(NonconvexQCQP(n=4), ZOCEG(primal_step=1e-9, dual_step=1e-9))
    page.form.settings.param.update(iterations=40, seconds=None, replicas=5)
    page.controller.start()
    run = page.controller.run
    assert run is not None and page.diagnosis.remedy_button is None
    run.wait()
    page.refresh()
    button = page.diagnosis.remedy_button
    assert button is not None and button.visible
    assert "Worth a try: the steps of the solver's rule (" in page.status_bar.counters.tags[1]
    button.clicks += 1
    assert page.diagnosis.open
    page.refresh()
    card = page.diagnosis.remedies
    assert "extra calls, not charged to the run" in card.control.note.object and not card.use.visible
    card.control.begin()
    until(lambda: page.refresh() or card.use.visible)
    assert "Best: another method, ZOSQP: better" in card.outcomes.object
    card.use.clicks += 1
    until(lambda: page.refresh() or (page.controller.run is not run and not page.controller.active))
    after = page.controller.run
    assert after is not None and type(after.solver).__name__ == "ZOSQP" and not card.outcomes.visible
    assert len(page.controller.runs_shown.runs) == 2
