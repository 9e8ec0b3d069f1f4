"""The one private name of SciPy that zoviz uses; ``tests/core/test_scipy_internals.py`` tells when SciPy changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

VERSIONS = ">=1.16,<1.18"
"""Versions of SciPy for which this was checked."""


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
    try:
        from scipy._lib.cobyqa import minimize
    except ImportError:
        try:
            from cobyqa import minimize
        except ImportError:
            raise ImportError(
                "Expected COBYQA inside SciPy, got a SciPy that keeps it elsewhere: run python -m pip install cobyqa."
            ) from None
    return minimize
