"""Bases and formulas of bilevel methods: state, recursive directions, schedules, and solvers of the linear system."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.streams import RandomSource, Streams, draw_subset
from zoviz.core.types import Array, Iterate
from zoviz.oracle import BilevelOracle, Oracle
from zoviz.problems.base import Problem
from zoviz.problems.bilevel import BilevelConstants, OnlineBilevel
from zoviz.solvers.base import Solver
from zoviz.solvers.bilevel.measured_curvatures import measured_bilevel_constants
from zoviz.solvers.theory import Info

FIRST_WEIGHT = 0.9
"""Weight of the newest direction that theory's schedule begins with (chosen by us)."""
COORDINATE_STEP = 0.02
"""How far a coordinate moves in a round where steps are divided by root mean squares (chosen by us)."""
_HALF_PACE = 0.5
"""Steps in units of the largest stable ones (chosen by us: theory's constants are not computable)."""

T = TypeVar("T")


class Triple(NamedTuple, Generic[T]):
    """Three arrays, for x (R, n), the follower's y (R, d) and the system's v (R, d): a point, or directions."""

    x: T
    inner: T
    v: T


class RepeatedNumbers:
    """A source of random numbers that can be read several times over, each pass the same.

    It is how estimates at several points share their directions.

    Parameters
    ----------
    source : RandomSource
        Where the first pass draws from.
    """

    def __init__(self, source: RandomSource) -> None:
        self._source, self._place = source, 0
        self._numbers: list[tuple[tuple[str, str, tuple[int, ...]], Array]] = []

    @property
    def replicas(self) -> int:
        """The number R of replicas of the source."""
        return self._source.replicas

    def again(self) -> RepeatedNumbers:
        """Start again with the same random numbers."""
        self._place = 0
        return self

    def normal(self, purpose: str, *shape: int) -> Array:
        """Return standard normal numbers, (R, *shape), not to be written to."""
        return self._next("normal", self._source.normal, purpose, shape)

    def uniform(self, purpose: str, *shape: int) -> Array:
        """Return uniform numbers on [0, 1), (R, *shape), not to be written to."""
        return self._next("uniform", self._source.uniform, purpose, shape)

    def subset(self, purpose: str, n: int, size: int, repeats: int = 1) -> np.ndarray:
        """Return sorted subsets of {0..n-1}, (R, repeats, size)."""
        return draw_subset(self, purpose, n, size, repeats)

    def _next(self, kind: str, draw: Callable[..., Array], purpose: str, shape: tuple[int, ...]) -> Array:
        request = kind, purpose, shape
        if self._place == len(self._numbers):
            self._numbers.append((request, draw(purpose, *shape)))
        first, numbers = self._numbers[self._place]
        if first != request:
            raise ValueError(f"Expected a pass to ask for {first} as the first did, got {request}: begin anew.")
        self._place += 1
        return numbers


class RoundSolver(Solver):
    """The base of methods for ``OnlineBilevel`` problems, single-level ones included.

    A step is a round: it draws a new sample, whose functions it sees after (x_t, y_t) was played.
    """

    __abstract = True

    forms = ("online bilevel",)
    first_order: ClassVar[bool] = True
    """Whether gradients and products are asked for; values only otherwise."""

    inner_batch = param.Integer(
        default=1, bounds=(1, 10**7), softbounds=(1, 256), label="Inner batch b̄", doc="Samples of g in a round."
    )

    @property
    def asks_derivatives(self) -> bool:
        """Whether a round's gradients and products are asked for."""
        return self.first_order

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return a sentence for independent additive noise, scaling, or derivatives that are missing; else None."""
        name, bilevel = type(self).__name__, OnlineBilevel.of(problem)
        if problem.contract == "independent":
            return f"{name} compares values of one sample, which independent noise denies: choose common."
        if problem.scaled:
            return f"{name} sees an online bilevel problem in its own units: switch its scaling off."
        if self.first_order and not bilevel.differentiable:
            return f"{name} needs gradients, and {type(problem).__name__} has values only: choose ZO-SOGD."
        return None

    def known_constants(self, problem: Problem) -> BilevelConstants | None:
        """Return the problem's own ``bilevel_constants``."""
        return OnlineBilevel.of(problem).bilevel_constants

    def measure_constants(self, problem: Problem, oracle: Oracle, x0: Array, streams: Streams) -> Any:
        """Return the problem's ``bilevel_constants``, or those measured at x0 (R, n) by charged calls."""
        constants = self.known_constants(problem)
        return constants or measured_bilevel_constants(BilevelOracle(oracle), oracle, x0, streams, self.first_order)

    def iterate(self, state: Any) -> Iterate:
        """Return the leader's x (R, n) and the follower's y (R, d)."""
        return Iterate(state.x, inner=state.inner)

    def tell(self, x: Array, variance: Array | None = None, radius: float = np.nan) -> Info:
        """Return a step's ``Info`` without constraints, and hence without multipliers."""
        unknown = np.full(len(x), np.nan)
        return Info(unknown if variance is None else variance, x, np.empty((len(x), 0)), radius)


