"""Forms for problems and solvers: a widget for every parameter, live ones first."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import partial
from typing import Any

import panel as pn
import param

from zoviz.estimators import GradientEstimator
from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver
from zoviz.solvers.step_limits import StepLimits
from zoviz.views.common.fold import Fold
from zoviz.views.common.form_widget import FormWidget, Steered
from zoviz.views.common.parameter_row import RANGES, ParameterRow
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.small_fields import CheckBox
from zoviz.views.common.style import WIDE, note, section, update_changed

LEGEND = "<div style='display:flex;gap:12px;font-size:.75rem'>{}</div>".format(
    "".join(
        f"<span><span style='display:inline-block;width:12px;height:4px;margin-right:4px;vertical-align:3px;"
        f"border-radius:2px;background:{colour}'></span>{word}</span>"
        for word, colour in RANGES.items()
    )
)
"""What the colours of sliders mean."""
MAIN = 5
"""Parameters of a solver that are seen at once."""
LOCKED = "Locked during a run. Stop to edit."


def widget_for(parameter: param.Parameter) -> dict[str, Any]:
    """Return the entry for `widgets` of pn.Param: ``{"type": class, option: value, ...}``; empty for Panel's choice."""
    if isinstance(parameter, param.Selector) and not isinstance(parameter, param.ListSelector):
        return {"type": SearchList, "wide": False}
    if isinstance(parameter, param.Boolean) and parameter.allow_None:  # a switch would show None as off
        return {"type": SearchList, "wide": False}
    if isinstance(parameter, param.Boolean):
        return {"type": CheckBox}
    if isinstance(parameter, param.Number):
        return {"type": ParameterRow, "edited": parameter}
    if isinstance(parameter, param.String):
        return {"type": pn.widgets.TextInput, "sizing_mode": "stretch_width", "margin": (2, 10)}
    return {}


def editable(owner: param.Parameterized) -> list[str]:
    """Return the names of parameters that have a widget, in the order of declaration, inherited ones last."""
    kinds = (param.Number, param.Boolean, param.Selector, param.String)
    names = [
        name
        for name, parameter in owner.param.objects().items()
        if isinstance(parameter, kinds)
        and name != "name"
        and not isinstance(parameter, param.ClassSelector)
        and (parameter.precedence is None or parameter.precedence >= 0)
    ]
    own = [name for cls in type(owner).__mro__ for name in vars(cls) if name in names]
    return list(dict.fromkeys(own))


def _is_noisy(noise: str) -> bool:
    """Return whether a word for the noise means that calls differ."""
    return noise in ("common", "independent")


class ParameterForm:
    """The widgets of one object's parameters by name, made when they are first needed; ``prefix`` is its part's."""

    def __init__(self, owner: param.Parameterized, names: list[str], prefix: str = "") -> None:
        self._owner, self._names, self.prefix = owner, names, prefix
        self._fields: dict[str, Any] | None = None
        self._locked = False

    @property
    def fields(self) -> dict[str, Any]:
        """The widgets by dotted parameter name."""
        if self._fields is None:
            self._fields = {}
            for name in self._names:
                options = dict(widget_for(self._owner.param[name]))
                kind = options.pop("type", None)
                if kind is not None:
                    self._fields[f"{self.prefix}{name}"] = kind.from_param(self._owner.param[name], **options)
            self.lock(self._locked)
        return self._fields

    @property
    def complaint(self) -> str:
        """Why the first field whose text is no value of its parameter cannot be taken; empty where all can."""
        wrong = [one for one in (self._fields or {}).values() if isinstance(one, FormWidget) and one.complaint]
        return f"{wrong[0].label}: {wrong[0].complaint} Correct the field, then press Start." if wrong else ""

    def lock(self, locked: bool) -> None:
        """Disable or enable every widget."""
        self._locked = locked
        for field in (self._fields or {}).values():
            update_changed(field, disabled=locked)


