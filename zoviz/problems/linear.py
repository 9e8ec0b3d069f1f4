"""The base class of problems with linear constraints, whose objective is an expectation."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import param

from zoviz.core.errors import ZovizError
from zoviz.core.parameters import Scale
from zoviz.core.sets import Box, Set
from zoviz.core.types import Array, Evaluation, ExactValues, Iterate, Sample
from zoviz.problems.base import Problem

Function = Callable[[Array], Any]

LARGEST = 500
"""Variables up to which a proximal point is computed: a general solver's work grows with their cube."""

_STEP = 1e-7
"""Step s of the limit, relative to the point: far above round-off, far below the distance to other faces."""


def normal_residual(domain: Set, x: Array, slope: Array) -> Array:
    r"""Return the distance (R,) of -slope to the normal cone of a polyhedral X at x (R, n).

    .. math:: \min_{v \in g + N_X(x)} \|v\| = \lim_{s \downarrow 0} \|x - \Pi_X(x - s g)\| / s

    Parameters
    ----------
    domain : Set
        X. The quotient equals its limit from a positive s on where X is polyhedral.
    x, slope : Array, shape (R, n)
        A point of X, and g. A bound nearer than 1e-7 max(1, ||x||) counts as active.

    References
    ----------
    Paper salm, §1.2; Rockafellar and Wets (1998), Variational Analysis, Exercise 6.24.
    """
    size = np.maximum(np.linalg.norm(slope, axis=-1, keepdims=True), 1e-300)
    step = _STEP * np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1.0) / size
    return np.linalg.norm((x - domain.project(x - step * slope)) / step, axis=-1)


def proximal_point(problem: LinearlyConstrained, z: Array, weight: float) -> Array:
    """Return arg min f(x) + weight/2 ||x - z||^2 over X and the exact rows, for each z of (R, n), by SLSQP.

    Raises
    ------
    ValueError
        For a problem that is too large, or a domain that is not a box.
    """
    if problem.domain.n > LARGEST or not isinstance(problem.domain, Box):
        raise ValueError(
            f"Expected a box of at most {LARGEST} variables for near-stationarity, got a "
            f"{type(problem.domain).__name__} of {problem.domain.n}: switch measure_envelope off."
        )
    optimize: Any = importlib.import_module("scipy.optimize")
    matrix, offset = _independent(*problem.matrix()) if problem.equations else problem.matrix()
    sign = 1.0 if problem.equations else -1.0
    rows = {
        "type": "eq" if problem.equations else "ineq",
        "fun": lambda x: sign * (matrix @ x - offset),
        "jac": lambda x: sign * matrix,
    }
    ends = (problem.domain.lower, problem.domain.upper)
    bounds = optimize.Bounds(*(np.broadcast_to(end, problem.domain.n) for end in ends))
    out = np.full(z.shape, np.nan)
    for r in np.flatnonzero(np.isfinite(z).all(axis=-1)):  # a general solver takes one problem at a time
        value, slope = _pulled(problem, z[r], weight)
        out[r] = optimize.minimize(
            value,
            problem.domain.project(z[r]),
            jac=slope,
            bounds=bounds,
            constraints=[rows],
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        ).x
    return out


def _pulled(problem: LinearlyConstrained, z: Array, weight: float) -> tuple[Function, Function]:
    """Return f(x) + weight/2 ||x - z||^2 and its gradient, as functions of one point (n,)."""

    def value(x: Array) -> float:
        return float(problem.evaluate(x).f + 0.5 * weight * np.square(x - z).sum())

    def slope(x: Array) -> Array:
        return problem.stochastic_gradient(x) + weight * (x - z)

    return value, slope


def _independent(matrix: Array, offset: Array) -> tuple[Array, Array]:
    """Return equations with the same solutions and orthonormal rows, which SLSQP needs."""
    basis, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    independent = sizes > 1e-10 * sizes.max(initial=0.0)
    return right[independent], (basis.T @ offset)[independent] / sizes[independent]


