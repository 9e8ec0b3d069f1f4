"""The pickers of the problem and the solver, with the forms of what is picked."""

from __future__ import annotations

import html
from typing import Any

import panel as pn
import param

from zoviz.core.registry import discover, required, title_of
from zoviz.problems.base import Problem
from zoviz.problems.families import problem_group
from zoviz.runs.live_runs import UNLIMITED, Limits
from zoviz.solvers.base import Solver
from zoviz.views.common.fold import Fold
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.style import WIDE, details_html, muted_html, note, update_changed
from zoviz.views.controls.about_problem import about_html
from zoviz.views.controls.background_build import BackgroundBuild
from zoviz.views.controls.default_solver import default_solver
from zoviz.views.controls.parameter_forms import ProblemForm, SolverForm
from zoviz.views.controls.solver_groups import METHODS, solver_group


class Picker(pn.viewable.Viewer):
    """A picker of a problem and of a solver that accepts it; a person's values are remembered for each.

    Parameters
    ----------
    own_problem : Problem, optional
        Offered first.
    own_solver : Solver, optional
        Replaces the registry's instance of its class, and is chosen.
    limits : Limits
        Of the server: the data of a problem that is too large are not built.

    Attributes
    ----------
    complaint : str
        Why no run can be made of what is chosen, as of the last ``suggest``; empty where one can.
    loading : bool
        Whether ``complaint`` only says that the problem's data are awaited.
    about : HTML
        What is known of the problem.
    refused, others : HTML
        Why solvers that are made for the problem are not offered, and which are made for other problems.
    problem_fold : Fold
        Holds the problem's form.
    solver_panel : Column
        Holds the solver's.
    """

    problem_name: param.Selector[str] = param.Selector(
        default=None, objects=[None], label="Problem", doc="Problem to minimise."
    )
    solver_name: param.Selector[str] = param.Selector(
        default=None, objects=[None], label="Solver", doc="Solvers that accept the problem."
    )

    def __init__(
        self,
        own_problem: Problem | None = None,
        own_solver: Solver | None = None,
        limits: Limits = UNLIMITED,
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self._limits = limits
        problems = sorted(discover("zoviz.problems", Problem).values(), key=lambda cls: (cls.order, cls.__name__))
        self.problems = {title_of(cls): cls() for cls in problems if not required(cls)}
        if own_problem is not None:
            title = f"{title_of(own_problem)} (yours)"
            self.problems = {title: own_problem, **self.problems}
        solvers = [cls() for cls in discover("zoviz.solvers", Solver).values()]
        solvers.sort(key=lambda one: (one.external, title_of(one).casefold()))  # other libraries' come last
        self.solvers = {title_of(one): one for one in solvers}
        if own_solver is not None:
            self.solvers[title_of(own_solver)] = own_solver
        self.complaint, self.loading, self._locked = "", False, False
        self._wanted: str | None = None  # the solver that was asked for with a problem whose data are awaited
        self.form, self.refused, self.others = (
            note("", margin=(0, 10, 4, 10), sizing_mode="stretch_width") for _ in range(3)
        )
        # Its last line keeps clear of the next list's label, which floats above that list's border.
        self.about = note("", margin=(0, 10, 6, 10), sizing_mode="stretch_width")
        self.problem_fold = Fold("parameters and noise")
        self.solver_panel = pn.Column(**WIDE)
        self._background_build = BackgroundBuild()
        self.solver_form: Any = None  # ``_offer`` makes it
        self.param.problem_name.objects = list(self.problems)
        first = None if own_solver is None else title_of(own_solver)
        self._offer(list(self.problems)[0], first)
        groups: dict[str, dict[str, Any]] = {
            "problem_name": {"group": lambda title: problem_group(self.problems[title])},
            "solver_name": {"group": lambda title: solver_group(self.solvers[title]), "order": list(METHODS.values())},
        }
        self._lists = [SearchList.from_param(self.param[name], optional=False, **look) for name, look in groups.items()]
        self.param.watch(lambda _: self._prepare(), "problem_name")
        self.param.watch(lambda _: self._show_solver(), "solver_name")

    def __panel__(self) -> pn.viewable.Viewable:
        problem, solver = self._lists
        parts = (problem, self.about, self.problem_fold, solver, self.form, self.refused, self.others)
        return pn.Column(*parts, **WIDE, css_classes=["zoviz-picker"])

    @property
    def problem(self) -> Problem:
        """The problem that is picked."""
        return self.problems[self.problem_name]

    @property
    def solver(self) -> Solver:
        """The solver that is picked."""
        return self.solvers[self.solver_name]

    def load(self, problem: Problem, solver: Solver) -> None:
        """Pick the problem and the solver of a run that was made elsewhere, so that the forms steer it."""
        other = f"{title_of(problem)} (stored run)"
        title = next((title for title, one in self.problems.items() if one is problem), other)
        self.problems = {**self.problems, title: problem}
        self.solvers[title_of(solver)] = solver
        self.param.problem_name.objects = list(self.problems)
        self._offer(title, title_of(solver))

    def pick(self, problem: str, solver: str | None = None) -> bool:
        """Pick a problem and a solver by their titles; return False where the problem's data show that it refuses it.

        Where the data are still awaited, the solver is picked once they are there.
        """
        self._wanted = solver
        self.problem_name = problem
        if self._prepare() and solver is not None:
            self._wanted = None
            if solver not in self.param.solver_name.objects:
                return False
            self.solver_name = solver
        return True

    def set_kind(self, solver: Solver, name: str, kind: type[param.Parameterized]) -> None:
        """Give a solver of the list a (dotted) nested part of a class, with its defaults; its form follows."""
        solver.set(name, kind())
        if solver is self.solver:
            self._show_solver()

    def lock(self, locked: bool) -> None:
        """Disable or enable what is fixed while a run is at work; the forms say why."""
        self._locked = locked
        for one in self._lists:
            update_changed(one, disabled=locked)
        self.problem_form.lock(locked)
        self.solver_form.lock(locked)

    def suggest(self, resolved: dict[str, Any] | None = None) -> None:
        """Show the values that the rule chose (``resolved``), or would choose where that costs no call."""
        self.complaint, self.loading = "", False
        if not resolved:
            if not self._prepare():
                return
            try:
                constants = self.solver.known_constants(self.problem)
                # What the rule chose for a run was of that run's problem.
                resolved = {} if constants is None else self.solver.from_constants(self.problem, constants)
            except ValueError as error:
                self.complaint, resolved = str(error), {}
        self.solver_form.suggest(resolved)
        form = self.solver.form(resolved)
        summary, by, rest = html.escape(form).partition(" by ")
        text = details_html(summary, f"By {rest}") if by else muted_html(summary)
        update_changed(self.form, object=text, visible=bool(form))

    def _prepare(self) -> bool:
        """Return whether the problem's data are there and its solvers offered; ``complaint`` says what is awaited."""
        self.complaint = self._limits.refusal(self.problem)
        if self.complaint:
            self.loading = False
            return False
        ready, stale = self._background_build.ready(self.problem), self._offered is not self.problem
        self.loading = not ready
        if not ready:
            self.complaint = f"Loading the data of {self.problem_name}."
        elif stale:
            # A solver that a person picked is kept where it can be; one that was only offered first gives way.
            wanted, self._wanted = self._wanted, None
            self._offer(self.problem_name, wanted or (None if self.solver_name == self._first else self.solver_name))
        for column in (self.problem_fold.column, self.solver_panel):
            update_changed(column, loading=stale and not ready)
        return ready

    def _offer(self, problem: str, favourite: str | None) -> None:
        """Offer the solvers that accept the problem, and say which do not and why."""
        subject, before = self.problems[problem], self.solver_form
        reasons = {title: self._reason(candidate, problem) for title, candidate in self.solvers.items()}
        accepted = [title for title, reason in reasons.items() if not reason] or list(self.solvers)
        self.explain(subject, {title: reason for title, reason in reasons.items() if reason})
        first = self._first = default_solver(subject, accepted)
        self._offered = subject
        update_changed(self.about, object=about_html(subject))
        self.param.solver_name.objects = accepted
        self.param.update(problem_name=problem, solver_name=favourite if favourite in accepted else first)
        self.problem_form = ProblemForm(self.problem)
        self.problem_form.lock(self._locked)
        self.problem_fold.put(self.problem_form)
        if self.solver_form is before:  # else the change of the name has shown it
            self._show_solver()

    def explain(self, problem: Problem, reasons: dict[str, str]) -> None:
        """Say why solvers are not offered: those for other problems, those not installed, and the rest by name."""
        ours = {title: reason for title, reason in reasons.items() if self.solvers[title].made_for(problem)}
        absent = [reason for title, reason in ours.items() if self.solvers[title].missing_package]
        own = {title: reason for title, reason in ours.items() if not self.solvers[title].missing_package}
        other: dict[str, list[str]] = {}
        for title in reasons:
            if not self.solvers[title].made_for(problem):
                other.setdefault(" or ".join(self.solvers[title].forms), []).append(title)
        # Folded: the reasons would push the form out of sight.
        text = details_html(f"Not offered here: {', '.join(own)}", *own.values())
        count = sum(len(titles) for titles in other.values())
        lists = [f"Made for {form} problems: {', '.join(titles)}" for form, titles in other.items()]
        update_changed(self.refused, object=text, visible=bool(own))
        lines = [details_html(f"Solvers whose packages are not installed: {len(absent)}", *absent)] if absent else []
        lines += [details_html(f"{count} solvers not applicable to this problem", *lists)] if other else []
        update_changed(self.others, object="".join(lines), visible=bool(lines))

    def _reason(self, solver: Solver, problem: str) -> str:
        try:
            return solver.accepts(self.problems[problem]) or ""
        except ValueError:  # the problem's own complaint comes with its form
            return ""

    def _show_solver(self) -> None:
        self.solver_form = SolverForm(self.solver)
        self.solver_form.lock(self._locked)
        self.solver_panel.objects = [self.solver_form]
