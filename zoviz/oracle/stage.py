"""A stage of a run: the part that one of several solvers serves on the run's own oracle."""

from __future__ import annotations

import numpy as np


class Stage:
    """The books of a stage, kept by ``Oracle.stage``.

    Parameters
    ----------
    replicas : int

    Attributes
    ----------
    answered : ndarray of int, shape (R,)
        Points that were answered so far, those from memory too.
    failed : ndarray of bool, shape (R,)
        Replicas for which ``Oracle.fail`` was called in the stage.
    """

    def __init__(self, replicas: int) -> None:
        self.answered = np.zeros(replicas, dtype=np.int64)
        self.failed = np.zeros(replicas, dtype=bool)
