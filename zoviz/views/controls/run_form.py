"""The form of the next run: problem, solver and settings, on the page's sidebar."""

from __future__ import annotations

from typing import Any

import panel as pn

from zoviz.problems.base import Problem
from zoviz.problems.user.base import Simulation
from zoviz.runs.live_runs import UNLIMITED, Limits
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver
from zoviz.views.common.style import WIDE, update_changed
from zoviz.views.controls.first_look_card import FirstLookCard
from zoviz.views.controls.past_points_card import PastPointsCard
from zoviz.views.controls.picker import Picker
from zoviz.views.controls.run_settings import RunSettings, RunSettingsForm


class RunForm(pn.viewable.Viewer):
    """A form with the two pickers, the parameters of what is picked, and the run's settings.

    Parameters
    ----------
    problem : Problem, optional
        Offered first.
    solver : Solver, optional
        The one to begin with.
    limits : Limits
        Of the server: a problem that is too large is not even built.

    Attributes
    ----------
    own : Column
        Cards for a person's own problem; empty for others.
    """

    def __init__(
        self, problem: Problem | None = None, solver: Solver | None = None, limits: Limits = UNLIMITED, **params: Any
    ) -> None:
        super().__init__(**params)
        self.picker = Picker(problem, solver, limits)
        self.settings = RunSettings()
        self.settings_form = RunSettingsForm(self.settings)
        self.first_look, self.past_points = FirstLookCard(), PastPointsCard()
        self.own = pn.Column(**WIDE)
        self.settings.suit(self.picker.problem)
        self.picker.param.watch(lambda _: self.settings.suit(self.picker.problem), "problem_name")

    def __panel__(self) -> pn.viewable.Viewable:
        parameters = pn.Column(self.picker.solver_panel, self.settings_form, css_classes=["zoviz-parameters"], **WIDE)
        return pn.Column(self.picker, self.own, parameters, **WIDE)

    def update(self, active: bool) -> None:
        """Show the first look and the field of past points; called at every refresh, with the document's lock."""
        self.first_look.update(self.picker.problem, self.settings.calls, active)
        self.past_points.follow(self.picker.problem)
        cards = [self.first_look, self.past_points] if isinstance(self.picker.problem, Simulation) else []
        update_changed(self.own, objects=[one.__panel__() for one in cards])

    @property
    def solver(self) -> Solver:
        """The solver that is picked."""
        return self.picker.solver

    @property
    def complaint(self) -> str:
        """The reason why no run can be made, as of the last check; empty where one can."""
        return self.picker.complaint

    @property
    def loading(self) -> bool:
        """Whether ``complaint`` only says that data are awaited."""
        return self.picker.loading

    def check(self) -> str:
        """Update ``complaint``: find out why no run can be made now."""
        self.picker.suggest()
        return self.complaint or self._wrong_field

    @property
    def _wrong_field(self) -> str:
        """The sentence on the first field whose text is no value; a run would begin with what it was before."""
        forms = (self.picker.solver_form, self.picker.problem_form, self.settings_form)
        return next((form.complaint for form in forms if form.complaint), self.past_points.complaint)

    def make(self) -> Run:
        """Make a run of what the form says, not started."""
        self.settings.past = self.past_points.points
        return self.settings.make(self.picker.problem, self.picker.solver)

    def load(self, problem: Problem, solver: Solver) -> None:
        """Pick the problem and the solver of a run that was made elsewhere, so that the form steers it."""
        self.picker.load(problem, solver)

    def lock(self, locked: bool) -> None:
        """Disable or enable what is fixed while a run is at work."""
        self.settings_form.lock(locked)
        self.past_points.lock(locked)
        self.picker.lock(locked)
