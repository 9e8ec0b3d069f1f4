"""The description of a run in one place: everything that makes, stores, repeats or shows runs uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import param

from zoviz.core import defaults
from zoviz.core.errors import ZovizError
from zoviz.core.parameters import ABSENT, Interval
from zoviz.problems.base import Problem
from zoviz.runs.engine.steering import Change
from zoviz.runs.engine.stopping import Limits
from zoviz.solvers.base import Solver

EVERY_CALL = "every call"
"""The value of ``checkpoint`` with which an evaluation is on disk before the next begins."""

ALWAYS, UNDER_NOISE, NEVER = "always", "under noise", "never"
"""The values of ``curvature_scaling``. Stored runs that name none are from before it was one: under noise only."""


@dataclass(frozen=True)
class Role:
    """What a setting means to those who store, find, compare and repeat runs; said where it is declared.

    Attributes
    ----------
    free : bool
        It may be another when a run goes on: what the run has done so far does not depend on it.
    listed : bool
        It is a column of the table of runs too, by which they are listed and found; a label is edited there.
    computes : bool
        It decides what is computed; else it says how a run is stored and found.
    shared : bool
        All runs of a study have the same; else each of them gets its own.
    """

    free: bool = False
    listed: bool = False
    computes: bool = True
    shared: bool = True


def _role(**values: Any) -> dict[str, Role]:
    """Return the metadata of a field that is a setting."""
    return {"role": Role(**values)}


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
        default=None,
        allow_None=True,
        bounds=(0, None),
        label="Iteration budget",
        doc="None: unlimited.",
        metadata=ABSENT,
    )
    calls = param.Integer(
        default=None,
        allow_None=True,
        bounds=(1, None),
        label="Oracle-call budget",
        doc="Per replica; never exceeded.",
        metadata=ABSENT,
    )
    seconds = param.Number(
        default=None,
        allow_None=True,
        bounds=(0, None),
        label="Time budget in s",
        doc="Computing time, of choosing steps too; pauses do not count.",
        metadata=ABSENT,
    )
    samples = param.Integer(
        default=None,
        allow_None=True,
        bounds=(1, None),
        label="Sample budget",
        doc="Samples ξ per replica, mini-batches in full; never exceeded.",
        metadata=ABSENT,
    )
    zeta_samples = param.Integer(
        default=None,
        allow_None=True,
        bounds=(1, None),
        label="Budget of ζ samples",
        doc="Samples ζ, of rows or of a follower's g, per replica; never exceeded.",
        metadata=ABSENT,
    )
    targets = param.Dict(default={}, label="Targets", doc='First hits to record, e.g. {"gap": 1e-2}.')
    stop_at_targets = param.Boolean(
        default=False, label="Stop at targets", doc="Finish when every replica has hit every target."
    )
    tolerance = param.Number(
        default=None,
        allow_None=True,
        bounds=(0, None),
        label="Feasibility tolerance",
        doc=f"Largest h that counts as feasible, in your units. None: {defaults.FEASIBILITY_TOLERANCE:g} of each row's "
        "size at the start; of built-in problems, and unscaled ones, of 1.",
    )
    checkpoint = Interval(
        defaults.CHECKPOINT_SECONDS,
        words=(EVERY_CALL,),
        precedence=-1,
        label="Checkpoint every",
        doc='Seconds between two checkpoints in the store, or "every call": none that was paid for is ever lost.',
    )
    unit_sizes = param.Dict(
        default=None,
        allow_None=True,
        precedence=-1,
        label="Sizes of units",
        doc="Another run's measured_units, to take in place of those that would be measured.",
        metadata=ABSENT,
    )
    curvature_scaling: param.Selector[str] = param.Selector(
        default=ALWAYS,
        objects=[ALWAYS, UNDER_NOISE, NEVER],
        precedence=-1,
        label="Scale by curvature",
        doc="When a scaled problem's coordinates are stretched until the functions bend alike along them.",
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
    replicas, seed, iterations, calls, seconds, samples, zeta_samples, targets, stop_at_targets, tolerance, checkpoint
    unit_sizes, curvature_scaling
        As ``RunSettings`` describes them.
    label, study, parent
        Likewise: how it is named, and where it belongs.
    schedule : tuple of Change
        Changes of parameters that the run makes by itself, each before the step of its iteration.
    resolved : mapping
        Values for parameters left open, by (dotted) name, which the run takes in place of its rule's: those of the run
        that it repeats, whose rule may have been another version's. The rule's calls are charged all the same.

    Raises
    ------
    ValueError
        For a setting that its description in ``RunSettings`` does not allow.
    """

    problem: Problem
    solver: Solver
    replicas: int = field(default=defaults.REPLICAS, metadata=_role(listed=True))
    seed: int = field(default=0, metadata=_role(listed=True, shared=False))
    iterations: int | None = field(default=None, metadata=_role(free=True))
    calls: int | None = field(default=None, metadata=_role(free=True))
    seconds: float | None = field(default=None, metadata=_role(free=True))
    samples: int | None = field(default=None, metadata=_role(free=True))
    zeta_samples: int | None = field(default=None, metadata=_role(free=True))
    targets: Mapping[str, float | Sequence[float]] = field(default_factory=dict, metadata=_role())
    stop_at_targets: bool = field(default=False, metadata=_role(free=True))
    tolerance: float | None = field(default=None, metadata=_role())
    checkpoint: float | str = field(default=defaults.CHECKPOINT_SECONDS, metadata=_role(free=True, computes=False))
    unit_sizes: Mapping[str, Any] | None = field(default=None, metadata=_role(shared=False))
    curvature_scaling: str = field(default=ALWAYS, metadata=_role())
    label: str = field(default="", metadata=_role(listed=True, computes=False, shared=False))
    study: str = field(default="", metadata=_role(listed=True, computes=False, shared=False))
    parent: str = field(default="", metadata=_role(listed=True, computes=False, shared=False))
    schedule: tuple[Change, ...] = ()
    resolved: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settings = self.settings
        RunSettings(**settings | {"targets": dict(self.targets)})  # refuses what is out of bounds, in Param's words
        object.__setattr__(self, "targets", dict(self.targets))
        object.__setattr__(self, "schedule", tuple(Change(*change) for change in self.schedule))
        object.__setattr__(self, "resolved", dict(self.resolved))

    @property
    def settings(self) -> dict[str, Any]:
        """The settings by name: everything but problem, solver, schedule and what was resolved."""
        return {name: getattr(self, name) for name in SETTINGS}

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that decide the run's outcome, by name and in alphabetical order, where not as by default.

        A setting that comes later leaves the identity of runs as it was.
        """
        values = self.settings
        return {name: values[name] for name in sorted(COMPUTING) if values[name] != DEFAULTS[name]}

    @property
    def limits(self) -> Limits:
        """The budgets of the run."""
        return Limits(self.iterations, self.calls, self.seconds, self.samples, self.zeta_samples)

    @property
    def ends(self) -> bool:
        """Whether a budget, or targets that are hit, may end the run."""
        return any(limit is not None for limit in self.limits) or (self.stop_at_targets and bool(self.targets))

    def clone(self) -> RunSpec:
        """Return the same description with clones of problem and solver, which nobody else holds."""
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
        names = [one.name for one in fields(cls)]
        unknown = [name for name in values if name not in names]
        if unknown:
            raise ZovizError(f"Expected a setting of a run, one of {', '.join(names)}, got {unknown[0]!r}.")
        return cls(**values)


ROLES: Mapping[str, Role] = MappingProxyType(
    {one.name: one.metadata["role"] for one in fields(RunSpec) if "role" in one.metadata}
)
"""The settings, in their order, each with its role: all fields but problem, solver, schedule and what was resolved."""

SETTINGS = tuple(ROLES)
"""Names of the settings, in their order."""

FREE = tuple(name for name, role in ROLES.items() if role.free)
"""Names of the settings that may be others when a run goes on: budgets, when it ends, and how often it is stored."""

LISTED = tuple(name for name, role in ROLES.items() if role.listed)
"""Names of the settings that are columns of the table of runs."""

SHARED = tuple(name for name, role in ROLES.items() if role.shared)
"""Names of the settings that all runs of a study have in common."""

COMPUTING = tuple(name for name, role in ROLES.items() if role.computes)
"""Names of the settings that decide what is computed."""

DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {one.name: {} if one.name == "targets" else one.default for one in fields(RunSpec) if one.name in SETTINGS}
)
"""The settings of a run of which nothing is said, by name."""
