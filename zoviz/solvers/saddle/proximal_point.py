"""The proximal-point meta-algorithm: a nonconvex problem as a chain of convex ones, each left to an inner solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, ExactValues, Iterate
from zoviz.estimators import GradientEstimator
from zoviz.estimators.known_part import ProximalOracle
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.solvers.published_form import Departure
from zoviz.solvers.saddle.szo_conex import SZOConEX
from zoviz.solvers.saddle.zoceg import ZOCEG
from zoviz.solvers.saddle.zoeg import ZOEG
from zoviz.solvers.step_rules import NEGLIGIBLE
from zoviz.solvers.theory import Info

_UNKNOWN_SHARE, _CONVEX_SHARE = 0.1, 0.05
"""The objective's weight over L_f where f's convexity is unknown, and where f is known to be convex; the latter is also
the most that the constraints' weight takes of L_h (chosen by us, for functions that are convex or nearly so)."""


class ProximalPointState(NamedTuple):
    """Iterate x, duals y of the subproblem, the oracle's value at x, and the state of the inner solver.

    Also the stage's centre, 1 for each constraint that held there and 0 for the others, the inner steps taken in the
    stage, the stages finished, and the one drawn among their solutions.
    """

    x: Array
    y: Array
    value: Evaluation
    inner: Any
    centre: Array
    held: Array
    clock: int
    finished: int
    random_solution: Array


