"""The bridge from public parameters to a run's worker: live ones are posted, structural ones refused."""

from __future__ import annotations

import weakref
from typing import Any

import param

from zoviz.runs.engine.worker import Worker
from zoviz.solvers.base import Solver


class Steering:
    """Watches the public solver, the parts nested in it, and the objects that are fixed while the run goes on.

    Parameters
    ----------
    solver : Solver
        The public one; setting one of its live parameters posts the value to the worker.
    fixed : tuple of Parameterized
        The problem and the run: none of their parameters may change.
    worker : Worker
    """

    def __init__(self, solver: Solver, fixed: tuple[param.Parameterized, ...], worker: Worker) -> None:
        # Weak: the public solver outlives its runs and must not keep their traces alive.
        self._solver, self._worker = solver, weakref.ref(worker)
        self._watched: list[tuple[param.Parameterized, Any]] = []
        self._followed, self._following = 0, False
        for prefix, target in [*solver.parts().items(), *[(f"{type(one).__name__}.", one) for one in fixed]]:
            names = [name for name in target.param if name not in ("name", "label")]

            def react(event: param.parameterized.Event, prefix: str = prefix) -> None:
                self._on_change(prefix, event)

            self._watched.append((target, target.param.watch(react, names)))

    def release(self) -> None:
        """Stop watching."""
        for target, watcher in self._watched:
            target.param.unwatch(watcher)
        self._watched.clear()

    def follow(self) -> None:
        """Show on the public solver what the journal has got by other hands: a script's, or before a resumption."""
        worker = self._worker()
        # While something is on its way from here to the worker, the journal is behind the public solver.
        if worker is None or len(worker.journal) == self._followed or not worker.inbox.settled:
            return
        changes = worker.journal[self._followed :]
        self._followed += len(changes)
        self._following = True
        try:
            for name, value in {change.name: change.new for change in changes}.items():
                shown = self._solver.get(name)
                if value != (worker.resolved.get(name) if shown is None else shown):
                    self._solver.set(name, value)
        finally:
            self._following = False

    def _on_change(self, prefix: str, event: param.parameterized.Event) -> None:
        worker = self._worker()
        if self._following or worker is None or not worker.status.active:
            return
        name = f"{prefix}{event.name}"
        chosen = event.new is not None or name in worker.resolved
        if name in self._solver.live and chosen:
            worker.inbox.post(name, event.new)
            return
        with param.discard_events(event.obj):
            setattr(event.obj, event.name, event.old)
        if not chosen:
            raise ValueError(
                f"Expected a value for {name}, got None: this run began with one, so no rule chose another."
            )
        others = f", or change one of {', '.join(self._solver.live)}" if self._solver.live else ""
        raise ValueError(
            f"{name} is structural: it is fixed while the run is {worker.status}. Stop the run first{others}."
        )
