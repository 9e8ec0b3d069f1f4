"""What a run tells while it goes on and after it has ended; readable by any thread at any time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import param

from zoviz.core.errors import ZovizError
from zoviz.core.types import Printed
from zoviz.core.units import Units
from zoviz.oracle import Oracle
from zoviz.runs.engine.journal import Journal
from zoviz.runs.engine.result import Result, summarise
from zoviz.runs.engine.stopping import RunStatus, Target
from zoviz.runs.engine.trace import Trace
from zoviz.runs.engine.worker import Worker


class Progress(NamedTuple):
    """How far a run has come: iterations, oracle calls per replica, computing seconds, share of the budget (or NaN)."""

    iteration: int
    calls: int
    seconds: float
    fraction: float


class Readout(param.Parameterized):
    """The readable side of a run; ``Run`` adds what starts and steers it."""

    _worker: Worker | None = None

    @property
    def _oracle(self) -> Oracle | None:
        return getattr(self._worker, "oracle", None)

    @property
    def status(self) -> RunStatus:
        """The status: ready, running, paused, finished, stopped or failed."""
        return RunStatus.READY if self._worker is None else self._worker.status

    @property
    def active(self) -> bool:
        """Whether the run is going on or paused."""
        return self.status.active

    @property
    def message(self) -> str:
        """One sentence on how the run ended, or on what to know while it goes on."""
        worker = self._worker
        if worker is None:
            return ""
        return worker.message or " ".join(filter(None, [*worker.notes, self.trouble]))

    @property
    def trouble(self) -> str:
        """What is amiss with the run's store, as a sentence; empty where all is well, or there is none."""
        recorder = None if self._worker is None else self._worker.recorder
        return "" if recorder is None else recorder.trouble

    @property
    def error(self) -> BaseException | None:
        """What ended the run as failed."""
        return None if self._worker is None else self._worker.error

    @property
    def trace(self) -> Trace:
        """Columns of the run's course so far."""
        return Trace() if self._worker is None else self._worker.trace

    @property
    def printed(self) -> tuple[Printed, ...]:
        """What the last evaluations of this run printed, oldest first; empty for most problems."""
        return () if self._worker is None else self._worker.problem.printed

    @property
    def path(self) -> Trace:
        """Iterates of the first replica: the columns ``iteration`` and ``x`` (rows, n), thinned like the trace."""
        return Trace() if self._worker is None else self._worker.path

    @property
    def journal(self) -> Journal:
        """Steering so far."""
        return Journal() if self._worker is None else self._worker.journal

    @property
    def hits(self) -> list[Target]:
        """Targets with their first hits so far."""
        return [] if self._worker is None else self._worker.targets

    @property
    def resolved(self) -> Mapping[str, Any]:
        """What the solver's rule chose for parameters left at None."""
        return {} if self._worker is None else self._worker.resolved

    @property
    def units(self) -> Units | None:
        """How the solver's points, values and multipliers translate into the user's; None where they are the same."""
        return None if self._oracle is None else self._oracle.units

    @property
    def progress(self) -> Progress:
        """Counters, readable at any time."""
        worker, oracle = self._worker, self._oracle
        if worker is None or oracle is None:
            return Progress(0, 0, 0.0, float("nan"))
        done = worker.iteration, oracle.spent, worker.seconds
        return Progress(*done, worker.limits.fraction(*done))

    @property
    def frozen(self) -> int:
        """Replicas that a non-finite value stopped."""
        return 0 if self._oracle is None else int((~self._oracle.active).sum())

    @property
    def result(self) -> Result:
        """The outcome, in SciPy's names; callable once the run has started."""
        if self._worker is None:
            raise ZovizError("Expected a run that has started, got none: call start() or run() first.")
        if self._worker.state is None:
            raise ZovizError(f"The run has no iterate yet (it is {self.status}). {self.message}".rstrip())
        return summarise(self._worker)

    @property
    def state(self) -> Any:
        """The solver's state after the last step, in its units: a NamedTuple of arrays, not to be written to."""
        return None if self._worker is None else self._worker.state

    @property
    def spent_calls(self) -> bool:
        """Whether the call budget ended the run, in mid-step."""
        return self._worker is not None and self._worker.spent_calls
