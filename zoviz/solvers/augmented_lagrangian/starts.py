"""The start of the next run of a replica, once a run has come to its end."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.augmented_lagrangian.course_state import Course, Setting
from zoviz.solvers.restart_rules import FAR, NEAR, in_box, moved, unit_lengths


def next_start(course: Course, setting: Setting, at_best: bool) -> Array:
    """Return the start (n,) of the next run: the best point, once, then points near it and elsewhere in turn.

    A replica's numbers follow from its seed and the number of the restart alone.
    """
    if at_best or course.restart == 0:  # once more by central differences, which see what is left to gain
        return course.best_x
    rng = np.random.default_rng([course.seed, course.restart])
    share, power, normal = rng.uniform(), rng.uniform(), rng.standard_normal(len(course.x))
    unit = unit_lengths(setting.lower, setting.upper, course.start)
    if share >= setting.elsewhere:
        step = unit * 10.0 ** (NEAR[0] + power * (NEAR[1] - NEAR[0])) * normal
        return moved(setting.lower, setting.upper, course.best_x, step)
    step = unit * 10.0 ** (FAR[0] + power * (FAR[1] - FAR[0])) * normal
    x = moved(setting.lower, setting.upper, course.start, step)
    return in_box(setting.lower, setting.upper, unit, rng.uniform(size=len(x)), x) if course.restart % 2 else x
