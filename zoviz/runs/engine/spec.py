"""The settings of a run, each declared once, and the description of a run that is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack

import param

from zoviz.core import defaults
from zoviz.core.configurable import SignatureOfParameters
from zoviz.core.errors import ZovizError
from zoviz.core.parameters import ABSENT, Interval
from zoviz.problems.base import Problem
from zoviz.problems.past_points import past_points
from zoviz.runs.engine.confidence import BUDGET, CONFIDENT, FIRST
from zoviz.runs.engine.steering import Change
from zoviz.runs.engine.stopping import BUDGETS, Limits
from zoviz.solvers.base import Solver

if TYPE_CHECKING:
    from zoviz.runs.engine.keywords import RunKeywords

EVERY_CALL = "every call"
"""The value of ``checkpoint`` with which an evaluation is on disk before the next begins."""

ALWAYS, UNDER_NOISE, NEVER = "always", "under noise", "never"
"""The values of ``curvature_scaling``."""

_FREE = {"free": "what a run has done so far does not depend on it: it may be another when the run goes on"}
_LISTED = {"listed": "it is a column of the table of runs, by which they are listed and found"}
_ABOUT = {"about": "it does not decide what is computed, but how a run is stored and found"}


def _count(label: str, doc: str, least: int = 1) -> param.Integer[int | None]:
    """Return the declaration of a budget that is a whole number."""
    return param.Integer(
        default=None, allow_None=True, bounds=(least, None), label=label, doc=doc, metadata=ABSENT | _FREE
    )


class SharedSettings(param.Parameterized, metaclass=SignatureOfParameters):
    """The settings that all runs of a study have in common: limits and words of each, for runs, studies and forms."""

    replicas = param.Integer(
        default=defaults.REPLICAS,
        bounds=(1, 100_000),
        softbounds=(1, 64),
        label="Replicas",
        doc="Number of independent runs that are computed together.",
        metadata=_LISTED,
    )
    iterations = _count("Iterations", "Iterations of the solver.", least=0)
    calls = _count("Oracle calls", "Evaluations per replica; never exceeded.")
    seconds = param.Number(
        default=None,
        allow_None=True,
        bounds=(0, None),
        label="Seconds",
        doc="Computing time in seconds, without pauses.",
        metadata=ABSENT | _FREE,
    )
    samples = _count("Samples", "Samples ξ per replica, counted in full mini-batches; never exceeded.")
    zeta_samples = _count("Samples ζ", "Samples ζ (of constraints, or of the lower level) per replica; never exceeded.")
    targets = param.Dict(default={}, label="Targets", doc='First hits to record, e.g. {"gap": 1e-2}.')
    stop_at_targets = param.Boolean(
        default=False,
        label="Stop when all are hit",
        doc="Finish when every replica has hit every target.",
        metadata=_FREE,
    )
    stop_when: param.Selector[str] = param.Selector(
        default=BUDGET,
        objects=[CONFIDENT, BUDGET, FIRST],
        label="Stop when",
        doc="When the run ends. confident: when further searches find nothing better, or at the noise floor. "
        "budget: when a budget is spent. first: after the first local search.",
        metadata=_FREE,
    )
    accuracy = param.Number(
        default=defaults.ACCURACY,
        bounds=(0, None),
        precedence=-1,
        label="Accuracy",
        doc="Relative decrease of f that counts as an improvement when a run decides whether to end.",
        metadata=_FREE,
    )
    tolerance = param.Number(
        default=None,
        allow_None=True,
        bounds=(0, None),
        precedence=-1,
        label="Feasibility tolerance",
        doc=f"Largest h that counts as feasible, in your units. None: {defaults.FEASIBILITY_TOLERANCE:g} of each row's "
        "size at the start; of built-in problems, and unscaled ones, of 1.",
    )
    checkpoint = Interval(
        defaults.CHECKPOINT_SECONDS,
        words=(EVERY_CALL,),
        precedence=-1,
        label="Checkpoint every",
        doc='Seconds between two checkpoints in the store; "every call" stores every value at once.',
        metadata=_FREE | _ABOUT,
    )
    curvature_scaling: param.Selector[str] = param.Selector(
        default=ALWAYS,
        objects=[ALWAYS, UNDER_NOISE, NEVER],
        precedence=-1,
        label="Scale by curvature",
        doc="When a scaled problem's coordinates are rescaled, so that the functions have similar curvature "
        "along each of them.",
    )

    def __init__(self, **settings: Any) -> None:
        given = {name: settings.get(name) for name in ("targets", "unit_sizes")}
        mappings = {name: dict(value) for name, value in given.items() if isinstance(value, Mapping)}
        super().__init__(**settings | mappings)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, name) for name in SETTINGS if name in self.param}

    @property
    def limits(self) -> Limits:
        """The budgets of a run."""
        return Limits({name: getattr(self, name) for name in BUDGETS})


class RunSettings(SharedSettings):
    """All settings of a run beside its problem and solver."""

    seed = param.Integer(
        default=0, bounds=(0, 2**31), label="Seed", doc="Same seed and steering, same iterates.", metadata=_LISTED
    )
    unit_sizes = param.Dict(
        default=None,
        allow_None=True,
        precedence=-1,
        label="Sizes of units",
        doc="Units to use instead of measuring them: the measured_units of another run.",
        metadata=ABSENT,
    )
    past = param.Parameter(
        default=None,
        precedence=-1,
        label="Past points",
        doc="What is known from before: a file or a table of x, f and h, arrays, an Optuna study, or a stored run.",
        metadata=ABSENT,
    )
    judged = param.Boolean(
        default=False,
        precedence=-1,
        label="Judge the answer",
        doc="Whether calls are kept for the choice of the answer and for its intervals, as minimize does.",
    )
    label = param.String(default="", precedence=-1, label="Label", doc="Name of the run.", metadata=_LISTED | _ABOUT)
    study = param.String(
        default="",
        precedence=-1,
        label="Study",
        doc="Name of the study that the run belongs to.",
        metadata=_LISTED | _ABOUT,
    )
    parent = param.String(
        default="",
        precedence=-1,
        label="Parent",
        doc="Id of the run that this one repeats.",
        metadata=_LISTED | _ABOUT,
    )


class RunSpec(RunSettings):
    """The description of a run: its problem, its solver and its settings. Nobody changes one that is made.

    Parameters
    ----------
    problem : Problem
    solver : Solver
    schedule : iterable of Change
        Changes of parameters that the run makes by itself, each before the step of its iteration.
    resolved : mapping
        Values for parameters left open, by (dotted) name, which the run takes in place of its rule's: those of the run
        that it repeats, whose rule may have been another version's. The rule's calls are charged all the same.
    settings
        By name; what is left out is as by default.

    Raises
    ------
    ValueError
        For a setting that its description in ``RunSettings`` does not allow.
    """

    def __init__(
        self,
        problem: Problem,
        solver: Solver,
        *,
        schedule: Iterable[Change] = (),
        resolved: Mapping[str, Any] = MappingProxyType({}),
        **settings: Unpack[RunKeywords],
    ) -> None:
        self.problem, self.solver = problem, solver
        self.schedule, self.resolved = tuple(Change(*change) for change in schedule), dict(resolved)
        settings["past"] = past_points(settings.get("past"), problem)
        super().__init__(**settings)

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that decide the run's outcome, by name and in alphabetical order, where not as by default.

        A setting that comes later leaves the identity of runs as it was.
        """
        values = self.settings
        return {name: values[name] for name in sorted(COMPUTING) if values[name] != DEFAULTS[name]}

    @property
    def ends(self) -> bool:
        """Whether a budget, or targets that are hit, may end the run."""
        return any(limit is not None for limit in self.limits.values()) or (self.stop_at_targets and bool(self.targets))

    @property
    def arguments(self) -> dict[str, Any]:
        """All that it is made of, by name, as ``RunSpec`` and ``Run`` take it."""
        own = {name: getattr(self, name) for name in ("problem", "solver", "schedule", "resolved")}
        return own | self.settings

    def clone(self) -> RunSpec:
        """Return the same description with clones of problem and solver, which nobody else holds."""
        return self.replaced(problem=self.problem.clone(), solver=self.solver.clone())

    def replaced(self, **changes: Any) -> RunSpec:
        """Return the description with other values of some of its arguments.

        Raises
        ------
        ZovizError
            For a name that is none of them.
        """
        arguments = self.arguments
        for name in changes:
            if name not in arguments:
                raise ZovizError(f"Expected a setting of a run, one of {', '.join(arguments)}, got {name!r}.")
        return RunSpec(**arguments | changes)


def _with(mark: str) -> tuple[str, ...]:
    """Return the names of the settings whose metadata have a mark."""
    return tuple(name for name in SETTINGS if mark in (RunSettings.param[name].metadata or {}))


SETTINGS = tuple(name for name in RunSettings.param if name != "name")
"""Names of the settings of a run, those that a study shares first."""

SHARED = tuple(name for name in SharedSettings.param if name != "name")
"""Names of the settings that all runs of a study have in common."""

FREE = _with("free")
"""Names of the settings that may be others when a run goes on: budgets, when it ends, and how often it is stored."""

LISTED = _with("listed")
"""Names of the settings that are columns of the table of runs; a label is edited there."""

ABOUT = _with("about")
"""Names of the settings that only say how a run is stored and found."""

COMPUTING = tuple(name for name in SETTINGS if name not in ABOUT)
"""Names of the settings that decide what is computed."""

DEFAULTS: Mapping[str, Any] = MappingProxyType({name: RunSettings.param[name].default for name in SETTINGS})
"""The settings of a run of which nothing is said, by name."""
