"""What a page does not need at once is made when it is first seen; what figures can share is shared."""

from __future__ import annotations

import re
import threading
from collections import Counter
from typing import Any

import numpy as np
import panel as pn
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from helpers.waiting import until
from zoviz import Run
from zoviz.core.sets import Box
from zoviz.core.types import Evaluation
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, Problem, StochasticQP
from zoviz.solvers import SLSQP, ZOSPLM, SmoothedALM
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.controls.picker import Picker
from zoviz.views.plots.board import Board
from zoviz.views.plots.catalogue.objective import Objective
from zoviz.views.plots.static import convergence, plot

SLOW = threading.Event()


class Slow(Problem):
    """A problem whose data take as long as the test likes."""

    __abstract = True
    title, m, n = "Slow", 0, 2

    @property
    def domain(self) -> Box:
        return Box(-np.ones(2), np.ones(2))

    def build(self) -> np.ndarray:
        assert SLOW.wait(120)
        return np.ones(2)

    def evaluate(self, x: np.ndarray, xi: Any = None) -> Evaluation:
        return Evaluation(np.square(x - self.data).sum(axis=-1), np.zeros((*x.shape[:-1], 0)))


def models(document: Document) -> Counter[str]:
    return Counter(type(model).__name__ for model in document.models)


@pytest.fixture(scope="module")
def page() -> tuple[Dashboard, Document]:
    document = Document()
    with set_curdoc(document):
        # Without a session, pages have the process's area of notifications: tests before this one may have filled it.
        if pn.state.notifications is not None:
            pn.state.notifications.notifications = []
        dashboard = Dashboard()
        dashboard.page().server_doc(document)
    return dashboard, document


def test_the_first_page_has_no_more_models_than_it_shows(page: tuple[Dashboard, Document]) -> None:
    _, document = page
    result = models(document)
    print(f"{sum(result.values())} models")
    assert sum(result.values()) <= 170  # 390 before
    assert result["figure"] == 4
    figures = [model for model in document.models if type(model).__name__ == "figure"]
    assert not any(model.syncable for one in figures for model in (one, one.title, one.toolbar, *one.axis))
    assert len({one.xaxis[0].formatter for one in figures}) == 1


def test_what_is_folded_away_is_made_when_it_is_opened_and_kept(page: tuple[Dashboard, Document]) -> None:
    dashboard, _ = page
    fold = dashboard.form.picker.problem_fold
    button, column = fold.button, fold.column
    assert len(column) == 0 and button.spec["label"] == "parameters and noise" and not button.spec["value"]
    for number, shown in enumerate((True, False, True)):
        button.receive({"seq": number, "on": shown})
        assert button.spec["value"] is column.visible is shown and len(column) == 1
    button.receive({"seq": 4, "on": "yes"})
    assert button.value, "a browser may send anything"
    button.receive({"seq": 5, "on": False})
    fold.put(dashboard.form.settings_form)
    assert len(column) == 0, "what was there before is not seen again"


def test_fields_that_are_made_while_a_run_goes_on_are_locked(page: tuple[Dashboard, Document]) -> None:
    form = Dashboard().form.settings_form
    form.lock(True)
    assert all(field.disabled for field in form.fields.values())
    form.lock(False)
    assert not any(field.disabled for field in form.fields.values())


def test_a_special_plot_has_no_figure_before_it_is_needed() -> None:
    board = Board()
    assert {type(view).__name__ for view in board.views if view.special and view.has_figure} == set()
    assert {view.has_figure for view in board.views if not view.special} == {True}


def wait_for_data(choice: Picker) -> None:
    """Suggest anew until the data of the problem are there, or cannot be made: on a busy machine that takes a while."""

    def settled() -> bool:
        choice.suggest()
        return not choice.complaint.startswith("Loading")

    until(settled)


def test_a_page_goes_on_while_a_problem_is_made_and_then_offers_what_fits() -> None:
    SLOW.clear()
    slow = Slow()
    with set_curdoc(Document()):
        choice = Picker()
        choice.problems = {**choice.problems, "Slow": slow}
        choice.param.problem_name.objects = list(choice.problems)
        choice.problem_name = "Slow"
        choice.suggest()
        assert not SLOW.is_set()  # here nobody waited for it
        assert choice.complaint == "Loading the data of Slow." and not slow.prepared
        assert choice.solver_panel.loading and choice.problem_form.problem is not slow
        SLOW.set()
        wait_for_data(choice)
        assert choice.complaint == "" and slow.prepared and choice.problem_form.problem is slow
        assert not choice.solver_panel.loading


