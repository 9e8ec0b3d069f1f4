"""What docstrings say of the shapes of arrays."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator
from typing import Any

LENGTH = r"(?:\.\.\.|\[?[^\s,()]{1,12}(?: ?[-+*/]? ?\w{1,7})?\]?|len\(\w+\))"
SHAPE = re.compile(
    rf"\({LENGTH}(?:\[?, ?{LENGTH})+,? ?\)|\({LENGTH}(?:\[?, ?\w\])?,\)|\(\.\.\.\)|\bshapes?\b|\bscalars?\b|0-d"
)
"""A tuple of lengths, (n,), (R, 1 + m) or (..., n), or a word on it."""


def takes_or_returns_arrays(function: types.FunctionType) -> bool:
    """Whether an annotation is of an array, by itself, optional or in a tuple; a trace's columns are no such thing."""
    texts = map(str, function.__annotations__.values())
    return any(re.fullmatch(r"(?:tuple\[)?(?:[\w.]+, )*Array(?:, .*)?\]?(?: \| None)?", text) for text in texts)


def says_a_shape(text: str | None) -> bool:
    return bool(text) and bool(SHAPE.search(text or ""))


def without_a_shape(name: str, thing: Any) -> Iterator[str]:
    """The function, or the public methods of the class, that have arrays and nowhere say of which shapes.

    A method may leave it to its class, and to the method that it overrides.
    """
    if isinstance(thing, types.FunctionType):
        if takes_or_returns_arrays(thing) and not says_a_shape(thing.__doc__):
            yield name
        return
    for key, method in vars(thing).items():
        if key.startswith("_") or not isinstance(method, types.FunctionType) or not takes_or_returns_arrays(method):
            continue
        texts = [inspect.getdoc(cls) for cls in thing.__mro__[:-1]]
        texts += [getattr(vars(cls).get(key), "__doc__", None) for cls in thing.__mro__]
        if not any(map(says_a_shape, texts)):
            yield f"{name}.{key}"
