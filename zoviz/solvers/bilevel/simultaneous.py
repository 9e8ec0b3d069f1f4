"""The base of simultaneous online gradient descent, which SOGD and its zeroth-order forms share."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.streams import RandomSource, Streams
from zoviz.core.types import Array, Iterate
from zoviz.oracle import BilevelOracle, Oracle
from zoviz.problems.bilevel import BilevelConstants
from zoviz.solvers.bilevel.base import FIRST_WEIGHT, HypergradientSolver, RepeatedNumbers, Triple, recursive
from zoviz.solvers.published_form import Departure
from zoviz.solvers.theory import Info


class SimultaneousState(NamedTuple):
    """Leader x, follower inner, system v; the point played before; the last directions; what the method remembers."""

    x: Array
    inner: Array
    v: Array
    last: Triple
    directions: Triple
    moments: Any
    round: int


class Simultaneous(HypergradientSolver):
    """A method of one recursive direction and one step for each of y, v and x in every round."""

    __abstract = True

    departures: ClassVar[tuple[Departure, ...]] = (Departure("project_inner", False, "a projection of y on Y"),)
    printed: ClassVar[dict[str, Any]] = {"schedule": "theory"}

    live: ClassVar[tuple[str, ...]] = (
        "inner_step",
        "system_step",
        "outer_step",
        "inner_weight",
        "system_weight",
        "outer_weight",
        "schedule",
        "offset",
        "inner_factor",
        "system_factor",
        "outer_factor",
        "system_radius",
        "project_inner",
        "outer_batch",
        "inner_batch",
    )
    weight_power: ClassVar[float] = 2.0
    """Power p of theory's weights, factor alpha_t^p."""

    system_step = Scale(None, softbounds=(1e-4, 1.0), label="System step δ", doc="Step of the system's solution v.")
    inner_weight = param.Number(
        default=0.99,
        bounds=(0, 1),
        label="Inner weight γ",
        doc="Weight of the newest raw direction of y (practice schedule); 1: no recursion.",
    )
    system_weight = param.Number(
        default=0.99,
        bounds=(0, 1),
        label="System weight λ",
        doc="Weight of the newest raw direction of v (practice schedule); 1: no recursion.",
    )
    outer_weight = param.Number(
        default=0.99,
        bounds=(0, 1),
        label="Outer weight η",
        doc="Weight of the newest raw direction of x (practice schedule); 1: no recursion.",
    )
    schedule: param.Selector[str] = param.Selector(
        default="practice",
        objects=["practice", "theory"],
        label="Schedule",
        doc="practice: constant steps and weights. theory: steps fall as (c + t)^(-1/3), and weights with them.",
    )
    offset = Scale(
        None, bounds=(1e-12, 1e15), softbounds=(1.0, 1e6), label="Offset c", doc="Offset of t in theory's schedule."
    )
    inner_factor = Scale(None, softbounds=(1e-2, 1e4), label="Inner factor c_γ", doc="Factor of theory's weight γ.")
    system_factor = Scale(None, softbounds=(1e-2, 1e4), label="System factor c_λ", doc="Factor of theory's weight λ.")
    outer_factor = Scale(None, softbounds=(1e-2, 1e4), label="Outer factor c_η", doc="Factor of theory's weight η.")
    project_inner = param.Boolean(default=True, label="Project y", doc="Whether y is projected on Y after each step.")

    def scale(self, n: int, d: int) -> float:
        """Return the factor by which theory multiplies (c + t)^(-1/3)."""
        return 1.0

    def from_constants(self, problem: Any, constants: BilevelConstants) -> dict[str, Any]:
        """Return steps from curvatures, the offset c of theory's schedule to match them, and factors of the weights."""
        values = super().from_constants(problem, constants)
        alpha = self.outer_step or values["outer_step"]
        offset = (self.scale(problem.domain.n, problem.inner_domain.n) / alpha) ** 3
        factor = FIRST_WEIGHT / alpha**self.weight_power
        names = ("inner_factor", "system_factor", "outer_factor")
        return values | {"offset": offset} | dict.fromkeys(names, factor)

    def iterate(self, state: SimultaneousState) -> Iterate:
        """Return the leader's x (R, n), the follower's y (R, d) and the system's v (R, d)."""
        return Iterate(state.x, inner=state.inner, system=state.v)

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> SimultaneousState:
        """Return the state at x0 (R, n) with v = 0; no calls."""
        y = BilevelOracle(oracle).initial(streams)
        start = Triple(x0, y, np.zeros_like(y))
        nothing = Triple(*map(np.zeros_like, start))
        return SimultaneousState(*start, start, nothing, self.remember(nothing), 0)

    def remember(self, nothing: Triple) -> Any:
        """Return what ``improve`` carries from round to round, at the start."""
        return ()

    def improve(self, directions: Triple, moments: Any, t: int) -> tuple[Triple, Any]:
        """Return the directions to step along, and what to carry on: the plain directions here."""
        return directions, moments

    def raw(self, rounds: BilevelOracle, at: Triple, streams: RandomSource, t: int) -> tuple[Triple, Array | None]:
        """Return round t's raw directions (D^x, D^y, D^v) at a point, and the variance (R,) of D^x."""
        raise NotImplementedError(f"{type(self).__name__} must define raw(rounds, at, streams, t).")

    def step(self, state: SimultaneousState, oracle: Oracle, streams: Streams) -> tuple[SimultaneousState, Info]:
        """Play a round: raw directions here and, with the same batches, at the last point; then all three steps."""
        rounds, t, at, shared = self.reveal(oracle), state.round + 1, Triple(*state[:3]), RepeatedNumbers(streams)
        weights, steps = self.weights(t, at), self.steps(t, at)
        directions, variance = self.raw(rounds, at, shared, t)
        if min(weights) < 1.0:
            old, _ = self.raw(rounds, state.last, shared.again(), t)
            directions = Triple(*map(recursive, weights, directions, state.directions, old))
        along, moments = self.improve(directions, state.moments, t)
        inner = at.inner - steps.inner * along.inner
        new = Triple(
            x=rounds.domain.project(at.x - steps.x * along.x),
            inner=rounds.inner_domain.project(inner) if self.project_inner else inner,
            v=self.in_ball(at.v - steps.v * along.v),
        )
        info = self.tell(at.x, variance, self.radius)
        return SimultaneousState(*new, at, directions, moments, t), info

    @property
    def radius(self) -> float:
        """Return the smoothing radius of D^x; NaN without one."""
        return float("nan")

    def steps(self, t: int, at: Triple) -> Triple[float]:
        """Return the steps of x, y and v in round t: constant, or in constant ratios to theory's step of x."""
        ratio = 1.0 if self.schedule == "practice" else self.alpha(t, at) / self.outer_step
        return Triple(ratio * self.outer_step, ratio * self.inner_step, ratio * self.system_step)

    def weights(self, t: int, at: Triple) -> Triple[float]:
        """Return the weights of new directions of x, y and v in round t; 1 in the first, which has none before it."""
        if t == 1:
            return Triple(1.0, 1.0, 1.0)
        if self.schedule == "practice":
            return Triple(self.outer_weight, self.inner_weight, self.system_weight)
        power = self.alpha(t - 1, at) ** self.weight_power
        factors = self.outer_factor, self.inner_factor, self.system_factor
        return Triple(*(min(1.0, factor * power) for factor in factors))

    def alpha(self, t: int, at: Triple) -> float:
        """Return alpha_t of (15) and (26)."""
        return self.scale(at.x.shape[1], at.inner.shape[1]) / (self.offset + t) ** (1.0 / 3.0)
