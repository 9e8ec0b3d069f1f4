"""Values for the parameters that were left to the solver's own rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zoviz.core.types import Array

if TYPE_CHECKING:
    from zoviz.runs.worker import Worker


def resolve(worker: Worker, x0: Array) -> None:
    """Set every parameter of the worker's solver that is None, within its bounds, and note what was chosen."""
    solver = worker.solver
    suggestible = solver.suggestible()
    if not suggestible:
        return
    constants = solver.learn(worker.seen, worker.oracle, x0, worker.streams)
    if constants.measured:
        worker.notes.append(f"Steps chosen from constants {constants.source}.")
    chosen = solver.suggest(worker.seen, constants)
    for name in suggestible:
        holder, own = solver.owner(name)
        low, high = holder.param[own].bounds
        worker.resolved[name] = min(max(chosen[name], low), high)
        solver.set(name, worker.resolved[name])
