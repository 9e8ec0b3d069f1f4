"""The one private name of SciPy that zoviz uses; a test of the same name tells when SciPy changes it."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

VERSIONS = ">=1.16,<1.19"
"""Versions of SciPy for which this was checked."""

_PLACES = ("scipy._lib.cobyqa", "scipy._external.cobyqa", "cobyqa")
"""Where COBYQA is: inside SciPy 1.14 to 1.17, inside SciPy 1.18, and as a package of its own."""


def _place() -> str | None:
    """Return the first module there is."""
    for name in _PLACES:
        try:
            if importlib.util.find_spec(name) is not None:
                return name
        except ModuleNotFoundError:  # not even the package around it
            continue
    return None


def missing_cobyqa() -> str:
    """Return the sentence on a SciPy that keeps COBYQA elsewhere; empty where it is found."""
    if _place() is not None:
        return ""
    return "Expected COBYQA inside SciPy, got a SciPy that keeps it elsewhere: run python -m pip install cobyqa."


def cobyqa_minimize() -> Callable[..., Any]:
    """Return SciPy's COBYQA without its lock: ``minimize(fun, x0, args, bounds, constraints, callback, options)``.

    SciPy 1.14 to 1.17 hold ``scipy.optimize._cobyqa_py.COBYQA_LOCK`` for the whole of an optimisation. zoviz runs the
    replicas of COBYQA as coroutines in one thread: the second of them would wait for ever for the first. The public
    package cobyqa has the same function; it is used where SciPy keeps its copy elsewhere.

    Raises
    ------
    ImportError
        Where neither has the function; the sentence names the package to install.
    """
    place = _place()
    if place is None:
        raise ImportError(missing_cobyqa())
    minimize: Callable[..., Any] = importlib.import_module(place).minimize
    return minimize
