"""Loops that ask for values, played with a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from zoviz.core.types import Array
from zoviz.solvers.batches import Loop, copied


class Batch(NamedTuple):
    """A batch that a loop asked for, with the memory after it, and whether an iteration begins there."""

    purpose: str
    points: Array
    memory: Any
    anew: bool


def played(
    memory: Any, loop: Loop, function: Callable[[Array], Array], context: Callable[[int], Any], spent: int = 0
) -> Iterator[Batch]:
    """Yield the batches of a loop that is given the values of a function, until it ends.

    Parameters
    ----------
    memory : dataclass
        The loop's.
    loop : generator
    function : callable
    context : callable
        Calls so far to what the next step is given.
    spent : int
        Calls before the first.
    """
    next(loop)
    while True:
        try:
            purpose, points = loop.send(context(spent))
            anew = loop.send(function(points))
        except StopIteration:
            return
        spent += len(points)
        yield Batch(purpose, points, copied(memory), anew is not None)