class LinearlyConstrained(Problem):
    r"""A problem of E F(x, xi) subject to A x = b (or A x <= b) and x in a polyhedral X.

    To every solver it is a constrained problem: h(x) = A x - b for inequalities (m = p rows), and (A x - b, b - A x)
    for equations (m = 2 p), so that ||[h]_+|| is ||A x - b||. Solvers for linear constraints see A itself and
    stochastic gradients, through ``zoviz.oracle.FirstOrder``.

    A subclass provides besides ``domain`` and ``evaluate``: ``rows``, ``residual``, ``adjoint`` and
    ``stochastic_gradient``. With a sample xi, ``evaluate`` and ``stochastic_gradient`` are means over the mini-batch;
    without one they are exact.
    """

    __abstract = True

    kinds: ClassVar[tuple[str, ...]] = ("linearly constrained",)
    stochastic: ClassVar[bool] = True

    if TYPE_CHECKING:

        @property
        def rows(self) -> int:
            """p, the number of rows of A."""

    noise: param.Selector[str] = param.Selector(default="common")
    noise_scale = param.Number(default=0.0)
    measure_envelope = param.Boolean(
        default=False,
        label="Measure near-stationarity",
        doc="Solve a convex problem for every recorded row and replica: ||grad Psi(z)||, for small problems.",
    )
    envelope_weight = Scale(
        None, label="Envelope weight μ", doc="Weight of the envelope Psi that is measured; None: max(2, 4 L_f)."
    )

    _rows: tuple[Array, Array, Array] | None = None

    @classmethod
    def of(cls, problem: Problem) -> LinearlyConstrained:
        """Return the problem itself, for those who need linear constraints.

        Raises
        ------
        ZovizError
            Where it has others.
        """
        if not isinstance(problem, LinearlyConstrained):
            raise ZovizError(
                f"Expected a problem with linear constraints, got {type(problem).__name__}: choose another solver."
            )
        return problem

    def _forget(self, *events: param.parameterized.Event) -> None:
        super()._forget(*events)
        self._rows = None

    @property
    def equations(self) -> bool:
        """Whether the rows are equations; inequalities A x <= b otherwise."""
        return True

    @property
    def sampled_rows(self) -> bool:
        """Whether A and b are seen through samples only: E[A_zeta x - b_zeta]."""
        return False

    @property
    def m(self) -> int:
        """The number of constraints h <= 0: p for inequalities, 2p for equations."""
        return 2 * self.rows if self.equations else self.rows

    def residual(self, x: Array, xi: Sample | None = None, copy: int = 0) -> Array:
        """Return A x - b, (..., p), at x (..., n).

        Parameters
        ----------
        xi : object, optional
            The sample, where rows are sampled; exact without it.
        copy : int
            Which of the sample's independent copies of zeta, 0 to 2.
        """
        raise NotImplementedError(f"{type(self).__name__} must define residual(x, xi, copy).")

    def adjoint(self, y: Array, xi: Sample | None = None, copy: int = 0) -> Array:
        """Return A^T y, (..., n), for y (..., p); sample and copy as for ``residual``."""
        raise NotImplementedError(f"{type(self).__name__} must define adjoint(y, xi, copy).")

    def stochastic_gradient(self, x: Array, xi: Sample | None = None) -> Array:
        """Return the mean of grad F(x, xi) over the mini-batch, (..., n); without a sample the gradient of f."""
        raise NotImplementedError(f"{type(self).__name__} must define stochastic_gradient(x, xi).")

    def matrix(self) -> tuple[Array, Array]:
        """Return the rows A (p, n) and b (p,), not to be written to; expectations where rows are sampled."""
        return self._dense()[:2]

    def _dense(self) -> tuple[Array, Array, Array]:
        """A, b and the gradients of h (m, n), computed once."""
        if self._rows is None:
            a = self.adjoint(np.eye(self.rows))
            self._rows = a, -self.residual(np.zeros(self.domain.n)), self.two_sided(a.T).T
        return self._rows

    @property
    def operator_norm(self) -> float:
        """The norm ||A||, its largest singular value."""
        a = self.matrix()[0]
        return float(np.sqrt(max(np.linalg.eigvalsh(a @ a.T)[-1], 0.0))) if self.rows else 0.0

    def two_sided(self, residual: Array) -> Array:
        """Return h (..., m) from A x - b (..., p)."""
        return np.concatenate([residual, -residual], axis=-1) if self.equations else residual

    def signed(self, y: Array) -> Array:
        """Return the multipliers (..., p) of the rows from those of h (..., m)."""
        return y[..., : self.rows] - y[..., self.rows :] if self.equations else y

    def gradient(self, x: Array, xi: Sample | None = None) -> tuple[Array, Array]:
        """Return the exact gradients (..., n) and (..., m, n); the latter is a view, not to be written to."""
        of_h = self._dense()[2]
        return self.stochastic_gradient(x), np.broadcast_to(of_h, (*x.shape[:-1], *of_h.shape))

    def metrics(
        self, x: Array, y: Array | None, value: Evaluation | None, exact: ExactValues | None = None
    ) -> dict[str, Array]:
        """Measure what every problem does, (R,), with A^T y by ``adjoint``, so that no replica has a copy of A."""
        out = super().metrics(x, None, value, exact)
        if y is not None:
            slope = self.stochastic_gradient(x) + self.adjoint(self.signed(y))
            distance = np.linalg.norm(self.domain.project(x - slope) - x, axis=-1)
            slack = np.abs((y * self.two_sided(self.residual(x))).sum(axis=-1))
            out["stationarity"] = np.maximum(np.maximum(distance, out["violation"]), slack)
        return out

    def measures(self, iterate: Iterate, sample: Any, exact: ExactValues | None = None) -> dict[str, Array]:
        """Measure an iterate, (R,): ``metrics``, and slack, centre and resets where a method has them.

        Returns
        -------
        dict of str to Array, shape (R,)
            ``normal_residual``: min ||v|| over v in grad f(x) + A^T y + N_X(x), of (x, t) where the iterate has a
            ``slack`` t <= 0 with A x - t = b, whose ||A x - t - b|| is ``residual``; ``dual_resets`` where it counts
            them; ``near_stationarity`` at its proximal centre z, or at x where it has none, if ``measure_envelope``.

        References
        ----------
        Paper salm, §1.2, "Stationary points", and (1.4).
        """
        out = super().measures(iterate, sample, exact)
        x, slack, dual = iterate.x, iterate.slack, iterate.row_dual
        if dual is None and iterate.dual is not None:
            dual = self.signed(iterate.dual)
        if dual is not None:
            slope = self.stochastic_gradient(x) + self.adjoint(dual)
            square = np.square(normal_residual(self.domain, x, slope))
            if slack is not None and slack.shape[1]:
                square = square + np.square(np.where(slack < 0.0, dual, np.minimum(dual, 0.0))).sum(axis=-1)
                out["residual"] = np.linalg.norm(self.residual(x) - slack, axis=-1)
            out["normal_residual"] = np.sqrt(square)
        if iterate.resets is not None:
            out["dual_resets"] = iterate.resets
        if self.measure_envelope:
            out["near_stationarity"] = self.near_stationarity(x if iterate.centre is None else iterate.centre)
        return out

    def near_stationarity(self, z: Array, weight: float | None = None) -> Array:
        r"""Return the norm (R,) of the Moreau envelope's gradient at z (R, n), by SLSQP: for small n.

        .. math:: \|\nabla\Psi(z)\| = \mu \|z - \bar x(z)\|, \qquad
                  \bar x(z) = \arg\min_{x \in X,\ Ax = b} f(x) + \tfrac{\mu}{2} \|x - z\|^2

        Parameters
        ----------
        weight : float, optional
            mu > L_f; default ``envelope_weight``.

        Raises
        ------
        ValueError
            Where no weight is given and L_f is not known.

        References
        ----------
        Paper salm, (1.4), (2.1) and (3.7).
        """
        weight = self.envelope_weight if weight is None else weight
        if weight is None:
            if self.constants is None:
                raise ValueError("Expected envelope_weight, since L_f is not known, got None: give a weight mu > L_f.")
            weight = max(2.0, 4.0 * self.constants.curvature)
        return weight * np.linalg.norm(z - proximal_point(self, z, weight), axis=-1)
