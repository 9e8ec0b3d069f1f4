"""Online bilevel problems: a leader's and a follower's problem, both new in every round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import param

from zoviz.core.errors import ZovizError
from zoviz.core.parameters import Scale
from zoviz.core.sets import Set
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation, ExactValues, Iterate, Sample, StepConstants
from zoviz.problems.base import Problem
from zoviz.problems.regret import LocalRegret


@dataclass(frozen=True)
class BilevelConstants(StepConstants):
    """The curvatures and sizes of an online bilevel problem from which step-size rules are computed.

    Attributes
    ----------
    inner_curvature, inner_convexity : float
        L_g and mu_g, largest and smallest curvature of g_t in y.
    outer_curvature : float
        L_F, the Lipschitz constant of the hypergradient.
    system_size : float
        A bound p on ||v||, e.g. that of ||grad_y f_t|| over mu_g.
    inner_rank : float, optional
        The effective rank of g_t's Hessian in y, its trace over L_g, from 1 to d; d where None. Where it is measured,
        it has a margin for later rounds, as L_g has.
    """

    inner_curvature: float
    inner_convexity: float
    outer_curvature: float
    system_size: float
    inner_rank: float | None = None


class OnlineBilevel(Problem):
    r"""A problem of rounds t = 1, 2, ...: play (x_t, y_t), then f_t and g_t are revealed through samples.

    .. math:: \min_{x \in X} f_t(x, y_t^*(x)), \qquad y_t^*(x) = \arg\min_{y \in Y} g_t(x, y), \quad g_t(x, \cdot)
        \text{ strongly convex}

    The oracle's sample is a round's data: what ``draw`` returns for it, mini-batches of both levels included; ``size``
    is (b, b'), the batch of f_t and that of g_t. Every method below takes the sample last; x is (R, ..., n), y and v
    are (R, ..., d) with d = ``inner_domain.n``.

    A subclass provides ``domain``, ``inner_domain``, ``draw`` and ``outer``, ``inner``; for first-order methods the
    derivatives too; and ``solution`` where y* is known, which gives the regret.

    Notes
    -----
    Under the contract "deterministic" a round's sample has the round's own functions, without sampling noise. Additive
    noise (``noise_scale``) is not used: what hides the functions is the sample.
    """

    __abstract = True

    form: ClassVar[str] = "online bilevel"
    stochastic: ClassVar[bool] = True
    online: ClassVar[bool] = True
    m = 0

    noise: param.Selector[str] = param.Selector(
        default="common",
        objects=["deterministic", "common", "independent"],
        label="Noise of the values",
        doc="deterministic: exact f and g in each round. common: all values of a round share its mini-batches. "
        "independent noise is not for these methods, which compare values of one sample.",
    )
    noise_scale = param.Number(
        default=0.0,
        bounds=(0, 1e9),
        precedence=-1,
        label="Noise scale σ",
        doc="Additive noise; not used, since the mini-batches hide the functions.",
    )
    regret_step = Scale(
        0.1,
        softbounds=(1e-4, 10.0),
        label="Regret step α",
        doc="Step of the projection that the local regret measures.",
    )

    regret_window = param.Integer(
        default=1,
        bounds=(1, 1000),
        softbounds=(1, 20),
        label="Regret window w",
        doc="Above 1 the regret of means of the last w rounds' functions is measured too, at w times the work.",
    )
    measure_variations = param.Boolean(
        default=False,
        label="Measure variations",
        doc="Sum how far the rounds' functions differ, V_T, H_2,T, D_T and G_T: for small problems in closed form.",
    )
    closed_form: ClassVar[bool] = False
    """Whether F_t and y*_t are known in closed form, at many points at once."""

    if TYPE_CHECKING:

        @property
        def inner_domain(self) -> Set:
            """The set Y of the follower's variables."""

    @property
    def constants(self) -> None:
        """None: those of one constrained problem; a stream of rounds has ``bilevel_constants``. No data are made."""
        return None

    @property
    def known_optimum(self) -> None:
        """None: a stream of rounds has no optimum. No data are made."""
        return None

    @property
    def bilevel_constants(self) -> BilevelConstants | None:
        """Curvatures for step-size rules, where they are known without a call; else None."""
        return None

    def initial_inner(self, streams: Streams) -> Array:
        """Return the follower's start y_1, (R, d): the point of Y nearest to 0."""
        return self.inner_domain.project(np.zeros((streams.replicas, self.inner_domain.n)))

    def outer(self, x: Array, y: Array, xi: Sample) -> Array:
        """Return the leader's f_t(x, y), mean over the round's batch, (R, ...)."""
        raise NotImplementedError(f"{type(self).__name__} must define outer(x, y, xi).")

    def inner(self, x: Array, y: Array, xi: Sample) -> Array:
        """Return the follower's g_t(x, y), mean over the round's batch, (R, ...)."""
        raise NotImplementedError(f"{type(self).__name__} must define inner(x, y, xi).")

    def outer_gradients(self, x: Array, y: Array, xi: Sample) -> tuple[Array, Array]:
        """Return the gradients of f_t in x (R, ..., n) and in y (R, ..., d)."""
        raise NotImplementedError(f"{type(self).__name__} has values only: choose a zeroth-order method.")

    def inner_gradient(self, x: Array, y: Array, xi: Sample) -> Array:
        """Return the gradient of g_t in y, (R, ..., d)."""
        raise NotImplementedError(f"{type(self).__name__} has values only: choose a zeroth-order method.")

    def inner_hessian_vector(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return the second derivative of g_t in y, times v, (R, ..., d)."""
        raise NotImplementedError(f"{type(self).__name__} has values only: choose a zeroth-order method.")

    def inner_jacobian_vector(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return the derivative in x of <grad_y g_t, v>, (R, ..., n)."""
        raise NotImplementedError(f"{type(self).__name__} has values only: choose a zeroth-order method.")

    def member(self, xi: Sample, i: int) -> Sample:
        """Return the sample that has the i-th of each mini-batch alone; here there is one in each.

        A problem whose samples keep their members apart overrides it.

        Raises
        ------
        ZovizError
            Where there are several, which the problem has only the mean of.
        """
        if i:
            name = type(self).__name__
            raise ZovizError(f"Expected mini-batches of 1, as {name} knows only means, got more: set both to 1.")
        return xi

    @property
    def leader_gradient_doubt(self) -> str:
        """Why the leader's own gradient grad_x f_t may lead to no stationary point of F_t, as a clause; else empty."""
        return ""

    @property
    def differentiable(self) -> bool:
        """Whether the problem has gradients and products, so that first-order methods may run."""
        return type(self).inner_jacobian_vector is not OnlineBilevel.inner_jacobian_vector

    def exact(self, xi: Sample) -> Any:
        """Return the sample's round without sampling noise, where it is known; else the sample itself."""
        return xi

    def solution(self, x: Array, xi: Sample) -> tuple[Array, Array] | None:
        """Return y* (R, d) and v* (R, d) of the round without sampling noise, at no call; None where they are unknown.

        Where there is no closed form and g_t is strongly convex, ``zoviz.problems.inner_solution.settle`` finds both.
        """
        return None

    def hypergradient(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return grad_x f_t + grad_xy g_t v (R, n), without sampling noise; at y* and v* it is the gradient of F_t."""
        exact = self.exact(xi)
        return self.outer_gradients(x, y, exact)[0] + self.inner_jacobian_vector(x, y, v, exact)

    @classmethod
    def of(cls, problem: Problem) -> OnlineBilevel:
        """Return the problem itself, for those who need an online bilevel one.

        Raises
        ------
        ZovizError
            Where it is of another form.
        """
        if not isinstance(problem, OnlineBilevel):
            raise ZovizError(
                f"Expected an online bilevel problem, got {type(problem).__name__}: choose a solver of its form."
            )
        return problem

    def tally(self, replicas: int) -> LocalRegret | None:
        """Return the sums of the bilevel local regret and tracking errors, where y* is known."""
        computable = type(self).solution is not OnlineBilevel.solution and self.differentiable
        return LocalRegret(self, replicas) if computable else None

    def evaluate(self, x: Array, xi: Sample | None = None) -> Evaluation:
        """Return F_t(x) = f_t(x, y*_t(x)) (R,) at x (R, n), for measures only: no solver sees these values."""
        raise NotImplementedError(f"{type(self).__name__} does not define evaluate(x, xi): it has no closed form.")

    def exact_values(self, x: Array) -> None:
        """Return None: a round's values need the follower's decision and the round's sample beside x."""
        return None

    def measures(self, iterate: Iterate, sample: Any, exact: ExactValues | None = None) -> dict[str, Array]:
        """Measure ``objective`` (R,): f_t at the iterate and the follower's decision, without sampling noise.

        Of an iterate without one y* is taken, and nothing is known where that is not.
        """
        x, inner = iterate.x, iterate.inner
        if inner is None:
            solution = self.solution(x, sample)
            if solution is None:
                return {"objective": np.full(len(x), np.nan)}
            inner = solution[0]
        return {"objective": self.outer(x, inner, self.exact(sample))}
