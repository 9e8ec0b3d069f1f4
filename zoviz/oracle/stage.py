"""A stage of a run: the part that one of several solvers serves on the run's own oracle."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array


class Stage:
    """The books of a stage, kept by ``Oracle.stage``.

    Parameters
    ----------
    limit : Array, shape (R,)
        Calls of the whole run, per replica, at which the stage is over.

    Attributes
    ----------
    answered : ndarray of int, shape (R,)
        Points that were answered so far, those from memory too.
    failed : ndarray of bool, shape (R,)
        Replicas for which ``Oracle.fail`` was called in the stage.
    """

    def __init__(self, limit: Array) -> None:
        self.limit = limit
        self.answered = np.zeros(len(limit), dtype=np.int64)
        self.failed = np.zeros(len(limit), dtype=bool)
