"""Sums over the rounds of an online bilevel problem: the local regret, and how far the rounds' functions differ."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.sets import Set
from zoviz.core.types import Array, Evaluation, Iterate, Sample

PROBES = 32
"""Points of X at which a supremum over X is taken, beside the iterate."""


class Rounds(Protocol):
    """A protocol: what is asked of an online bilevel problem, as ``OnlineBilevel`` has it."""

    regret_step: float
    regret_window: int
    measure_variations: bool

    @property
    def closed_form(self) -> bool:
        """Whether F_t and y*_t are known at many points at once."""

    @property
    def domain(self) -> Set:
        """The set X."""

    def exact(self, xi: Sample) -> Any:
        """Return the round without sampling noise."""

    def solution(self, x: Array, xi: Sample) -> tuple[Array, Array] | None:
        """Return the follower's solution y* and the system's solution v*."""

    def hypergradient(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return the gradient of F_t at y* and v*."""

    def evaluate(self, x: Array, xi: Sample) -> Evaluation:
        """Return F_t(x)."""

    def outer_gradients(self, x: Array, y: Array, xi: Sample) -> tuple[Array, Array]:
        """Return the gradients of f_t."""

    def inner_gradient(self, x: Array, y: Array, xi: Sample) -> Array:
        """Return the gradient of g_t in y."""

    def inner_hessian_vector(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return the second derivative of g_t in y times v."""

    def inner_jacobian_vector(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return the derivative in x of <grad_y g_t, v>."""


class Variations:
    r"""The sums of how far each round's functions differ from the last one's.

    .. math::
        V_T &= \sum_{t \ge 2} \sup_x |F_{t-1}(x) - F_t(x)|, \qquad
        H_{2,T} = \sum_{t \ge 2} \sup_x \|y_{t-1}^*(x) - y_t^*(x)\|^2 \\
        D_T &= \sum_{t \ge 2} \sup_{x,y} \big(\|\nabla_x f_{t-1} - \nabla_x f_t\|^2
               + \|\nabla_y f_{t-1} - \nabla_y f_t\|^2\big) \\
        G_T &= \sum_{t \ge 2} \big(\|\nabla_y g_{t-1} - \nabla_y g_t\|^2
               + \|\nabla_y^2 g_{t-1} - \nabla_y^2 g_t\|_F^2
               + \|\nabla_{xy}^2 g_{t-1} - \nabla_{xy}^2 g_t\|_F^2\big)(x_t, y_t)

    all without sampling noise. G_T is that of the points played, as in the paper.

    Notes
    -----
    A supremum is the largest value at 32 points, uniform in X or in the unit cube around the iterate where X is
    unbounded, the same in every round, and at the iterate (with y* for y): a lower bound, which is exact where the
    difference does not depend on the point. Frobenius norms stand for the paper's norms of matrices.

    References
    ----------
    Paper sogd, (10)-(14).
    """

    def __init__(self, problem: Rounds, replicas: int) -> None:
        self._problem = problem
        self._last: Sample | None = None
        self._sums = {name: np.zeros(replicas) for name in ("leader", "path", "outer", "inner")}
        self._unit = np.random.default_rng(0).random((PROBES, problem.domain.n))

    def add(self, x: Array, y: Array, sample: Sample) -> None:
        """Add a round at the points played, x (R, n) and y (R, d)."""
        last, self._last = self._last, sample
        if last is None:
            return
        problem = self._problem
        probes = np.concatenate([self._probes(x), x[:, None]], axis=1)
        rounds = [problem.exact(last), problem.exact(sample)]
        before, after = (problem.evaluate(probes, one).f for one in rounds)
        paths = [np.asarray(problem.solution(probes, one))[0] for one in rounds]
        slopes = [np.concatenate(problem.outer_gradients(probes, paths[1], one), axis=-1) for one in rounds]
        news = {
            "leader": np.abs(after - before).max(axis=-1),
            "path": np.square(paths[1] - paths[0]).sum(axis=-1).max(axis=-1),
            "outer": np.square(slopes[1] - slopes[0]).sum(axis=-1).max(axis=-1),
            "inner": self._inner(x, y, rounds),
        }
        self._sums = {name: total + news[name] for name, total in self._sums.items()}

    def _probes(self, x: Array) -> Array:
        """Return points of X, (R, PROBES, n)."""
        domain, unit = self._problem.domain, np.broadcast_to(self._unit, (len(x), *self._unit.shape))
        lower, upper = (np.broadcast_to(getattr(domain, end, np.nan), x.shape[1:]) for end in ("lower", "upper"))
        if np.isfinite(lower).all() and np.isfinite(upper).all():
            return lower + (upper - lower) * unit
        return domain.project(x[:, None] + unit - 0.5)

    def _inner(self, x: Array, y: Array, rounds: list[Any]) -> Array:
        """Return the squared differences (R,) of g's gradient and of both second derivatives at x and y."""
        problem, d = self._problem, y.shape[-1]
        basis = np.broadcast_to(np.eye(d), (len(y), d, d))
        places = (np.broadcast_to(one[:, None], (len(one), d, one.shape[-1])) for one in (x, y))
        at_x, at_y = places
        pairs = [
            [problem.inner_gradient(x, y, one) for one in rounds],
            [problem.inner_hessian_vector(at_x, at_y, basis, one) for one in rounds],
            [problem.inner_jacobian_vector(at_x, at_y, basis, one) for one in rounds],
        ]
        return sum((np.square(b - a).reshape(len(x), -1).sum(axis=1) for a, b in pairs), np.zeros(len(x)))

    def snapshot(self) -> dict[str, Any]:
        """Return the sums so far, and the last round's sample."""
        return {"sums": dict(self._sums), "last": self._last}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a snapshot."""
        self._sums, self._last = dict(snapshot["sums"]), snapshot["last"]

    def row(self) -> dict[str, Array]:
        """Return the columns (R,): V_T, H_{2,T}, D_T and G_T."""
        return {f"{name}_variation": total for name, total in self._sums.items()}


class LocalRegret:
    r"""The sums of the bilevel local regret, each round at the decision played before its functions were revealed.

    .. math:: \text{BL-Reg}_T = \sum_{t \le T} \Big\| \frac{x_t - \Pi_X(x_t - \alpha\nabla F_t(x_t))}{\alpha} \Big\|^2,
              \qquad F_t(x) = f_t(x, y_t^*(x))

    Everything is taken of the round without sampling noise, off the books: y* and v* are the problem's ``solution``.
    With a ``regret_window`` w above 1 the same sum is kept of (1/w) sum_{i < w} F_{t-i}, F_t = 0 for t <= 0, beside it;
    with ``measure_variations`` those of ``Variations``.

    Notes
    -----
    alpha is the problem's ``regret_step``, the same for all methods, where the paper takes each method's own alpha_t:
    regrets of methods with different steps could not be compared otherwise. Inside X both are sums of ||grad F_t||^2.

    References
    ----------
    Paper sogd, (2), and below it F_{t,w}.
    """

    def __init__(self, problem: Rounds, replicas: int) -> None:
        self._problem, self._rounds = problem, 0
        self._regret = np.zeros(replicas)
        self._slope = np.full(replicas, np.nan)
        self._errors: dict[str, Array] = {}
        self._windowed = np.zeros(replicas)
        self._past: list[Any] = []
        self._variations = Variations(problem, replicas) if problem.measure_variations and problem.closed_form else None

    def add(self, before: Iterate, after: Iterate, sample: Any) -> None:
        """Add a round: the iterates before and after it, and the sample that was revealed."""
        problem, x = self._problem, before.x
        solution = problem.solution(x, sample)
        if solution is None:
            raise ZovizError(
                f"Expected the solution of every round, got none from {type(problem).__name__}: without it there is no "
                "regret to be summed up, and tally() has to return None."
            )
        y, v = solution
        gradient = problem.hypergradient(x, y, v, sample)
        self._rounds += 1
        self._slope = np.sqrt(self._square(x, gradient))
        self._regret = self._regret + np.square(self._slope)
        # A method that solves each round's system in that round is judged by what it found there.
        system = after.solved if before.system is None else before.system
        for name, played, exact in (("inner_error", before.inner, y), ("system_error", system, v)):
            if played is not None:
                self._errors[name] = np.sqrt(np.square(played - exact).sum(axis=-1))
        if problem.regret_window > 1:
            self._windowed = self._windowed + self._square(x, self._mean_gradient(x, gradient))
            self._past = [sample, *self._past][: problem.regret_window - 1]
        if self._variations is not None:
            self._variations.add(x, y if before.inner is None else before.inner, sample)

    def _square(self, x: Array, gradient: Array) -> Array:
        """Return the squared norm (R,) of the projected gradient at x (R, n)."""
        alpha = self._problem.regret_step
        moved = self._problem.domain.project(x - alpha * gradient)
        return np.square((x - moved) / alpha).sum(axis=-1)

    def _mean_gradient(self, x: Array, newest: Array) -> Array:
        """Return the gradient (R, n) of the mean of the last w rounds' functions at x (R, n)."""
        total = newest
        for sample in self._past:
            solution = self._problem.solution(x, sample)
            if solution is not None:
                total = total + self._problem.hypergradient(x, *solution, sample)
        return total / self._problem.regret_window

    def snapshot(self) -> dict[str, Any]:
        """Return the rounds so far, the sums, and the last slope and errors, each (R,)."""
        return {
            "rounds": self._rounds,
            "regret": self._regret,
            "slope": self._slope,
            "errors": dict(self._errors),
            "windowed": self._windowed,
            "past": list(self._past),
            "variations": None if self._variations is None else self._variations.snapshot(),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from the sums of a snapshot."""
        self._rounds, self._regret, self._slope = snapshot["rounds"], snapshot["regret"], snapshot["slope"]
        self._errors = dict(snapshot["errors"])
        self._windowed, self._past = snapshot["windowed"], list(snapshot["past"])
        if self._variations is not None:
            self._variations.restore(snapshot["variations"])

    def row(self) -> dict[str, Array]:
        """Return the columns (R,): ``regret``, ``average_regret``, and the last round's ``hypergradient`` and errors.

        ``inner_error`` ||y_t - y*_t(x_t)|| and ``system_error`` ||v_t - v*_t(x_t)|| begin with the first round, and are
        those of methods that have y or v; ``windowed_regret`` and its average with a window; ``Variations.row``.
        """
        average = self._regret / self._rounds if self._rounds else np.full_like(self._regret, np.nan)
        sums = {"regret": self._regret, "average_regret": average, "hypergradient": self._slope}
        if self._problem.regret_window > 1:
            sums |= {"windowed_regret": self._windowed, "average_windowed_regret": average * np.nan}
            if self._rounds:
                sums["average_windowed_regret"] = self._windowed / self._rounds
        return sums | self._errors | ({} if self._variations is None else self._variations.row())