class ObjectForm(pn.viewable.Viewer):
    """A form for the parameters of an object and of its parts, some of them fixed while a run is at work.

    A subclass shows their widgets, and ``_why``, the sentence why some are disabled.
    """

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._live, self._fixed = list[ParameterForm](), list[ParameterForm]()
        self._why = pn.Column(note(LOCKED), visible=False, margin=0)

    @property
    def complaint(self) -> str:
        """Why the first field with a wrong text cannot be taken; empty where all can."""
        return next((form.complaint for form in (*self._live, *self._fixed) if form.complaint), "")

    @property
    def fields(self) -> dict[str, Any]:
        """The widgets by dotted parameter name."""
        return {name: field for form in (*self._live, *self._fixed) for name, field in form.fields.items()}

    def lock(self, locked: bool) -> None:
        """Disable or enable the widgets of what is fixed, and say why."""
        for form in self._fixed:
            form.lock(locked)
        update_changed(self._why, visible=locked)


class ProblemForm(ObjectForm):
    """A form for a problem's parameters, all fixed while a run is at work."""

    def __init__(self, problem: Problem, **params: Any) -> None:
        super().__init__(**params)
        self.problem, names = problem, editable(problem)
        noise = [name for name in names if name.startswith("noise")]
        self._own = ParameterForm(problem, [name for name in names if name not in noise])
        self._noise = ParameterForm(problem, noise)
        self._fixed = [self._own, self._noise]

    def __panel__(self) -> pn.viewable.Viewable:
        noise = dict(self._noise.fields)
        which = noise.pop("noise")
        heavy = self.problem.param.noise_distribution.rx() == "student_t"
        noise["noise_degrees"] = pn.Column(noise["noise_degrees"], visible=heavy, **WIDE)
        noisy = pn.Column(
            *noise.values(),
            visible=self.problem.param.noise.rx.pipe(_is_noisy),  # ``rx.map`` would go through the letters of the word
            **WIDE,
        )
        own = self._own.fields.values()
        return pn.Column(self._why, *own, which, noisy, **WIDE)


