"""The journal of a run: what a person changed, exactly enough to repeat it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple


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
