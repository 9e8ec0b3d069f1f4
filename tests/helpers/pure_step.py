"""A step is a function of its arguments, and leaves them alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zoviz.core.types import Array


def assert_pure_step(here: Any, there: Any, arrays: Callable[[Any], list[Array]]) -> None:
    """Two equal worlds, each a solver at work by hand; ``arrays`` gives all that a state is made of."""
    state = here.step(3)
    there.step(3)
    copies = [array.copy() for array in arrays(state)]
    assert copies, "a state without arrays"
    # A second solver with no past, at streams that have come equally far, takes the same step from the same state.
    fresh = here.solver.clone()
    expected, _ = here.solver.step(state, here.oracle, here.streams)
    result, _ = fresh.step(state, there.oracle, there.streams)
    for before, after in zip(copies, arrays(state), strict=True):
        np.testing.assert_array_equal(before, after)
    for one, other in zip(arrays(expected), arrays(result), strict=True):
        np.testing.assert_array_equal(one, other)
