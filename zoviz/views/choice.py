"""Which problem and which solver: the two lists, and the forms of what is chosen."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from zoviz.problems.base import Problem
from zoviz.registry import discover, required
from zoviz.solvers.base import Solver
from zoviz.views.forms import ProblemForm, SolverForm
from zoviz.views.style import amend, note, quiet


def _name(solver: Solver) -> str:
    return solver.title or type(solver).__name__


class Choice(pn.viewable.Viewer):
    """Every problem and, for the chosen one, every solver that accepts it; a person's values are kept per object.

    Parameters
    ----------
    own_problem : Problem, optional
        Offered first.
    own_solver : Solver, optional
        Replaces the registry's instance of its class, and is chosen.
    """

    problem_name: param.Selector[str] = param.Selector(
        default=None, objects=[None], label="Problem", doc="What is minimised."
    )
    solver_name: param.Selector[str] = param.Selector(
        default=None, objects=[None], label="Solver", doc="Those that accept the problem."
    )

    def __init__(self, own_problem: Problem | None = None, own_solver: Solver | None = None, **params: Any) -> None:
        super().__init__(**params)
        problems = sorted(discover("zoviz.problems", Problem).values(), key=lambda cls: (cls.order, cls.__name__))
        self.problems = {cls.title or cls.__name__: cls() for cls in problems if not required(cls)}
        if own_problem is not None:
            title = f"{own_problem.title or type(own_problem).__name__} (yours)"
            self.problems = {title: own_problem, **self.problems}
        solvers = [cls() for cls in discover("zoviz.solvers", Solver).values()]
        solvers.sort(key=lambda one: (one.estimator is None, _name(one).casefold()))  # other libraries' come last
        self.solvers = {_name(one): one for one in solvers}
        if own_solver is not None:
            self.solvers[_name(own_solver)] = own_solver
        self.doubt = ""
        # Three lines at most: where extras are missing there are a dozen reasons, and the forms stand below.
        self._refused = note("", visible=True, margin=(0, 10), styles={"max-height": "60px", "overflow-y": "auto"})
        self.problem_slot = pn.Column(sizing_mode="stretch_width", margin=0)
        self.solver_slot = pn.Column(sizing_mode="stretch_width", margin=0)
        self.param.problem_name.objects = list(self.problems)
        style = {"sizing_mode": "stretch_width", "size": "small", "margin": (8, 10)}
        first = None if own_solver is None else _name(own_solver)
        self._offer(list(self.problems)[0], first)
        self._selects = [
            pmui.Select.from_param(self.param.problem_name, **style),
            pmui.Select.from_param(self.param.solver_name, **style),
        ]
        self.param.watch(lambda event: self._offer(event.new, self.solver_name), "problem_name")
        self.param.watch(lambda _: self._show_solver(), "solver_name")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(*self._selects, self._refused, sizing_mode="stretch_width", margin=0)

    @property
    def problem(self) -> Problem:
        """The chosen problem."""
        return self.problems[self.problem_name]

    @property
    def solver(self) -> Solver:
        """The chosen solver."""
        return self.solvers[self.solver_name]

    def adopt(self, problem: Problem, solver: Solver) -> None:
        """Choose the problem and the solver of a run that was made elsewhere: the forms then steer it."""
        name = problem.title or type(problem).__name__
        title = next((known for known, one in self.problems.items() if one is problem), f"{name} (stored run)")
        self.problems = {**self.problems, title: problem}
        self.solvers[_name(solver)] = solver
        self.param.problem_name.objects = list(self.problems)
        self._offer(title, _name(solver))

    def lock(self, locked: bool) -> None:
        """Disable what is fixed while a run is in progress; the forms say why."""
        for select in self._selects:
            amend(select, disabled=locked)
        self.problem_form.lock(locked)
        self.solver_form.lock(locked)

    def suggest(self, resolved: dict[str, Any] | None = None) -> None:
        """Show what the rule chose (``resolved``), or would choose where that costs no call; ``doubt`` says why not."""
        self.doubt = ""
        if not resolved:
            try:
                constants = self.solver.known(self.problem)
                if constants is None:
                    return
                resolved = self.solver.suggest(self.problem, constants)
            except ValueError as error:
                self.doubt = str(error)
                return
        self.solver_form.suggest(resolved)

    def _offer(self, problem: str, wanted: str | None) -> None:
        """Offer the solvers that accept the problem, and say which others of its form do not and why."""
        refused = {title: self._reason(candidate, problem) for title, candidate in self.solvers.items()}
        accepted = [title for title, reason in refused.items() if not reason] or list(self.solvers)
        form = self.problems[problem].form
        close = [reason for title, reason in refused.items() if reason and form in self.solvers[title].forms]
        self._refused.object = quiet("<br>".join(f"Not offered: {reason}" for reason in close))
        favourite = "ZO-SPLM" if "ZO-SPLM" in accepted else accepted[0]
        self.param.solver_name.objects = accepted
        self.param.update(problem_name=problem, solver_name=wanted if wanted in accepted else favourite)
        self.problem_form = ProblemForm(self.problem)
        self.problem_slot.objects = [self.problem_form]
        self._show_solver()

    def _reason(self, solver: Solver, problem: str) -> str:
        try:
            return solver.accepts(self.problems[problem]) or ""
        except ValueError:  # the problem's own complaint comes with its form
            return ""

    def _show_solver(self) -> None:
        self.solver_form = SolverForm(self.solver)
        self.solver_slot.objects = [self.solver_form]
