"""The steering of a run: an inbox for requests of any thread, a watch over the public parameters, and a journal."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import param

from zoviz.runs.engine.stopping import RunStatus
from zoviz.solvers.base import Solver


class Change(NamedTuple):
    """A change of a parameter between two steps.

    Attributes
    ----------
    iteration : int
        Steps taken before the change.
    calls : int
        Oracle calls per replica before the change.
    seconds : float
        Computing time before the change.
    name : str
        Dotted name, e.g. ``primal_step`` or ``estimator.batch_size``.
    old, new : object
    """

    iteration: int
    calls: int
    seconds: float
    name: str
    old: Any
    new: Any


class Journal(Sequence[Change]):
    """The changes of a run in order; the worker appends, any thread reads."""

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        self._changes: list[Change] = [Change(*change) for change in changes]

    def append(self, change: Change) -> None:
        """Add a change at the end."""
        self._changes.append(change)

    def __getitem__(self, index: Any) -> Any:
        return self._changes[index]

    def __len__(self) -> int:
        return len(self._changes)

    def __iter__(self) -> Iterator[Change]:
        return iter(tuple(self._changes))

    def until(self, iteration: int) -> Journal:
        """Return the changes before or at ``iteration``."""
        return Journal(change for change in self if change.iteration <= iteration)


class Inbox:
    """A queue of requests posted by any thread and taken by the worker between two steps.

    Attributes
    ----------
    waiting : bool
        True while there is something to take: one attribute read per step is all that an idle inbox costs.
    paused, stopping, interrupted : bool
        What the last commands ask for; ``interrupted`` says that who stops means to go on later.
    """

    def __init__(self) -> None:
        # Any thread posts, the worker takes: both hold the condition. Only ``waiting`` is read without it, once a step;
        # a post that the worker misses there is taken one step later.
        self._condition = threading.Condition()
        self._changes: list[tuple[str, Any]] = []  # posted
        self._applying: list[tuple[str, Any]] = []  # taken, and not all made yet
        self._steps = 0
        self.waiting = False
        self.paused = False
        self.stopping = False
        self.interrupted = False

    def post(self, name: str, value: Any) -> None:
        """Request a parameter's new value."""
        with self._condition:
            self._changes.append((name, value))
            self._wake()

    def command(self, name: str, steps: int = 1) -> None:
        """Request "pause", "unpause", "step" (``steps`` of them, then pause), "stop" or "interrupt"."""
        with self._condition:
            self.paused = {"pause": True, "step": True, "unpause": False}.get(name, self.paused)
            self._steps = self._steps + steps if name == "step" else 0
            self.interrupted = self.interrupted or (name == "interrupt" and not self.stopping)
            self.stopping = self.stopping or name in ("stop", "interrupt")
            self._wake()

    @property
    def awaited(self) -> dict[str, Any]:
        """The values that were requested and may not have been made yet, by name."""
        with self._condition:
            return dict(self._applying + self._changes)

    @property
    def urgent(self) -> bool:
        """Whether there is more to attend to than steps that were granted: a change, a pause, or the end."""
        with self._condition:
            return bool(self._changes) or self.stopping or (self.paused and not self._steps)

    def _wake(self) -> None:
        self.waiting = True
        self._condition.notify_all()

    def take(self) -> list[tuple[str, Any]]:
        """Return the changes requested so far, oldest first; called by the worker while ``waiting``."""
        with self._condition:
            self._applying, self._changes = self._changes, []
            self.waiting = self.paused or self.stopping
            return self._applying

    def may_step(self) -> bool:
        """Return whether the worker may take a step now, without waiting; uses up one granted step while paused."""
        with self._condition:
            self._applying = []
            if self.stopping:
                return False
            if self.paused and self._steps:
                self._steps -= 1
                return True
            return not self.paused

    def wait(self) -> None:
        """Wait until something is posted."""
        with self._condition:
            if not self._changes and self.paused and not self._steps and not self.stopping:
                self._condition.wait()


class Steerable(Protocol):
    """A protocol: the members of a worker that steering needs."""

    inbox: Inbox
    resolved: dict[str, Any]
    status: RunStatus


class Steering:
    """The way from the public solver to the worker: its live parameters can be asked for, all else is fixed.

    Values go one way, into the inbox. What the worker has made of them is in the journal, which readers look at.

    Parameters
    ----------
    solver : Solver
        The public one; setting one of its live parameters posts the value to the worker.
    fixed : tuple of Parameterized
        The problem and the run: none of their parameters may change.
    worker : Steerable
    """

    def __init__(self, solver: Solver, fixed: tuple[param.Parameterized, ...], worker: Steerable) -> None:
        # Weak: the public solver outlives its runs and must not keep their traces alive.
        self._live, self._worker = solver.live, weakref.ref(worker)
        self._watched: list[tuple[param.Parameterized, Any]] = []
        for prefix, target in [*solver.parts().items(), *[(f"{type(one).__name__}.", one) for one in fixed]]:
            names = [name for name in target.param if name not in ("name", "label")]

            def react(event: param.parameterized.Event, prefix: str = prefix) -> None:
                self._on_change(prefix, event)

            self._watched.append((target, target.param.watch(react, names)))

    def release(self) -> None:
        """Stop watching the public objects."""
        for target, watcher in self._watched:
            target.param.unwatch(watcher)
        self._watched.clear()

    def request(self, name: str, value: Any) -> None:
        """Ask the worker for a value of a (dotted) parameter, which that takes between two steps.

        Raises
        ------
        ValueError
            For a parameter that is not live, and for None where no rule chose.
        """
        worker = self._worker()
        if worker is None or not worker.status.active:
            return
        if name not in self._live:
            others = f", or change one of {', '.join(self._live)}" if self._live else ""
            raise ValueError(
                f"{name} is structural: it is fixed while the run is {worker.status}. Stop the run first{others}."
            )
        if value is None and name not in worker.resolved:
            raise ValueError(
                f"Expected a value for {name}, got None: this run began with one, so no rule chose another."
            )
        worker.inbox.post(name, value)

    def _on_change(self, prefix: str, event: param.parameterized.Event) -> None:
        try:
            self.request(f"{prefix}{event.name}", event.new)
        except ValueError:
            with param.discard_events(event.obj):
                setattr(event.obj, event.name, event.old)
            raise
