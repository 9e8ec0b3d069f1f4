"""The state of AL-SPG for one replica, and the settings that its steps depend on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from zoviz.core.types import Array


class Setting(NamedTuple):
    """The settings of one step: the box, tolerances, the noise contract, the budget, and the solver's parameters.

    Attributes
    ----------
    lower, upper : Array, shape (n,)
    tolerance : Array, shape (m,)
        Largest h that counts as feasible.
    contract : str
    remaining : float
        Calls that the budget still covers; counted under independent noise alone.
    growth, window, memory, restarts, elsewhere
        Parameters of ``ALSPG``.
    quantum : callable
        ``Oracle.quantum``.
    """

    lower: Array
    upper: Array
    tolerance: Array
    contract: str
    remaining: float
    growth: float
    window: int
    memory: int
    restarts: bool
    elsewhere: float
    quantum: Callable[[Array, bool], Array]


class Course(NamedTuple):
    """The state of one replica of AL-SPG between two steps.

    Values are f and h_1 to h_m in one array; y and the penalty are in equilibrated units.

    Attributes
    ----------
    waiting : str
        The purpose of the queue: "repeats", "start", "sweep", "trial"; "nothing" once the course has ended.
    queue : Array, shape (q, n)
        Points to evaluate.
    answers : Array, shape (k, m + 1)
        Values at the first k of these points.
    x, value : Array, shapes (n,) and (m + 1,)
        The iterate and its values.
    repeats : float
        Calls that ``value`` is the mean of.
    y : Array, shape (m,)
    penalty : float
    weight : float
        1, or 0 while feasibility alone is sought.
    length, size : Array, shapes (n,) and (m + 1,)
        The ``Scales`` of variables and functions.
    unit : float
        The first length, in equilibrated units: the distance to what h asks for.
    points, values, slopes : Array, shapes (k, n), (k, m + 1) and (k, m + 1, n)
        The last iterates, this one last.
    move : Array, shape (n,)
        The direction of the line search, with its ``slope``, the ``fraction`` that is tried.
    reach : float
        Largest component of a step, in equilibrated units.
    tolerance, progress, inner, outer, used, central
        The state of the outer iteration: the decrement that counts as solved, the last complementarity, steps since the
        multipliers moved, times that they did, calls since the restart, and whether differences are central.
    noise : Array, shape (m + 1,)
    batch : int
    radius : Array, shape (n,)
        Lengths of the differences, under noise.
    best_x, best : Array, shapes (n,) and (m + 1,)
    start : Array, shape (n,)
    seed, restart : int
    probes : Array, shape (q, n)
        The points that were answered last.
    purpose : str
        Their purpose, as ``waiting`` has it.
    blind : bool
        Whether values are rounded so coarsely that they hardly changed over differences of the first run.
    """

    waiting: str
    queue: Array
    answers: Array
    x: Array
    value: Array
    repeats: float
    y: Array
    penalty: float
    weight: float
    length: Array
    size: Array
    unit: float
    points: Array
    values: Array
    slopes: Array
    move: Array
    slope: float
    fraction: float
    reach: float
    tolerance: float
    progress: float
    inner: int
    outer: int
    used: int
    central: bool
    noise: Array
    batch: int
    radius: Array
    best_x: Array
    best: Array
    start: Array
    seed: int
    restart: int
    probes: Array
    purpose: str
    blind: bool = False
