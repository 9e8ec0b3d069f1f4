"""A run: a solver on a problem, in this thread or a worker's, steerable, replayable."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import param

from zoviz.core import defaults
from zoviz.core.errors import ZovizError
from zoviz.core.parameters import Interval, Part
from zoviz.core.streams import Streams
from zoviz.problems.base import Problem
from zoviz.runs import recording, repeat
from zoviz.runs.engine import stopping as _targets
from zoviz.runs.engine.checkpoint import Kept
from zoviz.runs.engine.journal import Change, Journal
from zoviz.runs.engine.result import Result
from zoviz.runs.engine.run_view import Readout
from zoviz.runs.engine.steering import Steering
from zoviz.runs.engine.stopping import Limits, RunStatus
from zoviz.runs.engine.worker import Worker
from zoviz.solvers.base import Solver

if TYPE_CHECKING:
    from zoviz.runs.storage.stored_run import Stored


class Run(Readout):
    """A solver applied to a problem by R replicas in lock-step.

    The worker owns private twins of ``problem`` and ``solver``. While the run is going on, setting a live parameter of
    the public ``solver`` (or of its estimator) reaches the twin between two steps and is written to ``journal``; a
    structural parameter cannot be set. Times count computing only: neither pauses nor measures off the books.

    With a ``store`` (a ``Store`` or its URL) everything is kept there while it happens, under ``id``. Trouble with
    it never ends a run: ``message`` tells.

    Attributes
    ----------
    id : str
        32 hexadecimal digits, the run's own for ever.
    script : Journal
        Changes that it was told to make by itself.
    initial : tuple of Problem and Solver, or None
        Both as they were when it started.
    kept : Kept or None
        What a store has of the run that this one goes on with.

    Raises
    ------
    ValueError
        If the solver does not accept the problem, or a target is unknown.

    Examples
    --------
    >>> from zoviz import Run
    >>> from zoviz.problems import LoadTracking
    >>> from zoviz.solvers import ZOCEG
    >>> run = Run(problem=LoadTracking(), solver=ZOCEG(), replicas=4, iterations=50)
    >>> run.run().status
    'finished'
    """

    problem = Part(Problem, label="Problem", doc="What is minimised.")
    solver = Part(Solver, label="Solver", doc="The method.")
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
    feasibility_tolerance = param.Number(
        default=defaults.FEASIBILITY_TOLERANCE,
        bounds=(0, None),
        label="Feasibility tolerance",
        doc="Largest h that counts as feasible.",
    )
    label = param.String(default="", label="Label", doc="Name for people.")
    store = param.Parameter(
        default=None, precedence=-1, label="Store", doc="Store or URL where the run is kept; or None."
    )
    checkpoint = Interval(
        defaults.CHECKPOINT_SECONDS,
        words=(recording.EVERY_CALL,),
        precedence=-1,
        label="Checkpoint every",
        doc='Seconds between two checkpoints in the store, or "every call": none that was paid for is ever lost.',
    )
    study = param.String(default="", precedence=-1, label="Study", doc="Name of the study that the run belongs to.")
    parent = param.String(default="", precedence=-1, label="Parent", doc="Id of the run that this one repeats.")

    def __init__(self, *, script: Journal | tuple[Change, ...] = (), **params: Any) -> None:
        super().__init__(**params)
        if self.problem is None or self.solver is None:
            raise ValueError("Expected a problem and a solver, got None: Run(problem=..., solver=...).")
        self.id, self.script = uuid.uuid4().hex, Journal(script)
        self.kept: Kept | None = None
        self._thread: threading.Thread | None = None
        self._steering: Steering | None = None
        self.initial: tuple[Problem, Solver] | None = None

    def start(self, steps: int | None = None) -> Run:
        """Begin in a worker thread; refused while or after this run has run (fork or make another).

        Parameters
        ----------
        steps : int, optional
            Take so many steps, then pause.
        """
        worker = self._prepare()
        if steps is not None:
            self._command("step", steps)
        self._thread = threading.Thread(target=worker.work, name="zoviz-run", daemon=True)
        self._thread.start()
        return self

    def run(self, observer: Callable[[], object] | None = None) -> Result:
        """Run in this thread, to the end of a budget.

        Parameters
        ----------
        observer : callable, optional
            Called after every iteration, without arguments; it may look at the run and may ``stop`` it.

        Raises
        ------
        ValueError
            Without any budget.
        Exception
            What the black box raised.
        """
        ends_by_itself = self.stop_at_targets and self.targets
        if self.iterations is None and self.calls is None and self.seconds is None and not ends_by_itself:
            raise ValueError("Expected a budget, got none: give iterations, calls or seconds, or use start().")
        worker = self._prepare()
        worker.observer = observer
        worker.work()
        return self.wait()

    def pause(self) -> None:
        """Hold after the step in progress."""
        self._command("pause")

    def resume(self) -> None:
        """Go on."""
        self._command("resume")

    def step(self, count: int = 1) -> None:
        """Take ``count`` steps, then pause."""
        self._command("step", count)

    def stop(self) -> None:
        """End after the step in progress; what was computed stays."""
        self._command("stop")

    def wait(self, timeout: float | None = None) -> Result:
        """Wait for the end and return the result.

        Raises
        ------
        TimeoutError
            If the run is still going on after ``timeout`` seconds.
        Exception
            What the black box raised, with the trace kept.
        """
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                raise TimeoutError(f"The run is still {self.status} after {timeout:g} s.")
        self.release()
        if self._worker is not None and self._worker.error is not None:
            raise self._worker.error
        return self.result

    def release(self) -> None:
        """Stop watching the public objects; ``wait`` does it, and who polls a run does it once it has ended."""
        if self._steering is not None:
            self._steering.release()

    def follow(self) -> None:
        """Have the public solver show what a script has changed, or the run before it was resumed."""
        if self._steering is not None:
            self._steering.follow()

    def change(self, name: str, value: Any) -> None:
        """Steer: set a live parameter of the public solver, dotted names allowed."""
        self.solver.set(name, value)

    def fork(self, at: int | None = None, changes: Mapping[str, Any] | None = None, **settings: Any) -> Run:
        """A new run that repeats this one up to iteration ``at``, then goes on with ``changes`` and the same numbers.

        Parameters
        ----------
        at : int, optional
            Default: the present iteration.
        changes : mapping, optional
            Live parameters to set at ``at``.
        settings
            Parameters of the new ``Run``, e.g. budgets.
        """
        return Run(**repeat.forked(self, at, changes, {"parent": self.id} | settings))

    @classmethod
    def replay(cls, run: Run | Stored) -> Run:
        """A new run that repeats ``run`` bit for bit, its steering included, and ends where it ended."""
        return cls(**repeat.replayed(run) | {"parent": run.id})

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters but problem and solver, for who makes another run like this one."""
        own = ("name", "problem", "solver", "study")
        return {name: value for name, value in self.param.values().items() if name not in own}

    def _prepare(self) -> Worker:
        if self._worker is not None:
            raise ZovizError(f"Expected a run that has not started, got one that is {self.status}: make a new Run.")
        reason = self.solver.accepts(self.problem)
        if reason is not None:
            raise ValueError(reason)
        self.initial = self.problem.clone(), self.solver.clone()
        self._worker = Worker(
            self.problem.clone(),
            self.solver.clone(),
            Streams(self.seed, self.replicas),
            Limits(self.iterations, self.calls, self.seconds),
            _targets.build(self.targets, self.replicas),
            self.stop_at_targets,
            self.feasibility_tolerance,
            self.script,
        )
        self._worker.status = RunStatus.RUNNING
        recording.begin(self, self._worker)
        self._steering = Steering(self.solver, (self.problem, self), self._worker)
        return self._worker

    def _command(self, name: str, steps: int = 1) -> None:
        if self._worker is not None and self.active:
            self._worker.inbox.command(name, steps)
