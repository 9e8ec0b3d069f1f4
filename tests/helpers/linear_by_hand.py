"""The methods for linear constraints written out by hand, in dense linear algebra on one replica at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.steps import course
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems import StochasticQP
from zoviz.solvers import Solver

REPLICAS, SEED, STEPS = 3, 5, 9
TAU, ETA, RHO, MU, BETA, A = 0.03, 0.2, 1.5, 7.0, 0.1, 0.3
SMOOTH = {"primal_step": TAU, "dual_step": ETA, "penalty": RHO, "proximal_weight": MU, "proximal_step": BETA}


def problem(**settings: Any) -> StochasticQP:
    settings = {"n": 7, "rows": 2, "null_curvature": -0.2, "curvature_noise": 0.3, "seed": 3} | settings
    return StochasticQP(**settings)


class Hand:
    """One replica's dense data and draws."""

    def __init__(self, qp: StochasticQP, replica: int, batches: list[int]) -> None:
        data, n, p = qp.data, qp.n, qp.rows
        mirror = np.eye(n) - 2.0 * np.outer(data.mirror, data.mirror)
        self.q, self.c, self.a, self.b = mirror @ np.diag(data.spectrum) @ mirror, data.vector, data.matrix, data.offset
        self.low, self.high, self.qp, self.n = qp.domain.lower, qp.domain.upper, qp, n
        streams = Streams(SEED, REPLICAS)
        self.x0 = qp.initial(streams)[replica]
        # One draw a sample, in the order of the iterations; the oracle's own first one is not used.
        numbers = [streams.normal("xi", n + 1)[replica] for _ in range(len(batches) + 1)][1:]
        factors = [batch**-0.5 for batch in batches]
        self.xi = [f * qp.gradient_noise / np.sqrt(n) * z[:n] for f, z in zip(factors, numbers, strict=True)]
        self.zeta = [f * qp.curvature_noise * z[n] for f, z in zip(factors, numbers, strict=True)]
        self.rows: list[Array] = []
        if qp.sampled_rows:
            self.rows = [streams.normal("zeta", 3, p, n + 1)[replica] * b**-0.5 for b in [1, *batches]][1:]
        self.lot = streams
        self.replica = replica

    def gradient(self, x: Array, t: int) -> Array:
        return self.q @ x + self.c + self.xi[t] + self.zeta[t] * x

    def value(self, x: Array, t: int) -> float:
        return float(0.5 * x @ self.q @ x + self.c @ x + self.xi[t] @ x + 0.5 * self.zeta[t] * x @ x)

    def pair(self, t: int, copy: int) -> tuple[Array, Array]:
        """A_zeta and b_zeta."""
        if not self.rows:
            return self.a, self.b
        noise = self.qp.row_noise * self.rows[t][copy]
        return self.a + noise[:, :-1] / np.sqrt(self.n), self.b + noise[:, -1]

    def clip(self, x: Array) -> Array:
        return np.minimum(np.maximum(x, self.low), self.high)


def smoothed(hand: Hand, wrong: str = "", cap: float = np.inf) -> tuple[Array, Array, Array, int]:
    """Algorithms 1 and 2; ``wrong`` names an erratum whose misprint is followed."""
    x, y, z, resets = hand.x0, np.zeros(len(hand.b)), hand.x0, 0
    rho, mu = (0.0, 0.0) if wrong == "errata 8" else (RHO, MU)
    for t in range(STEPS):
        (a0, b0), (a1, b1), (a2, b2) = (hand.pair(t, 0 if wrong == "errata 9" else copy) for copy in range(3))
        if wrong == "errata 7: primal first":  # primal, then dual
            slope = hand.gradient(x, t) + a1.T @ y + rho * a1.T @ (a2 @ x - b2) + mu * (x - z)
            old, x = x, hand.clip(x - TAU * slope)
            y = y + ETA * (a0 @ x - b0)
            z = z + BETA * (old - z)
            continue
        y = y + ETA * (a0 @ x - b0)
        if np.linalg.norm(y) >= cap:
            y, resets = np.zeros_like(y), resets + 1
        slope = hand.gradient(x, t) + a1.T @ y + rho * a1.T @ (a2 @ x - b2) + mu * (x - z)
        old, x = x, hand.clip(x - TAU * slope)
        z = z + BETA * ((x if wrong == "errata 7: centre" else old) - z)
    return x, y, z, resets


def storm(hand: Hand, wrong: str = "") -> tuple[Array, Array, Array, Array]:
    """Algorithm 3; the first sample is the big one at the start."""
    x, y, z, g = hand.x0, np.zeros(len(hand.b)), hand.x0, hand.gradient(hand.x0, 0)
    for t in range(STEPS):
        old_y, y = y, y + ETA * (hand.a @ x - hand.b)
        dual = old_y if wrong == "errata 10" else y
        rho = 0.0 if wrong == "errata 10" else RHO
        slope = g + hand.a.T @ dual + rho * hand.a.T @ (hand.a @ x - hand.b) + MU * (x - z)
        old, x = x, hand.clip(x - TAU * slope)
        z = z + BETA * (old - z)
        g = hand.gradient(x, t + 1) + (1.0 - A) * (g - hand.gradient(old, t if wrong == "errata 11" else t + 1))
    return x, y, z, g


def storm_sampled(hand: Hand, cap: float = np.inf) -> tuple[Array, Array, Array, int]:
    """Remark 5.8: every estimate by the recursion; the first sample is the big one."""
    x, y, z, resets = hand.x0, np.zeros(len(hand.b)), hand.x0, 0
    g, r, q, last = np.zeros_like(x), np.zeros_like(y), np.zeros_like(x), x
    for t in range(STEPS):
        (a0, b0), (a1, _), (a2, b2) = (hand.pair(t, copy) for copy in range(3))
        keep = 0.0 if t == 0 else 1.0 - A
        g = hand.gradient(x, t) + keep * (g - hand.gradient(last, t))
        r = a0 @ x - b0 + keep * (r - (a0 @ last - b0))
        old, y = y, y + ETA * r
        if np.linalg.norm(y) >= cap:
            y, resets = np.zeros_like(y), resets + 1
        q = a1.T @ (y + RHO * (a2 @ x - b2)) + keep * (q - a1.T @ (old + RHO * (a2 @ last - b2)))
        last, x = x, hand.clip(x - TAU * (g + q + MU * (x - z)))
        z = z + BETA * (last - z)
    return x, y, z, resets


def hand_over(solver: Solver, qp: StochasticQP, steps: int = STEPS) -> Any:
    return course(solver, qp, steps, REPLICAS, SEED)[0][-1]


def assert_close(actual: Array, expected: Any) -> None:
    np.testing.assert_allclose(actual, np.stack(expected), rtol=0.0, atol=1e-12)


def apart(actual: Array, other: Any) -> float:
    return float(np.abs(actual - np.stack(other)).max(axis=1).min())
