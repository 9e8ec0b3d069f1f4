"""The button that goes back: a double click brings it, another run takes it away."""

from __future__ import annotations

from zoviz import Run
from zoviz.diagnosis.verdict import Verdict, Word
from zoviz.problems import LoadTracking
from zoviz.runs.engine.steering import Change
from zoviz.solvers import ZOCEG
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.controls.go_back import GoBack


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


def test_after_trouble_it_offers_the_way_back_to_before_the_last_change() -> None:
    page = Dashboard(LoadTracking(n=5), ZOCEG())
    page.form.settings.param.update(iterations=400, replicas=1)
    page.controller.start()
    run = page.controller.run
    assert run is not None
    button = page.go_back.button
    page.go_back.update(Verdict(Word.DIVERGING, "Values grew without bound."))
    assert not button.visible, "nothing was changed"
    run.wait()
    run = Run(
        LoadTracking(n=5), ZOCEG(), replicas=1, iterations=20, schedule=[Change(7, 0, 0.0, "primal_step", None, 1e-6)]
    )
    page.controller.watch_run(run)
    run.run()
    page.go_back.update(Verdict(Word.CONVERGING, "Converging."))
    assert not button.visible
    page.go_back.update(Verdict(Word.DIVERGING, "Values grew without bound."))
    assert button.visible and page.go_back.at == 6 and button.label == "Back to before the last change"
    page.controller.runs_shown.picked = ("iteration", 3.4)
    page.go_back.update(Verdict(Word.DIVERGING, "Values grew without bound."))
    assert page.go_back.at == 3, "a place that a person picked stands"
