"""Callbacks in the forms in which SciPy's methods take them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from zoviz.runs.engine.result import OptimizeResult

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def adapted(callback: Callable[..., Any]) -> Callable[[OptimizeResult], bool]:
    """Return a function that calls the user's callback with the result so far, and returns whether to stop.

    Parameters
    ----------
    callback : callable
        Of ``intermediate_result`` alone, of x and the result, as SciPy's trust-constr has it, or of x. It stops by
        returning True, or by raising ``StopIteration``.

    Raises
    ------
    ValueError
        For what is no function, or one that needs more arguments.
    """
    if not callable(callback):
        raise ValueError(f"Expected a function as callback, got {callback!r:.80}.")
    try:
        parameters = list(inspect.signature(callback).parameters.values())
    except (TypeError, ValueError):  # a builtin without a signature
        parameters = []
    needed = [one for one in parameters if one.default is one.empty and one.kind in _POSITIONAL]
    keywords = [one.name for one in parameters if one.default is one.empty and one.kind is one.KEYWORD_ONLY]
    wants_result = {one.name for one in parameters} == {"intermediate_result"}
    if len(needed) > 2 or (keywords and not wants_result):
        names = ", ".join([*(one.name for one in needed), *keywords])
        raise ValueError(
            f"Expected a callback of x, of x and the result so far, or of intermediate_result, got one that needs "
            f"{names}."
        )

    def call(so_far: OptimizeResult) -> bool:
        try:
            if wants_result:
                answer = callback(intermediate_result=so_far)
            else:
                answer = callback(*(so_far.x, so_far)[: max(len(needed), 1)])
        except StopIteration:
            return True
        # Other values are no answer: SciPy ignores what most callbacks return.
        return isinstance(answer, (bool, np.bool)) and bool(answer)

    return call