class SolverForm(ObjectForm):
    """A form for the parameters of a solver and its parts: ``MAIN`` live ones, and the others folded away.

    Those that are fixed during a run come last.

    Attributes
    ----------
    fold : Fold
    """

    def __init__(self, solver: Solver, **params: Any) -> None:
        super().__init__(**params)
        self.solver = solver
        self._legend = pn.pane.HTML(LEGEND, visible=False, margin=(0, 10))
        # Of the run that is steered: entries of its journal that were read, what is in force by them, and the names of
        # what was asked for since.
        self._run: Run | None = None
        self._read, self._values, self._asked = 0, dict[str, Any](), set[str]()
        self._column, self.fold = pn.Column(**WIDE), Fold("structure")
        self._fill()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    def _fill(self) -> None:
        self._suggested: dict[str, Any] = {}
        solver, parts = self.solver, self.solver.parts()
        live = {
            prefix: [name.rpartition(".")[2] for name in solver.live if self._of(name) == prefix] for prefix in parts
        }
        self._live = [ParameterForm(part, live[prefix], prefix) for prefix, part in parts.items()]
        self._fixed = [
            ParameterForm(part, [name for name in editable(part) if name not in live[prefix]], prefix)
            for prefix, part in parts.items()
        ]
        self._kinds = [self._choice(prefix[:-1]) for prefix in parts if prefix]
        self._live_fields = fields = {name: field for form in self._live for name, field in form.fields.items()}
        # Those with a slider first: they are what a run is steered by.
        first = sorted(fields, key=lambda name: not (isinstance(fields[name], ParameterRow) and fields[name].slides))
        main, rest = set(first[:MAIN]), set(first[MAIN:])
        fixed = {name for form in self._fixed for name in form.fields}
        kinds = [kind for kind in self._kinds if kind.visible]
        why = [self._why] if kinds or fixed else []
        folded = [*self._headed(self._live, rest), *why, *kinds, *self._headed(self._fixed, fixed)]
        self.fold.put(pn.Column(*folded, **WIDE), len(rest) + len(kinds) + len(fixed))
        self._column.objects = [self._legend, *self._headed(self._live, main), self.fold]

    def _headed(self, forms: list[ParameterForm], names: set[str]) -> list[Any]:
        """Return some widgets of forms; those of a part have its name above them where another has such fields."""
        labels = [[field.label for field in form.fields.values()] for form in forms]
        out: list[Any] = []
        for form, own in zip(forms, labels, strict=True):
            shared = any(label in other for other in labels if other is not own for label in own)
            if form.prefix and shared and names & form.fields.keys():
                holder, name = self.solver.owner(form.prefix[:-1])
                out.append(section(html.escape(str(holder.param[name].label))))
            out += [field for name, field in form.fields.items() if name in names]
        return out

    @staticmethod
    def _of(name: str) -> str:
        """Return the prefix of the part that a dotted name belongs to."""
        return name[: name.rfind(".") + 1]

    def _choice(self, name: str) -> SearchList:
        """Return the list of a nested part's classes."""
        kinds = self.solver.kinds(name)
        holder, own = self.solver.owner(name)
        titles = {getattr(cls, "title", "") or cls.__name__: cls for cls in kinds}
        look: dict[str, Any] = {"label": holder.param[own].label, "visible": len(kinds) > 1, "wide": False}
        chosen = SearchList(options=titles, value=type(getattr(holder, own)), **look)
        chosen.param.watch(lambda event: self._change_kind(name, event.new), "value")
        return chosen

    def _change_kind(self, name: str, kind: type[param.Parameterized]) -> None:
        """Replace a nested part by one of another class; an estimator keeps its radius and batch size."""
        old = self.solver.get(name)
        common = ("smoothing_radius", "batch_size") if isinstance(old, GradientEstimator) else ()
        self.solver.set(name, kind(**{parameter: getattr(old, parameter) for parameter in common}))
        self._fill()

    def lock(self, locked: bool) -> None:
        """Disable or enable the widgets of structural parameters, and say why."""
        super().lock(locked)
        for select in self._kinds:
            update_changed(select, disabled=locked)

    def steer(self, run: Run | None) -> None:
        """Have the live fields show what a run's journal says, and ask the run for changes.

        None, where no run is at work: they are those of the solver again, which keeps what the run had last.
        """
        before, self._run = self._run, run
        if run is None:
            for name, value in ({} if before is None else before.in_force).items():
                if self.solver.get(name) != value:
                    self.solver.set(name, value)
            for field in {} if before is None else self._live_fields.values():
                field.steer(None)
            return
        rows, awaited = len(run.journal), run.awaited
        if run is not before:
            self._read, self._values, due = rows, run.in_force, set(self._live_fields)
        else:
            new, self._read = run.journal[self._read : rows], rows
            self._values |= {change.name: run.as_set(change.name, change.new) for change in new}
            due = self._asked.union(awaited, (change.name for change in new))
        for name in due & self._live_fields.keys():
            value, pending = awaited.get(name, self._values[name]), name in awaited
            self._live_fields[name].steer(Steered(value, pending, partial(self._ask, run, name)))
        self._asked = set(awaited)

    def _ask(self, run: Run, name: str, value: Any) -> None:
        self._asked.add(name)
        run.set({name: value})

    def limit(self, limits: Mapping[str, StepLimits]) -> None:
        """Show how far parameters may be moved, by (dotted) name; those without an entry as far as anybody likes."""
        for name, field in self.fields.items():
            if isinstance(field, ParameterRow):
                update_changed(field, limits=limits.get(name))
        update_changed(self._legend, visible=bool(limits))

    def suggest(self, values: dict[str, Any]) -> None:
        """Show what the solver's rule chooses, or chose, for parameters that are left to it."""
        if values == self._suggested:
            return
        self._suggested = values
        for name, field in self.fields.items():
            choice = values.get(name)
            if isinstance(field, ParameterRow):
                update_changed(field, suggestion=None if choice is None else float(choice))
            elif isinstance(field, SearchList):  # a switch that the rule leaves open is off
                open_switch = bool(values) and choice is None and False in field.options.values()
                update_changed(field, suggestion=False if open_switch else choice)