def test_a_problem_that_is_changed_meanwhile_is_made_again_and_one_that_fails_says_so() -> None:
    SLOW.set()
    problem = LoadTracking(n=4)
    with set_curdoc(Document()):
        choice = Picker(own_problem=problem)
        choice.suggest()
        before = problem.data
        problem.n = 6
        wait_for_data(choice)
        assert choice.complaint == "" and problem.data is not before and problem.domain.n == 6
        problem.curtailment = 1e9
        for _ in range(2):
            wait_for_data(choice)
            assert "curtailment of at most" in choice.complaint


def test_reasons_are_listed_in_full_and_other_forms_in_one_line() -> None:
    choice = Picker()
    assert choice.others.visible and "cut" not in str(choice.refused.styles)
    count = sum(not one.made_for(choice.problem) for one in choice.solvers.values())
    assert count > 10 and f"{count} solvers not applicable to this problem</summary>" in choice.others.object
    assert "Made for linearly constrained problems: " in choice.others.object
    assert "Smoothed ALM" not in choice.refused.object and "max-height" not in choice.refused.styles
    reasons = {name: f"{name} needs an extra." for name in ("ZO-SPLM", "ZOCEG", "ZOEG", "OGDA-RR")}
    choice.explain(NonconvexQCQP(), reasons)
    assert "Not offered here: ZO-SPLM, ZOCEG, ZOEG, OGDA-RR</summary>" in choice.refused.object
    assert all(reason in choice.refused.object for reason in reasons.values())
    choice.explain(NonconvexQCQP(), {"ZOEG": reasons["ZOEG"]})
    assert reasons["ZOEG"] in choice.refused.object and "Not offered here: ZOEG</summary>" in choice.refused.object
    assert not choice.others.visible


def test_what_is_not_installed_is_one_line_with_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(choice: Picker) -> int:
        match = re.search(r"Solvers whose packages are not installed: (\d+)</summary>", choice.others.object)
        return 0 if match is None else int(match[1])

    before = absent(Picker())  # on this machine
    monkeypatch.setattr(SLSQP, "needs", ("no_such_package",))
    choice = Picker()
    assert "no_such_package" not in choice.refused.object and "no_such_package" in choice.others.object
    assert absent(choice) == before + 1
    assert 'pip install "zoviz[peers]"' in choice.others.object
    assert (
        SLSQP().missing_package == SLSQP().accepts(NonconvexQCQP())
        and "SLSQP (SciPy)" not in choice.param.solver_name.objects
    )


def test_linear_solvers_are_made_for_linear_problems_only() -> None:
    assert SmoothedALM().accepts(StochasticQP()) is None and ZOSPLM().accepts(StochasticQP()) is None
    assert "solves linearly constrained problems" in SmoothedALM().accepts(NonconvexQCQP())


def test_the_objective_is_never_drawn_as_a_magnitude() -> None:
    with_optimum = Run(problem=LoadTracking(n=3), solver=ZOSPLM(), replicas=1, iterations=2)
    unknown = Run(problem=BlackBox(lambda x: float(x @ x), bounds=[(-1, 1)] * 2), solver=ZOSPLM(), replicas=1)
    unknown.iterations = 2
    board = Board()
    views = {type(view).__name__: view for view in board.views}
    for run, name, text in (
        (with_optimum, "Gap", "Objective gap   |f − f*|"),
        (unknown, "Objective", "Objective (optimum unknown)   f"),
    ):
        run.run()
        entry = board.runs_shown.put(run)
        board.refresh()
        assert views[name].figure.title.text.startswith(text) and views[name] in board.visible_plots
        assert type(views[name].figure.y_scale).__name__ == ("LogScale" if name == "Gap" else "LinearScale")
        assert len({"Gap", "Objective"} & {type(view).__name__ for view in board.visible_plots}) == 1
        board.runs_shown.take_off(entry.key)
    still = plot(Objective(), unknown).opts.get("plot").kwargs
    assert still["title"].startswith("Objective (optimum unknown)") and not still["logy"]
    assert not convergence(unknown, column="objective").opts.get("plot").kwargs["logy"]