class BilevelSolver(RoundSolver):
    """The base of methods that move both levels: batch sizes, and rules for the steps of y and x."""

    __abstract = True

    inner_step = Scale(None, softbounds=(1e-4, 1.0), label="Inner step β", doc="Step of the follower's variables y.")
    outer_step = Scale(None, softbounds=(1e-5, 1.0), label="Outer step α", doc="Step of the leader's variables x.")
    outer_batch = param.Integer(
        default=1, bounds=(1, 10**7), softbounds=(1, 256), label="Outer batch b", doc="Samples of f in a round."
    )

    def variances(self, problem: Problem, constants: BilevelConstants) -> tuple[float, float]:
        """Return the relative variances in x and in y, as far as steps must be shorter for them; 0 if exact."""
        return 0.0, 0.0

    def from_constants(self, problem: Problem, constants: BilevelConstants) -> dict[str, Any]:
        """Return steps from curvatures: half the largest stable step for the follower, half that rate for the leader.

        beta = delta = 1 / [2 L_g (1 + v_y)] and alpha = beta mu_g / [2 L_F (1 + v_x)] with v the relative variances
        of the estimates, (n - 1) / k in x and ``felt_variance`` in y, 0 for exact gradients; p is the problem's bound
        on ||v*||, or ten times a first solution's norm where it is measured. A Neumann series has terms of step
        1 / L_g.

        Notes
        -----
        Ours: the paper takes the best of a grid, and its theory's constants (104), (232) are not computable.
        """
        in_x, in_y = self.variances(problem, constants)
        inner = _HALF_PACE / (constants.inner_curvature * (1.0 + in_y))
        outer = _HALF_PACE * inner * constants.inner_convexity / (constants.outer_curvature * (1.0 + in_x))
        return {
            "inner_step": inner,
            "system_step": inner,
            "outer_step": outer,
            "system_radius": constants.system_size,
            "neumann_step": 1.0 / constants.inner_curvature,
        }

    def reveal(self, oracle: Oracle) -> BilevelOracle:
        """Begin a round: draw its functions' mini-batches in the present sizes."""
        oracle.resample((self.outer_batch, self.inner_batch))
        return BilevelOracle(oracle)


def felt_variance(variance: float, d: int, constants: BilevelConstants) -> float:
    r"""Return the part of an estimate's relative variance v for which steps must be shorter: v (r + 1) / d.

    .. math:: E[\hat g^\top H \hat g] \le L_g \|g\|^2 \Big(1 + v\,\frac{r + 1}{d}\Big), \qquad
              r = \mathrm{tr} H / L_g

    for directions that are uniform on the sphere, with r the effective rank of the Hessian H: what the variance adds is
    spread over all d directions, and only the curved ones feel it. It is v itself where all curvatures are L_g.

    References
    ----------
    Malladi, Gao, Nichani, Damian, Lee, Chen and Arora (2023), Fine-tuning language models with just forward passes.
    """
    return variance if constants.inner_rank is None else variance * min(1.0, (constants.inner_rank + 1.0) / d)


class HypergradientSolver(BilevelSolver):
    """The base of methods that follow the hypergradient, by the solution v of a linear system, kept in a ball."""

    __abstract = True

    system_radius = Scale(None, softbounds=(1e-1, 1e4), label="System radius p", doc="Radius of the ball that holds v.")

    def in_ball(self, v: Array) -> Array:
        """Project v (..., d) on the ball of radius p: min{1, p / ||v||} v (paper sogd, (8)); v itself without p."""
        if self.system_radius is None:
            return v
        norm = np.sqrt(np.square(v).sum(axis=-1, keepdims=True))
        return v * (self.system_radius / np.maximum(norm, self.system_radius))


def recursive(weight: float, now: Array, before: Array, old: Array) -> Array:
    r"""Return d_t = D_t(z_t) + (1 - weight) (d_{t-1} - D_t(z_{t-1})), arrays of one shape, by round t's batches.

    References
    ----------
    Paper sogd, (7), with the misprints of its recursions resolved.
    """
    return now + (1.0 - weight) * (before - old)


def spread_out(fixed: Array, points: Array) -> Array:
    """Return fixed rows (R, n) repeated for each of the points (R[, q], d), as (R[, q], n)."""
    return fixed if points.ndim == 2 else np.broadcast_to(fixed[:, None], (*points.shape[:2], fixed.shape[-1]))


def window_mean(recent: Array, decay: float) -> Array:
    """Return the mean of recent (R, w, n), newest first, with weights decay^i."""
    weights = decay ** np.arange(recent.shape[1])
    return np.einsum("w,rwn->rn", weights / weights.sum(), recent)


def pushed(newest: Array, past: Array, length: int) -> Array:
    """Put the newest (R, n) before the past (R, ..., n), cut or filled with zeros to ``length``."""
    recent = np.concatenate([newest[:, None], past], axis=1)[:, :length]
    missing = length - recent.shape[1]
    return np.pad(recent, ((0, 0), (0, missing), (0, 0))) if missing else recent


def neumann(rounds: BilevelOracle, x: Array, y: Array, b: Array, terms: int, step: float) -> Array:
    """Return -step sum_{j <= terms} (I - step H)^j b (R, d), which tends to -H^-1 b, by ``terms`` products H v."""
    term = total = -step * b
    for _ in range(terms):
        term = term - step * rounds.hessian_vector(x, y, term)
        total = total + term
    return total


def conjugate_gradients(rounds: BilevelOracle, x: Array, y: Array, b: Array, start: Array, steps: int) -> Array:
    """Take ``steps`` conjugate-gradient steps for H v = -b from ``start`` (R, d), by ``steps`` + 1 products H v."""
    v, residual = start, -b - rounds.hessian_vector(x, y, start)
    direction, square = residual, np.square(residual).sum(axis=-1, keepdims=True)
    for _ in range(steps):
        image = rounds.hessian_vector(x, y, direction)
        curvature = (direction * image).sum(axis=-1, keepdims=True)
        length = np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0)
        v, residual = v + length * direction, residual - length * image
        new = np.square(residual).sum(axis=-1, keepdims=True)
        direction = residual + np.divide(new, square, out=np.zeros_like(new), where=square > 0) * direction
        square = new
    return v
