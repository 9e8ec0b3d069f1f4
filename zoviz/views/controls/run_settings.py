"""The settings of the next run beside problem and solver, and the form for them."""

from __future__ import annotations

from typing import Any

import panel as pn
import param

from zoviz.core.parameters import ABSENT
from zoviz.problems.base import Problem
from zoviz.problems.user.base import Simulation
from zoviz.runs.engine import spec
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver
from zoviz.views.common.fold import Fold
from zoviz.views.common.style import WIDE, section
from zoviz.views.controls.default_solver import REPLICAS, SECONDS, default_settings
from zoviz.views.controls.parameter_forms import ObjectForm, ParameterForm, editable

TARGETS = ("gap", "violation", "stationarity")
"""Measures whose first hits the form offers to record."""


def _target(label: str, doc: str) -> param.Number[float | None]:
    """Return the declaration of the threshold of a target; None: there is no such target."""
    return param.Number(
        default=None,
        allow_None=True,
        bounds=(0, None),
        inclusive_bounds=(False, True),
        label=label,
        doc=doc,
        metadata=ABSENT,
    )


class RunSettings(spec.RunSettings):
    """The settings of the next run: those of every run, with the page's own defaults, and a field for each target."""

    replicas = param.Integer(default=REPLICAS, doc="Independent runs, over which bands are drawn.")
    seconds = param.Number(default=SECONDS, allow_None=True)
    gap = _target("Gap", "First hit of |f - f*|.")
    violation = _target("Violation", "First hit of the constraint violation.")
    stationarity = _target("Stationarity", "First hit of ε-stationarity.")
    draws_zeta = param.Boolean(default=False, precedence=-1, doc="Whether the problem draws samples ζ.")

    def suit(self, problem: Problem) -> None:
        """Offer replicas and budgets that suit a problem, but for those that a person has chosen."""
        self.draws_zeta = problem.sampled_rows or problem.form == "online bilevel"
        for name, now in default_settings(problem).items():
            before, self.param[name].default = self.param[name].default, now
            if getattr(self, name) == before:
                self.param.update({name: now})

    def make(self, problem: Problem, solver: Solver) -> Run:
        """Make a run with these settings, not started."""
        targets = {name: value for name in TARGETS if (value := getattr(self, name)) is not None}
        own = {"targets": targets, "stop_at_targets": self.stop_at_targets and bool(targets)}
        own |= {"judged": isinstance(problem, Simulation)}
        return Run(problem, solver, **self.settings | own)


class RunSettingsForm(ObjectForm):
    """A form for budgets, replicas and seed, with further limits and targets folded away.

    Attributes
    ----------
    fold : Fold
    """

    def __init__(self, settings: RunSettings, **params: Any) -> None:
        super().__init__(**params)
        self._fixed, self._settings = [ParameterForm(settings, editable(settings))], settings
        self.fold = Fold("limits and targets")

    def __panel__(self) -> pn.viewable.Viewable:
        fields = self.fields
        pick = lambda *names: [fields[name] for name in names]  # noqa: E731
        zeta = pn.Column(fields["zeta_samples"], visible=self._settings.param.draws_zeta, **WIDE)
        targets = pick(*TARGETS, "stop_at_targets")
        self.fold.put(
            pn.Column(
                *pick("stop_when", "iterations", "samples"), zeta, section("Targets (first hits)"), *targets, **WIDE
            )
        )
        return pn.Column(section("Run"), self._why, *pick("seconds", "calls", "replicas", "seed"), self.fold, **WIDE)
