"""Loops that ask for values, played with a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

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
            purpose, points, *_ = loop.send(context(spent))
            anew = loop.send(function(points))
        except StopIteration:
            return
        spent += len(points)
        yield Batch(purpose, points, copied(memory), anew is not None)


def played_until(
    calls: int,
    memory: Any,
    begin: Callable[[Any], Loop],
    function: Callable[[Array], Array],
    context: Callable[[int], Any],
    spent: int = 0,
) -> list[Batch]:
    """Return the batches of a loop until so many calls are made, or it ends."""
    made = []
    for batch in played(memory, begin(memory), function, context, spent):
        made.append(batch)
        spent += len(batch.points)
        if spent >= calls:
            break
    return made


def assert_iterations_can_be_begun_anew(
    made: list[Batch],
    begin: Callable[[Any], Loop],
    function: Callable[[Array], Array],
    context: Callable[[int], Any],
    spent: int = 0,
) -> None:
    """Begin a loop with every memory at which an iteration began: it asks for the same points."""
    begun = 0
    for i, batch in enumerate(made):
        spent += len(batch.points)
        if batch.anew and i + 1 < len(made):
            begun, after, memory = begun + 1, made[i + 1 : i + 5], copied(batch.memory)
            again = islice(played(memory, begin(memory), function, context, spent), len(after))
            for one, two in zip(after, again, strict=True):
                assert one.purpose == two.purpose
                np.testing.assert_array_equal(one.points, two.points)
    assert begun > 5