class ProximalPoint(Solver):
    r"""A chain of stages: an inner solver minimises the problem with quadratics around where it began.

    .. math:: x_j \approx \arg\min_{x \in X} f(x) + \mu_0\|x - x_{j-1}\|^2 \quad\text{s.t.}\quad
              h_i(x) + \mu\,\|x - x_{j-1}\|^2 \le 0

    One step is one step of the inner solver; after T of them the next stage begins at the solution so far. The
    quadratics are ours: their values and gradients are exact, and only the black box is estimated. A stage costs the
    calls of T inner steps and of an inner start, less the value at x_{j-1}, which is paid for.

    Notes
    -----
    The chain goes on after K stages; ``report="random"`` is the x_j drawn uniformly among the first K, as the theory
    asks (errata 24; among those finished until then), and "last" where the inner solver stands. A stage
    begins with the dual variables of the one before; ``warm_duals=False`` begins at 0, as every inner solver by itself
    does. The paper wants every centre strictly feasible; a constraint that is violated at a centre goes without its
    quadratic in that stage, which may have no feasible point otherwise. Paper zoeg remarks that its methods may stand
    inside.

    References
    ----------
    Paper conex, Algorithm 2.
    """

    title = "Proximal point"
    source = "paper conex, Algorithm 2"
    departures = (
        Departure("report", "random", "the last solution as the answer"),
        Departure("warm_duals", False, "multipliers that are kept from stage to stage"),
    )
    printed: ClassVar[dict[str, Any]] = {"stages": 50}

    stage_length = param.Integer(
        default=20, bounds=(1, 10_000_000), softbounds=(1, 1000), label="Stage length T", doc="Inner steps in a stage."
    )
    stages = param.Integer(
        default=50,
        bounds=(1, 10_000_000),
        softbounds=(1, 200),
        label="Stages K",
        doc="Stages among which the answer is drawn.",
    )
    objective_weight = Scale(
        None,
        softbounds=(1e-3, 1e2),
        label="Objective weight μ₀",
        doc="Proximal weight of f; it must exceed half the weak-convexity modulus of f.",
    )
    constraint_weight = Scale(
        None, softbounds=(1e-3, 1e2), label="Constraint weight μ", doc="Proximal weight of the constraints."
    )
    warm_duals = param.Boolean(
        default=True, label="Keep dual variables", doc="Begin a stage with the duals of the last one."
    )
    report: param.Selector[str] = param.Selector(
        default="last",
        objects=["last", "random"],
        label="Answer",
        doc="The inner solver's, or the stage's solution drawn uniformly, which the theory speaks about.",
    )
    inner: Part[Any] = Part(
        (SZOConEX, ZOEG, ZOCEG), default=SZOConEX(), label="Inner solver", doc="Solver of the convex subproblems."
    )

    @property
    def live(self) -> tuple[str, ...]:  # type: ignore[override]
        """The solver's own live parameters, and the inner solver's under "inner."."""
        own = ("stage_length", "objective_weight", "constraint_weight", "warm_duals", "report")
        return (*own, *(f"inner.{name}" for name in self.inner.live))

    @property
    def estimator(self) -> GradientEstimator:
        """The inner solver's estimator."""
        return self.inner.estimator

    @estimator.setter
    def estimator(self, value: GradientEstimator) -> None:
        self.inner.estimator = value

    @classmethod
    def published(cls, theorem: str | None = None, **parameters: Any) -> Self:
        """Return the method as printed, with SZO-ConEX as printed inside; mu_0 and mu are left open there."""
        return super().published(theorem, **{"inner": SZOConEX.published()} | parameters)

    def differences_from_paper(self, resolved: Mapping[str, Any] = MappingProxyType({})) -> tuple[str, ...]:
        inner = {name.removeprefix("inner."): value for name, value in resolved.items() if name.startswith("inner.")}
        return super().differences_from_paper(resolved) + self.inner.differences_from_paper(inner)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return the inner solver's reason not to run on the problem."""
        return self.inner.accepts(problem)

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return the inner solver's rule for the subproblem, and weights from the weak convexity rho.

        mu_0 = rho, so that a stage is rho-strongly convex; L_f / 20 where f is known to be convex, L_f / 10 where rho
        is unknown. mu = mu_0 L_h / L_f, and no more than L_h / 20: as good as nothing where the constraints are linear.
        The subproblem's curvatures are L_f + 2 mu_0 and L_h + 2 mu sqrt(m), and the dual step is the problem's own,
        times L_f / (L_f + 2 mu_0).

        Notes
        -----
        Ours. L_f / 10 and L_h / 20 are for functions that are convex or nearly so; the weights must exceed half their
        moduli, L_f / 2 is enough for any f. The swing of the duals from a start that is not feasible must not grow with
        the quadratics, hence the smaller dual step.
        """
        rho, curvature = constants.weak_convexity, constants.curvature
        fallback = (_UNKNOWN_SHARE if np.isnan(rho) else _CONVEX_SHARE) * curvature
        weight = self.objective_weight or (rho if rho > 0 else fallback)
        share = min(weight / curvature, _CONVEX_SHARE)
        constraint_weight = self.constraint_weight or max(share * constants.constraint_curvature, NEGLIGIBLE)
        subproblem = replace(
            constants,
            curvature=curvature + 2.0 * weight,
            constraint_curvature=constants.constraint_curvature + 2.0 * constraint_weight * problem.m**0.5,
            weak_convexity=0.0,
        )
        rule = self.inner.from_constants(problem, subproblem)
        if "augmentation" in rule:  # a stage is convex, but too short for its multipliers where the problem is not
            rule["augmentation"] = self.inner.safeguard_rule(constants, curvature)["augmentation"]
        rule["dual_step"] = (
            self.inner.from_constants(problem, constants)["dual_step"] * curvature / subproblem.curvature
        )
        values = {f"inner.{name}": value for name, value in rule.items()}
        return {"objective_weight": weight, "constraint_weight": constraint_weight, **values}

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> ProximalPointState:
        """Return the inner solver's state at x0 (R, n), which is the centre too."""
        return self._stage(x0, None, 0, x0, oracle, streams)

    def step(self, state: ProximalPointState, oracle: Oracle, streams: Streams) -> tuple[ProximalPointState, Info]:
        """Take one inner step, in a new stage where the present one is over."""
        if state.clock >= self.stage_length:
            state = self._next_stage(state, oracle, streams)
        subproblem = self._subproblem(oracle, state.centre, state.held)
        # Afresh from the black box's value: a weight may have changed since.
        inner = state.inner._replace(value=subproblem.add(state.x, state.value))
        inner, info = self.inner.step(inner, subproblem, streams)
        value = subproblem.without(inner.x, inner.value)
        return state._replace(x=inner.x, y=inner.y, value=value, inner=inner, clock=state.clock + 1), info

    def _next_stage(self, state: ProximalPointState, oracle: Oracle, streams: Streams) -> ProximalPointState:
        centre, finished, answer = self.inner.output(state.inner), state.finished + 1, state.random_solution
        if finished <= self.stages:
            take = streams.uniform("stage") < 1.0 / finished
            answer = np.where(take[:, None], centre, answer)
        # By value: a copy of a state, e.g. one that was stored, must take the same course.
        paid = state.value if np.array_equal(centre, state.x, equal_nan=True) else None
        after = self._stage(centre, paid, finished, answer, oracle, streams)
        # What penalties the constraints need, and where a violation stands still, is learnt over stages: one is short.
        after = after._replace(inner=after.inner._replace(safeguards=state.inner.safeguards))
        return after._replace(y=state.y, inner=after.inner._replace(y=state.y)) if self.warm_duals else after

    def _stage(
        self, centre: Array, paid: Evaluation | None, finished: int, answer: Array, oracle: Oracle, streams: Streams
    ) -> ProximalPointState:
        """Begin a stage; at its centre the quadratics are zero, and so are their gradients."""
        subproblem = self._subproblem(oracle, centre, np.ones((len(centre), oracle.m)))
        inner = self.inner.init(centre, subproblem, streams, value=paid)
        held = (inner.value.h <= 0.0).astype(float)
        return ProximalPointState(centre, inner.y, inner.value, inner, centre, held, 0, finished, answer)

    def _subproblem(self, oracle: Oracle, centre: Array, held: Array) -> ProximalOracle:
        return ProximalOracle(oracle, centre, self.objective_weight, self.constraint_weight * held)

    def iterate(self, state: ProximalPointState) -> Iterate:
        """Return the iterate, its multipliers and value, and the stage's centre."""
        return Iterate(state.x, dual=state.y, value=state.value, centre=state.centre)

    def output(self, state: ProximalPointState) -> Array:
        """Return the inner solver's iterate, or the random stage's solution, as ``report`` says, (R, n)."""
        return state.random_solution if self.report == "random" and state.finished else self.inner.output(state.inner)

    def theory(self, problem: Problem, info: Info, exact: ExactValues | None = None) -> dict[str, Array]:
        """Return the inner solver's predicted variances (R,): only the black box's part is estimated."""
        return self.inner.theory(problem, info, exact)
