"""What a run has done so far, as its readers see it; the null object of a run that has not begun."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from zoviz.core.types import Array
from zoviz.core.units import Units
from zoviz.oracle import Oracle
from zoviz.runs.engine.answer import Answer
from zoviz.runs.engine.guard import Divergence
from zoviz.runs.engine.result import Result
from zoviz.runs.engine.steering import Journal
from zoviz.runs.engine.stopping import BUDGETS, Ending, Progress, RunStatus, Target
from zoviz.runs.engine.trace import Trace


class RunHistory:
    """What a run has done so far. As it is here nothing: a worker, and a stored run's history, have more.

    Parameters
    ----------
    resolved : mapping
        Values that the run was given for parameters left open.

    Attributes
    ----------
    status : RunStatus
    message : str
        The sentence on how the run ended; empty before that.
    error : BaseException or None
        The exception that ended the run as failed.
    spent_calls : bool
        Whether the budget of calls or samples ended the run, in mid-step.
    ending : Ending
        Why it ended; of use once it has.
    answer : Answer or None
        The point that was chosen and judged, where the run does so; None before its end.
    oracle : Oracle or None
        The worker's; None before it has begun.
    trace, path : Trace
        The columns of the run, one row per recorded iteration; the iterates of the first replica, thinned likewise.
    journal : Journal
        The changes of parameters.
    targets : list of Target
        The targets with their first hits.
    resolved : dict
        The values chosen for parameters left at None.
    """

    status: RunStatus = RunStatus.READY
    message: str = ""
    error: BaseException | None = None
    spent_calls: bool = False
    ending: Ending = Ending.FAILED
    answer: Answer | None = None
    oracle: Oracle | None = None

    def __init__(self, resolved: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.trace, self.path, self.journal = Trace(), Trace(), Journal()
        self.targets: list[Target] = []
        self.resolved = dict(resolved)

    @property
    def progress(self) -> Progress:
        """How far it has come; any thread may read it."""
        return Progress(dict.fromkeys(BUDGETS, 0), math.nan)

    @property
    def tolerances(self) -> Array:
        """The largest h that counts as feasible, (m,) in the user's units; empty before that is known."""
        return np.empty(0) if self.oracle is None else self.oracle.best.tolerance

    @property
    def units(self) -> Units | None:
        """The units by which the solver's points, values and multipliers become the user's; None where equal."""
        return None if self.oracle is None else self.oracle.units

    @property
    def measured_units(self) -> dict[str, Any] | None:
        """The sizes of the units in which the solver sees the problem, by name; None where these are the user's own."""
        return None if self.units is None else self.units.sizes

    @property
    def frozen(self) -> int:
        """The number of replicas that a non-finite value, or the guard, stopped."""
        return 0 if self.oracle is None else int((~self.oracle.active).sum())

    @property
    def divergences(self) -> Sequence[Divergence]:
        """The replicas that the guard stopped, with when and why, in order."""
        return ()

    @property
    def has_result(self) -> bool:
        """Whether there is an outcome."""
        return False

    @property
    def result(self) -> Result:
        """The outcome so far of a run that has one."""
        raise NotImplementedError("A run that has not begun has no outcome.")
