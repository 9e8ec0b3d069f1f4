"""The description of a run in one place: everything that makes, stores, repeats or shows runs uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import param

from zoviz.core import defaults
from zoviz.core.errors import ZovizError
from zoviz.core.parameters import Interval
from zoviz.problems.base import Problem
from zoviz.runs.engine.journal import Change
from zoviz.runs.engine.stopping import Limits
from zoviz.solvers.base import Solver

_FREE = {"free": True}
"""Marks a setting that may be another when a run goes on: what it has done so far does not depend on it."""

EVERY_CALL = "every call"
"""The value of ``checkpoint`` with which an evaluation is on disk before the next begins."""


class RunSettings(param.Parameterized):
    """The settings of a run beside its problem and solver: names, limits and words of each, for runs and forms."""

    replicas = param.Integer(
        default=defaults.REPLICAS,
        bounds=(1, 100_000),
        softbounds=(1, 64),
        label="Replicas",
        doc="Independent runs in lock-step.",
    )
    seed = param.Integer(default=0, bounds=(0, 2**31), label="Seed", doc="Same seed and steering, same iterates.")
    iterations = param.Integer(
        default=None, allow_None=True, bounds=(0, None), label="Iteration budget", doc="Empty: unlimited."
    )
    calls = param.Integer(
        default=None, allow_None=True, bounds=(1, None), label="Oracle-call budget", doc="Per replica; never exceeded."
    )
    seconds = param.Number(
        default=None, allow_None=True, bounds=(0, None), label="Time budget in s", doc="Computing time of the steps."
    )
    targets = param.Dict(default={}, label="Targets", doc='First hits to record, e.g. {"gap": 1e-2}.')
    stop_at_targets = param.Boolean(
        default=False, label="Stop at targets", doc="Finish when every replica has hit every target."
    )
    tolerance = param.Number(
        default=defaults.FEASIBILITY_TOLERANCE,
        bounds=(0, None),
        label="Feasibility tolerance",
        doc="Largest h that counts as feasible.",
    )
    checkpoint = Interval(
        defaults.CHECKPOINT_SECONDS,
        words=(EVERY_CALL,),
        precedence=-1,
        label="Checkpoint every",
        doc='Seconds between two checkpoints in the store, or "every call": none that was paid for is ever lost.',
    )
    label = param.String(default="", label="Label", doc="Name for people.")
    study = param.String(default="", precedence=-1, label="Study", doc="Name of the study that the run belongs to.")
    parent = param.String(default="", precedence=-1, label="Parent", doc="Id of the run that this one repeats.")


@dataclass(frozen=True)
class RunSpec:
    """The frozen description of a run.

    Attributes
    ----------
    problem : Problem
    solver : Solver
    replicas, seed, iterations, calls, seconds, targets, stop_at_targets, tolerance, checkpoint, label, study, parent
        As ``RunSettings`` describes them.
    schedule : tuple of Change
        Changes of parameters that the run makes by itself, each before the step of its iteration.

    Raises
    ------
    ValueError
        For a setting that its description in ``RunSettings`` does not allow.
    """

    problem: Problem
    solver: Solver
    replicas: int = defaults.REPLICAS
    seed: int = 0
    iterations: int | None = field(default=None, metadata=_FREE)
    calls: int | None = field(default=None, metadata=_FREE)
    seconds: float | None = field(default=None, metadata=_FREE)
    targets: Mapping[str, float | Sequence[float]] = field(default_factory=dict)
    stop_at_targets: bool = field(default=False, metadata=_FREE)
    tolerance: float = defaults.FEASIBILITY_TOLERANCE
    checkpoint: float | str = field(default=defaults.CHECKPOINT_SECONDS, metadata=_FREE)
    label: str = ""
    study: str = ""
    parent: str = ""
    schedule: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        settings = self.settings
        RunSettings(**settings | {"targets": dict(self.targets)})  # refuses what is out of bounds, in Param's words
        object.__setattr__(self, "targets", dict(self.targets))
        object.__setattr__(self, "schedule", tuple(Change(*change) for change in self.schedule))

    @property
    def settings(self) -> dict[str, Any]:
        """Everything but problem, solver and schedule, by name."""
        return {name: getattr(self, name) for name in SETTINGS}

    @property
    def limits(self) -> Limits:
        """The budgets."""
        return Limits(self.iterations, self.calls, self.seconds)

    @property
    def ends(self) -> bool:
        """Whether a budget, or targets that are hit, may end the run."""
        return any(limit is not None for limit in self.limits) or (self.stop_at_targets and bool(self.targets))

    def clone(self) -> RunSpec:
        """Return the same description with twins of problem and solver, which nobody else holds."""
        return replace(self, problem=self.problem.clone(), solver=self.solver.clone())

    def replaced(self, **changes: Any) -> RunSpec:
        """Return the description with other values of some of its fields.

        Raises
        ------
        ZovizError
            For a name that is no field.
        """
        return RunSpec.from_dict(self.to_dict() | changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, as ``from_dict`` takes them and as ``Run`` has its arguments."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunSpec:
        """Make a description from the dict of ``to_dict``; what is left out gets its default.

        Raises
        ------
        ZovizError
            For a name that is no field.
        """
        known = [one.name for one in fields(cls)]
        unknown = [name for name in values if name not in known]
        if unknown:
            raise ZovizError(f"Expected a setting of a run, one of {', '.join(known)}, got {unknown[0]!r}.")
        return cls(**values)


SETTINGS = tuple(one.name for one in fields(RunSpec) if one.name not in ("problem", "solver", "schedule"))
"""Names of the settings, in their order."""

FREE = tuple(one.name for one in fields(RunSpec) if one.metadata == _FREE)
"""Names of the settings that may be others when a run goes on: budgets, when it ends, and how often it is stored."""

DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {one.name: {} if one.name == "targets" else one.default for one in fields(RunSpec) if one.name in SETTINGS}
)
"""The settings of a run of which nothing is said, by name."""
