"""The nonconvex load-tracking problem of paper zoeg, on a feeder with AC power flow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, Optimum
from zoviz.problems.base import Problem
from zoviz.problems.power.case141 import case141
from zoviz.problems.power.feeder import Feeder, PowerFlow


class _Data(NamedTuple):
    feeder: Feeder
    a: Array
    b: Array
    upper: Array
    domain: Box
    cache: dict[str, Any]


class ACLoadTracking(Problem):
    r"""The cheapest adjustment of a feeder's loads by which the power at its head tracks a target.

    .. math:: \min_{0 \le x \le u} 20\,(p_c(x) - D)^2 + 20 \sum_{j} \big(\max\{v_j(x) - \bar v, 0\}^2 +
              \max\{\underline v - v_j(x), 0\}^2\big) + \sum_i a_i x_i^2 + b_i x_i
              \quad\text{s.t.}\quad p_c(x) \le D

    on MATPOWER's radial case141: x_i in p.u. (of 10 MVA) is what bus i takes off its active load (the first 84
    variables) or its reactive load (the other 84); p_c is the active power at the feeder's head, losses included,
    and v_j the voltage at bus j, both from an AC power flow; a ~ U(0.5, 1.5), b ~ U(0, 5). The constraint is
    h(x) = p_c(x) - D in p.u. A point whose power flow has no solution has the value NaN.

    Notes
    -----
    What the paper leaves open, and how it is read here (errata 46):

    - x is in p.u.: only there do the paper's steps (3e-6), radii (1e-5) and the weight 20 fit one another.
    - u_i is the initial load ("initial load levels u_i", §5.1), so that an adjustment lies between 0 and the whole
      load. By default the loads are the case's own, 11.9 MW and 7.4 Mvar in all; ``loads="drawn"`` puts u ~ U(0, 50) kW
      and kvar in their place, "generated as in the convex setting", which leaves the voltages inside their band.
    - D = 0.15 p.u., 1500 kW, is the target itself, and stands in both the objective and the constraint.
    - The paper's "different initial points" are uniform in [0, u / 5], users near their initial loads, where both the
      target and (with the case's loads) the lower voltage limit are missed.
    - The margin delta by which the paper shrinks X is left out: power flows are defined around X too (errata 40).

    Optimum: without the tracking and voltage terms, which are never negative, the problem is to minimise sum_i a_i
    x_i^2 + b_i x_i under p_c(x) <= D, and p_c is convex where the second-order cone relaxation of the flow is exact.
    Where both terms vanish at its solution, that solves the full problem too; else no optimum is claimed.

    Raises
    ------
    MissingExtra
        When the data are first needed, without the packages of the extra ``grid``.

    References
    ----------
    Paper zoeg, §5.2. Gan, Li, Topcu and Low (2015), IEEE Transactions on Automatic Control 60(1), for exactness.
    """

    title = "Load tracking (AC power flow)"
    order = 2
    domain: Box
    costly = True

    seed = param.Integer(default=0, bounds=(0, 2**31), label="Instance seed", doc="Seed of a, b and drawn loads.")
    loads: param.Selector[str] = param.Selector(
        default="case",
        objects=["case", "drawn"],
        label="Initial loads u",
        doc="case: those of case141. drawn: uniform on 0 to 50 kW and kvar, as in the convex problem.",
    )
    target = param.Number(
        default=0.15,
        bounds=(1e-6, 10.0),
        softbounds=(0.05, 1.2),
        label="Target D in p.u.",
        doc="Active power at the feeder's head that the loads are to come down to; 0.15 p.u. are 1500 kW.",
    )
    penalty = param.Number(
        default=20.0, bounds=(0, 1e6), label="Penalty weight", doc="Weight of the tracking and voltage terms."
    )
    lowest = param.Number(default=0.96, bounds=(0, 1), label="Lowest voltage", doc="Lower end of the band, in p.u.")
    highest = param.Number(default=1.04, bounds=(1, 2), label="Highest voltage", doc="Upper end of the band, in p.u.")
    start_share = param.Number(
        default=0.2, bounds=(0, 1), label="Start share", doc="x0 is uniform between 0 and this share of u."
    )
    noise_scale = param.Number(
        default=1e-3, bounds=(0, 1e9), label="Noise scale σ", doc="Factor of the additive noise on f and h, in p.u."
    )

    m = 1

    def build(self) -> _Data:
        feeder, rng = case141(), np.random.default_rng(self.seed)
        n = 2 * len(feeder.load_buses)
        a, b = rng.uniform(0.5, 1.5, n), rng.uniform(0.0, 5.0, n)
        upper = np.concatenate([feeder.active, feeder.reactive])
        if self.loads == "drawn":
            upper = rng.uniform(0.0, 50e3, n) / feeder.base
        return _Data(feeder, a, b, upper, Box(np.zeros(n), upper), {})

    @property
    def n(self) -> int:
        """The number of variables, two for each bus with a load."""
        return self.domain.n

    @property
    def feeder(self) -> Feeder:
        """The feeder: buses, edges, depth, distance from the head; for pictures of it."""
        return self.data.feeder

    def flow(self, x: Array) -> PowerFlow:
        """Solve the power flow at points x (..., n)."""
        data = self.data
        p, q = np.split(data.upper - x, 2, axis=-1)
        return data.feeder.solve(p, q)

    def voltages(self, x: Array) -> Array:
        """Return the voltage magnitudes in p.u., x (..., n) to (..., buses), in the order of ``feeder.buses``."""
        return self.flow(x).voltage

    def initial(self, streams: Streams) -> Array:
        """Return starts uniform in [0, start_share u], (R, n)."""
        return self.start_share * self.domain.sample(streams.uniform("x0", self.n))

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Return the objective (...) and p_c(x) - D (..., 1) from one power flow; NaN where it fails."""
        return self._values(x, self.flow(x))

    def gradient(self, x: Array, xi: object = None) -> tuple[Array, Array]:
        """Return the exact gradients (..., n) and (..., 1, n), by the adjoint of the power flow."""
        return self._slopes(x, self.flow(x))

    def value_and_gradient(self, x: Array) -> tuple[Evaluation, tuple[Array, Array]]:
        """Return values and gradients at x (..., n) from one power flow."""
        flow = self.flow(x)
        return self._values(x, flow), self._slopes(x, flow)

    def _deviation(self, flow: PowerFlow) -> Array:
        """Return the signed distance of every voltage from its band, (..., buses)."""
        return flow.voltage - np.clip(flow.voltage, self.lowest, self.highest)

    def _values(self, x: Array, flow: PowerFlow) -> Evaluation:
        data, excess = self.data, flow.source - self.target
        deviation = np.square(excess) + np.square(self._deviation(flow)).sum(axis=-1)
        cost = np.einsum("...i,...i->...", x, data.a * x + data.b)
        return Evaluation(self.penalty * deviation + cost, excess[..., None])

    def _slopes(self, x: Array, flow: PowerFlow) -> tuple[Array, Array]:
        data, deviation = self.data, self._deviation(flow)
        weight = 2.0 * self.penalty
        of_source = np.stack([weight * (flow.source - self.target), np.ones_like(flow.source)])
        of_voltage = np.stack([weight * deviation, np.zeros_like(deviation)])
        of_f, of_h = -np.concatenate(data.feeder.adjoint(flow, of_source, of_voltage), axis=-1)
        return of_f + 2.0 * data.a * x + data.b, of_h[..., None, :]

    @property
    def constants(self) -> Constants:
        """Bounds on curvatures and slopes over the box, from the feeder at its full load; see ``_constants``."""
        cache = self.data.cache
        if "constants" not in cache:
            cache["constants"] = _constants(self)
        return cache["constants"]

    @property
    def known_optimum(self) -> Optimum | None:
        """The cheapest way to the target, where the voltages keep their band there; else None."""
        cache = self.data.cache
        if "optimum" not in cache:
            cache["optimum"] = _optimum(self)
        return cache["optimum"]


def _constants(problem: ACLoadTracking) -> Constants:
    """Compute curvatures and slopes at x = 0, the full load, where they are largest.

    Losses and voltage drops are convex in the loads and grow with them, and so do their derivatives: the gradient of
    p_c, its Hessian (one-sided differences of the exact gradient, towards more load), and the Hessian of the voltage
    term have their largest norms over the box at x = 0. Where p_c < D the tracking term bends down, by at most 2
    penalty D times p_c's curvature. ``start_slope`` is the mean over 16 random starts.
    """
    data, step = problem.data, 1e-5
    n, weight = len(data.upper), 2.0 * problem.penalty
    points = np.concatenate([np.zeros((1, n)), -step * np.eye(n)])
    of_f, of_h = problem._slopes(points, problem.flow(points))
    bends = [(slopes[0] - slopes[1:]) / step for slopes in (of_f, of_h[:, 0])]
    largest, curvature = (float(np.linalg.eigvalsh(0.5 * (bend + bend.T))[-1]) for bend in bends)
    slope = float(np.linalg.norm(of_h[0]))
    full = max(float(np.linalg.norm(of_f[0] - data.b)), weight * problem.target * slope)
    starts = problem.start_share * data.upper * np.random.default_rng(problem.seed).random((16, n))
    f_at_starts, at_starts = problem._slopes(starts, problem.flow(starts))
    weak = max(0.0, weight * problem.target * curvature - 2.0 * float(data.a.min()))
    return Constants(
        curvature=max(largest, weak),
        constraint_curvature=curvature,
        slope=full + float(np.linalg.norm(2.0 * data.a * data.upper + data.b)),
        constraint_slope=slope,
        start_slope=float(np.sqrt(np.square(at_starts).sum(axis=(1, 2)).mean())),
        weak_convexity=weak,
        objective_start_slope=float(np.sqrt(np.square(f_at_starts).sum(axis=1).mean())),
    )


def _optimum(problem: ACLoadTracking) -> Optimum | None:
    """Minimise the cost under p_c <= D by linearising p_c until nothing moves any more (5 to 30 times)."""
    data = problem.data
    x, y = 0.5 * data.upper, 0.0
    for _ in range(100):
        flow = problem.flow(x)
        previous, gain = x, -problem._slopes(x, flow)[1][0]
        x, y = _cheapest(data, gain, float(gain @ x + flow.source - problem.target))
        if np.abs(x - previous).max() <= 1e-13:
            break
    else:
        return None
    flow = problem.flow(x)
    if abs(flow.source - problem.target) > 1e-9 or problem._deviation(flow).any():
        return None
    return Optimum(float(problem._values(x, flow).f), x, np.array([y]), "optimum without the terms that vanish there")


def _cheapest(data: _Data, gain: Array, needed: float) -> tuple[Array, float]:
    """Return the point of least cost with gain @ x >= needed, and the multiplier, by bisection."""
    low, high = 0.0, float(np.max((2.0 * data.a * data.upper + data.b) / gain))
    for _ in range(200):
        y = 0.5 * (low + high)
        x = np.clip((y * gain - data.b) / (2.0 * data.a), 0.0, data.upper)
        low, high = (y, high) if gain @ x < needed else (low, y)
    return np.clip((high * gain - data.b) / (2.0 * data.a), 0.0, data.upper), high
