"""Paper sogd, Lemma 3.1: a window over all rounds so far is a momentum.

The hypergradients of SOBOW's rounds are weighted by a window of w rounds with weights nu^i / W, and by the recursion
d_t = eta g_t + (1 - eta) d_{t-1}, eta = 1 - nu: with w = t and W = 1 / eta both are the same. Beside it stand windows
that end, and the W of the proof, which is the weights' sum and not 1 / eta.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import QuadraticBilevel
from zoviz.solvers import SOBOW
from zoviz.solvers.published_form import FAR
from zoviz.studies.experiment import (
    Claim,
    Experiment,
    Figures,
    Judgement,
    Measured,
    Table,
    array,
    mean_text,
    plain,
    yes_or_no,
)

WEIGHT = 0.1
"""eta."""
ROUNDING = 1e-10
"""Relative differences below which two directions are the same."""
FIRST_SEED = 8000
"""Of the instances and runs; nothing is chosen."""


class Window(NamedTuple):
    """The rounds of a window, 0 for all so far, and whether weights are divided by their sum, not by 1 / eta."""

    rounds: int
    own_sum: bool


ALL = "w = t, W = 1 / eta"
WINDOWS = {ALL: Window(0, False), "w = 5": Window(5, False), "w = 20": Window(20, False)}
SUM = "w = t, W the weights' sum"
WINDOWS[SUM] = Window(0, True)


def hypergradients(problem: QuadraticBilevel, rounds: int, replicas: int) -> Array:
    """Return the hypergradients (rounds, R, n) of SOBOW's rounds, oldest first."""
    streams = Streams(problem.seed, replicas)
    oracle = Oracle(problem, streams)
    solver = SOBOW(outer_step=0.1, inner_step=0.2, window=rounds, decay=1.0 - WEIGHT, system_radius=FAR)
    state = solver.init(problem.initial(streams), oracle, streams)
    for _ in range(rounds):
        oracle.resample()
        state, _ = solver.step(state, oracle, streams)
    return solver.history(state).transpose(1, 0, 2)[::-1]


def windowed(slopes: Array, window: Window) -> Array:
    """Return the directions (rounds, R, n) of a window over slopes (rounds, R, n)."""
    out = np.empty_like(slopes)
    for t in range(len(slopes)):
        first = max(0, t + 1 - window.rounds) if window.rounds else 0
        weights = (1.0 - WEIGHT) ** np.arange(t - first, -1, -1)
        whole = weights.sum() if window.own_sum else 1.0 / WEIGHT
        out[t] = np.einsum("w,wrn->rn", weights, slopes[first : t + 1]) / whole
    return out


def momentum(slopes: Array) -> Array:
    """Return the directions (rounds, R, n) of the recursion over slopes (rounds, R, n)."""
    out = WEIGHT * slopes
    for t in range(1, len(slopes)):
        out[t] += (1.0 - WEIGHT) * out[t - 1]
    return out


class WindowIsMomentum(Experiment):
    """Lemma 3.1: differences of windowed directions from those of the recursion."""

    title = "sogd Lemma 3.1"
    subject = "Largest relative difference of a windowed direction from the momentum's over rounds"
    printed = "With w = t and W = 1 / eta both are equal; a proof, no figures."
    protocol = (
        "Hypergradients of SOBOW on QuadraticBilevel, n = d = 10, drawn instances; eta = 0.1; the largest difference "
        "over rounds and replicas, over the momentum's norm."
    )
    sizes = {
        "quick": {"rounds": 40, "instances": 2, "replicas": 3},
        "full": {"rounds": 200, "instances": 10, "replicas": 5},
    }

    def parts(self) -> list[str]:
        """Return a part for every instance, whose hypergradients serve all windows."""
        return [f"instance {number}" for number in range(self.settings["instances"])]

    def measure(self, part: str) -> Figures:
        """Return the largest relative difference of every window in every round."""
        problem = QuadraticBilevel(seed=FIRST_SEED + int(part.removeprefix("instance ")), drift="rapid")
        slopes = hypergradients(problem, self.settings["rounds"], self.settings["replicas"])
        recursion = momentum(slopes)
        sizes = np.linalg.norm(recursion, axis=-1)
        return {
            name: plain((np.linalg.norm(windowed(slopes, window) - recursion, axis=-1) / sizes).max(axis=1))
            for name, window in WINDOWS.items()
        }

    def claims(self) -> list[Claim]:
        return [
            Claim(
                "Lemma 3.1", f"a window over all rounds is a momentum, and not with {name}", same_directions, ALL, name
            )
            for name in WINDOWS
            if name != ALL
        ]

    def tables(self, measured: Measured) -> list[Table]:
        """Return the largest difference of all rounds, and that of the last."""
        rows = []
        for name in WINDOWS:
            values = np.array([array(one[name]) for one in measured.values()])
            rows.append((name, f"{values.max():.2g}", mean_text(values[:, -1], 2)))
        return [Table("Relative differences over instances", ("Window", "Largest", "In the last round, mean"), rows)]


def same_directions(measured: Measured, window: str) -> Judgement:
    """Return the judgement that a window's directions are the momentum's in every round."""
    largest = max(array(one[window]).max() for one in measured.values())
    return Judgement(yes_or_no(bool(largest < ROUNDING)), f"largest relative difference {largest:.2g}")
