"""Where to begin again once a run has come to its end."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.augmented_lagrangian.course_state import Course, Setting

_NEAR, _FAR = (-2.5, 0.3), (-1.5, 1.0)
"""Powers of ten, in units of the variables, between which the distance of a start from the best point or from the first
start is drawn (as ZOSQP's)."""
_WIDE = 1e3
"""A box that is wider than so many units is not sampled."""


def next_start(course: Course, setting: Setting, at_best: bool) -> Array:
    """Return the start (n,) of the next run: the best point, once, then points near it and elsewhere in turn.

    A replica's numbers follow from its seed and the number of the restart alone.
    """
    if at_best or course.restart == 0:  # once more by central differences, which see what is left to gain
        return course.best_x
    rng = np.random.default_rng([course.seed, course.restart])
    share, power, normal = rng.uniform(), rng.uniform(), rng.standard_normal(len(course.x))
    unit = np.maximum(1.0, np.abs(course.start))
    width = setting.upper - setting.lower
    unit = np.where(np.isfinite(width), np.minimum(unit, 0.5 * width), unit)
    if share >= setting.elsewhere:
        x = course.best_x + unit * 10.0 ** (_NEAR[0] + power * (_NEAR[1] - _NEAR[0])) * normal
    else:
        x = course.start + unit * 10.0 ** (_FAR[0] + power * (_FAR[1] - _FAR[0])) * normal
        sampled = np.isfinite(width) & (width < _WIDE * unit)
        if course.restart % 2:
            x = np.where(sampled, setting.lower + rng.uniform(size=len(x)) * np.where(sampled, width, 0.0), x)
    return np.minimum(np.maximum(x, setting.lower), setting.upper)
