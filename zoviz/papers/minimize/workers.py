r"""A study of parallel calls: how much sooner many workers reach what one does, and how long they wait.

COCO's constrained functions as in ``minimize-coco``, evaluated by workers on a simulated clock: each has one point at a
time, and a call takes 1 in the mean. Durations are equal, or vary tenfold, or one worker dies every 60, with the call
that it makes. Levels are of

.. math:: \max\Big(\frac{f(x) - f^*}{f(x^0) - f^*}, \frac{\max_i h_i(x)}{\min_i |h_i(x^0)|}\Big)

at the point that would be returned, without noise 10^-2, 10^-4, 10^-6, under noise 10^-1, 10^-2, 10^-3. Noise is that
of ``minimize-coco``, and declared.

    zoviz reproduce minimize-workers --full --only noise=0.001 workers=1,8
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from zoviz.ask_tell.session import AskTell
from zoviz.core.types import Array
from zoviz.papers.minimize.simulated_workers import equal, simulated, tenfold
from zoviz.problems.coco.bbob_constrained import FUNCTIONS, BBOBConstrained
from zoviz.solvers.sqp.zosqp import ZOSQP
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, across

LEVELS = {False: (1e-2, 1e-4, 1e-6), True: (1e-1, 1e-2, 1e-3)}
"""Without noise, and under noise."""
LIFETIME = 60.0
"""An hour, where a call takes a minute."""


class Workers(Trials):
    """What many workers make of COCO's constrained functions, beside one."""

    title = "minimize workers"
    subject = (
        "How many times as fast as one worker the levels are reached, medians, and the share of time that they wait"
    )
    protocol = "A simulated clock; the point that would be returned, by values without noise."
    sizes: ClassVar = {
        "quick": {
            "dimension": (2,),
            "calls": (60,),
            "noise": (1e-3,),
            "durations": ("equal", "tenfold"),
            "function": (1,),
            "instance": (1,),
            "seed": (0,),
            "workers": (1, 4),
        },
        "full": {
            "dimension": (5, 10),
            "calls": (200,),
            "noise": (0.0, 1e-3),
            "durations": ("equal", "tenfold", "dying"),
            "function": tuple(FUNCTIONS)[::3],
            "instance": (3,),
            "seed": (0,),
            "workers": (1, 8, 32),
        },
    }
    lines = ("dimension", "calls", "noise", "durations")

    def trial(
        self,
        dimension: int,
        calls: int,
        noise: float,
        durations: str,
        function: int,
        instance: int,
        seed: int,
        workers: int,
    ) -> Figures:
        data = BBOBConstrained(function=function, dimension=dimension, instance=instance).data
        start, optimum = data.start, data.optimum.value
        f, h = data.value(start)
        sizes = np.array([f - optimum] + [np.abs(h).min()] * len(h))

        def values(number: int, x: Array) -> tuple[float, Array]:
            error = noise * sizes * np.random.default_rng([seed, number]).standard_normal(len(sizes))
            f, h = data.value(x)
            return f + error[0], h + error[1:]

        def loss(x: Array) -> float:
            f, h = data.value(x)
            return max((f - optimum) / sizes[0], h.max() / sizes[1])

        session = AskTell(
            solver=ZOSQP(parallel_calls=workers),
            bounds=[(-5.0, 5.0)] * dimension,
            x0=start,
            m=len(h),
            noise="independent" if noise else "deterministic",
            calls=calls * dimension,
            seed=seed,
        )
        seconds = equal if durations == "equal" else tenfold(seed)
        lifetime = LIFETIME if durations == "dying" else np.inf
        course = simulated(session, values, seconds, workers, lifetime, seed)
        losses = np.minimum.accumulate([loss(x) for x in course.points])
        reached = [np.flatnonzero(losses <= level) for level in LEVELS[bool(noise)]]
        times = [course.times[own[0]] if len(own) else np.inf for own in reached]
        return {"times": times, "seconds": course.seconds, "idle": course.idle, "lost": course.lost}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        alone = {_task(row): row for row in rows if row["workers"] == 1}

        def text(own: Sequence[Row]) -> str:
            pairs = [(alone[_task(row)]["times"], row["times"]) for row in own if _task(row) in alone]
            return f"{_gains(pairs)}; {np.mean([row['idle'] for row in own]):.0%} idle"

        return across(rows, "workers", text)


def _task(row: Row) -> tuple[int, ...]:
    return row["function"], row["instance"], row["seed"]


def _gains(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> str:
    """Return the medians of the ratios of two times, for each level, where one worker reaches it."""
    gains = []
    for one, many in zip(*(np.array(times).T for times in zip(*pairs, strict=True)), strict=True):
        known = np.isfinite(one)
        gains.append(f"{np.median(one[known] / many[known]):.1f}" if known.any() else "-")
    return " / ".join(gains)
