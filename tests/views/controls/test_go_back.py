"""The button that goes back: a double click brings it, another run takes it away."""

from __future__ import annotations

import pytest

from zoviz.problems import LoadTracking
from zoviz.solvers import ZOCEG
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.controls.go_back import GoBack

# Panel's Material widgets of Panel's
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


def test_a_double_click_offers_the_way_back_to_what_was_recorded_before_it() -> None:
    page = Dashboard(LoadTracking(n=5), ZOCEG())
    page.form.settings.param.update(iterations=20, replicas=1)
    back = GoBack(page.controller)
    page.controller.runs_shown.picked = ("iteration", 3.4)
    assert not back.button.visible, "there is no run to go back in"
    page.controller.start()
    run = page.controller.run
    assert run is not None
    run.wait()
    page.controller.runs_shown.picked = ("iteration", 3.4)
    assert back.button.visible and back.at == 3 and back.button.label == "Go back to iteration 3"
    back.button.clicks += 1
    page.controller.stop()
    other = page.controller.run
    assert other is not None and other is not run and not back.button.visible
    other.wait()
