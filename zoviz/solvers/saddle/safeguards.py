"""What guards a method on the Lagrangian, stacked on its step: feasibility first, penalties, shortened steps.

A method's step reads as its paper's algorithm. It asks a ``Safeguards`` object for what it needs of a guarded one: the
scalar whose gradient is estimated, the projected primal step, the ascent of the multipliers. Where no safeguard acts
these are the paper's, to the bit: f + <y, h>, Pi_X(x - c g), Pi_[0, B](y + alpha h).

Most steps are such. They only add the constraints' values to ``recent``: what watches them looks at several at once,
when a window ends, as looking in each step would take a tenth of the smallest ones.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.types import Array, Evaluation
from zoviz.estimators.base import DirectionalEstimator, Phi
from zoviz.estimators.scalars import Lagrangian, Watch
from zoviz.oracle import ProblemOracle
from zoviz.solvers.saddle.augmentation import Augmentation
from zoviz.solvers.saddle.restoration import Restoration, ViolationWhereRestoring
from zoviz.solvers.theory import Info

_MOST_QUIET = 20
"""Values that are looked at together at most; more would make a checkpoint grow."""
_NEGLIGIBLE = 1e-12


class SafeguardState(NamedTuple):
    """The state of the safeguards between two steps.

    Attributes
    ----------
    restoration : Restoration or None
        Which replicas still seek a feasible point; None where none ever does.
    augmentation : Augmentation or None
        The penalties; None where the Lagrangian stays as it is.
    quiet : int
        The coming steps in which neither acts nor is due.
    recent : tuple of two tuples of Array, shape (R, m) each
        The constraints' values that restoration, and augmentation, do not know of yet.
    """

    restoration: Restoration | None = None
    augmentation: Augmentation | None = None
    quiet: int = 0
    recent: tuple[tuple[Array, ...], tuple[Array, ...]] = ((), ())

    @classmethod
    def of(
        cls,
        restoration: Restoration | None,
        augmentation: Augmentation | None,
        recent: tuple[tuple[Array, ...], tuple[Array, ...]] = ((), ()),
    ) -> SafeguardState:
        """Return the state with the steps that both leave alone; 0 where there is none of them."""
        left = [_MOST_QUIET]
        if restoration is not None:
            left.append(restoration.until_due - len(recent[0]))
        if augmentation is not None:
            left += [augmentation.until_due - len(recent[1]), _MOST_QUIET - len(recent[1])]
        return cls(restoration, augmentation, max(min(left) - 1, 0) if len(left) > 1 else 0, recent)


class Safeguards:
    """The safeguards of a method during one step.

    Parameters
    ----------
    method : SaddleMethod
        For its estimator, its bound on multipliers and its reach.
    state : NamedTuple
        The method's state before the step, with ``x``, ``y``, ``value`` and ``safeguards``.
    oracle : ProblemOracle

    Attributes
    ----------
    state : SafeguardState
        What is carried to the next step, once this one's end is known.
    restoring : Restoration or None
        Where a replica restores feasibility in this step.
    penalties : Augmentation or None
        Where they act: those of the step's start until its end is known, then those of its end.
    refused : ndarray of bool, shape (R, 1), or None
        The replicas whose step along an exact gradient was taken back, once that is known.
    """

    # Most steps leave these as they are.
    restoring: Restoration | None = None
    penalties: Augmentation | None = None
    refused: np.ndarray | None = None
    _watch: Watch | None = None
    _due: tuple[Restoration | None, Augmentation | None] = (None, None)

    def __init__(self, method: Any, state: Any, oracle: ProblemOracle) -> None:
        self.method, self.oracle, self.x, self.value = method, oracle, state.x, state.value
        self.y = self._dual = state.y
        self.state: SafeguardState = state.safeguards
        if self.state.quiet:
            return
        restoration, augmentation, _, (unseen, unread) = self.state
        if restoration is not None and restoration.until_due - len(unseen) <= 1:
            restoration = restoration.caught_up(unseen) if unseen else restoration
            self.restoring = restoration if restoration.active else None
            self._due = restoration, None
        # Windows of penalties begin anew while a replica restores feasibility.
        if augmentation is not None and (augmentation.until_due - len(unread) <= 1 or self.restoring is not None):
            augmentation = augmentation.caught_up(unread) if unread else augmentation
            self.penalties = augmentation if augmentation.acts else None
            self._due = self._due[0], augmentation

    # --- what is estimated --------------------------------------------------------------------------------------------

    def lagrangian(self, y: Array, value: Evaluation, radius: float | None = None) -> Phi:
        """Return f + <y, h>, to be estimated at a point of a value: with a penalty w = [y + rho h]_+ for y."""
        if self.restoring is None and self.penalties is None:
            self._dual = y
            return Lagrangian(y)
        return self.scalar(self.weights(y, value), value, radius=radius)

    def weights(self, y: Array, value: Evaluation) -> Array:
        """Return the constraints' weights (R, m) in the Lagrangian's gradient at a value: y, or [y + rho h]_+."""
        return y if self.penalties is None else self.penalties.weights(y, value)

    def penalty(self, published: Array) -> Array:
        """Return the penalties rho (R, m) of a method that has one anyway, (R,): from its own, they grow as needed."""
        return published[:, None] if self.penalties is None else self.penalties.penalty

    def scalar(self, w: Array, value: Evaluation, phi: Phi | None = None, radius: float | None = None) -> Phi:
        """Return f + <w, h>, or another scalar phi, to be estimated where a value is; the violation while restoring.

        Constraints' slopes are watched at the step's first point, where penalties may need them; ``radius`` is the
        estimator's own by default.
        """
        self._dual = w
        if self.restoring is not None:
            self._dual = np.where(self.restoring.mask[:, None], np.nan, w)
            phi = ViolationWhereRestoring(self.restoring, w, value, phi)
        elif phi is None:
            phi = Lagrangian(w)
        if self.penalties is not None and self._watch is None:
            estimator, n = self.method.estimator, self.oracle.n
            radius = estimator.smoothing_radius if radius is None else radius
            spacing = estimator.spacing(n, radius) if isinstance(estimator, DirectionalEstimator) else radius
            phi = self._watch = Watch(phi, value.h, n, spacing)
        return phi

    def info(self, variance: Array, radius: float | None = None, added: Array | None = None) -> Info:
        """Return the facts about the estimate at x of the scalar; multipliers are NaN where that was the violation."""
        radius = self.method.estimator.smoothing_radius if radius is None else radius
        return Info(variance, self.x, self._dual, radius, added)

    # --- the primal step ----------------------------------------------------------------------------------------------

    def shortened(self, step: float | Array, y: Array) -> float | Array:
        """Return the primal step for multipliers y (R, m), a number or (R, 1): constant where they are moderate."""
        step = shortened_for_multipliers(step, self.method.step_reach, y)
        return step if self.penalties is None else self.scaled_by_share(step)

    def scaled_by_share(self, step: float | Array) -> float | Array:
        """Return the primal step times the share of it that descent allows."""
        return step if self.penalties is None else step * self.penalties.share[:, None]

    def descend(
        self, x: Array, step: float | Array, gradient: Array, proximal: tuple[Array, float] | None = None
    ) -> tuple[Array, Evaluation]:
        """Return Pi_X(x - step gradient) (R, n) with its value, under the next sample; x where that is taken back.

        ``proximal`` has the centre z and the weight p of p / 2 ||x - z||^2, where the method adds that.
        """
        x_next = self.projected_step(x, step, gradient)
        self.oracle.resample()
        return self.keep_or_take_back(x_next, self.oracle(x_next), gradient, proximal)

    def projected_step(self, x: Array, step: float | Array, gradient: Array, value: Evaluation | None = None) -> Array:
        """Return Pi_X(x - step gradient) (R, n); Polyak's step for the violation at a value while restoring."""
        domain = self.oracle.domain
        if self.restoring is None:
            return domain.project(x - step * gradient)
        return self.restoring.projected_step(x, step, gradient, self.value if value is None else value, domain)

    def where_restoring(self, restoring: Array, otherwise: Array) -> Array:
        """Return one array (R, n) in the replicas that restore feasibility, another in the rest."""
        return otherwise if self.restoring is None else np.where(self.restoring.mask[:, None], restoring, otherwise)

    def keep_or_take_back(
        self,
        x_next: Array,
        value_next: Evaluation,
        gradient: Array | None = None,
        proximal: tuple[Array, float] | None = None,
    ) -> tuple[Array, Evaluation]:
        """Return where the step from x ends, with the value there: at x where it made things worse that are judged.

        Those are the violation while restoring and, for a step along an exact ``gradient``, the augmented Lagrangian
        with what the method adds to it.
        """
        restoration, augmentation, quiet, (unseen, unread) = self.state
        if restoration is None and augmentation is None:
            return x_next, value_next
        if quiet:
            recent = (*unseen, value_next.h), (*unread, value_next.h)
            self.state = SafeguardState(restoration, augmentation, quiet - 1, recent)
            return x_next, value_next
        waiting = np.zeros(len(x_next), dtype=bool) if restoration is None else restoration.mask
        due, acting = self._due
        if due is not None:
            before, after = (self.x, self.value), (x_next, value_next)
            (x_next, value_next, restoration), unseen = due.keep_or_take_back(before, after), ()
        else:
            unseen = () if restoration is None else (*unseen, value_next.h)
        if acting is not None:
            if gradient is not None and acting.tested:
                x_next, value_next, acting = self._judged(acting, x_next, value_next, gradient, proximal, waiting)
            passed = self.method.pass_length(self.oracle.n)
            augmentation, unread = acting.advance(waiting, value_next, self._watch, passed), ()
            self.penalties = augmentation if augmentation.acts else None
        elif augmentation is not None:
            unread = (*unread, value_next.h)
            if len(unread) >= _MOST_QUIET:
                augmentation, unread = augmentation.caught_up(unread), ()
        else:
            unread = ()
        self.state = SafeguardState.of(restoration, augmentation, (unseen, unread))
        return x_next, value_next

    def _judged(
        self,
        augmentation: Augmentation,
        x_next: Array,
        value_next: Evaluation,
        gradient: Array,
        proximal: tuple[Array, float] | None,
        waiting: np.ndarray,
    ) -> tuple[Array, Evaluation, Augmentation]:
        """Return where a step along an exact gradient ends, its value, and penalties with the next steps' shares."""
        change = augmentation.merit(self.y, value_next) - (merit := augmentation.merit(self.y, self.value))
        if proximal is not None:
            z, p = proximal
            change = change + 0.5 * p * (np.square(x_next - z) - np.square(self.x - z)).sum(axis=1)
        slope = (gradient * (x_next - self.x)).sum(axis=1)
        refused, augmentation = augmentation.judged(change, slope, merit, waiting)
        self.refused = refused[:, None]
        if refused.any():
            x_next, value_next = np.where(self.refused, self.x, x_next), self.value.where(refused, value_next)
        return x_next, value_next, augmentation

    # --- the dual step ------------------------------------------------------------------------------------------------

    def ascend(self, y: Array, step: float | Array, slope: Array, share: float = 1.0) -> Array:
        """Return Pi_[0, B](y + step slope) (R, m); under a penalty with max{slope, -y / rho}, a share of rho as step.

        Replicas whose primal step was taken back, or which restore feasibility, keep theirs.
        """
        if self.penalties is None:
            return self.bounded(y, y + step * slope)
        change = self.dual_step(step, share) * self.slope(y, slope)
        return self.bounded(y, y + (change if self.refused is None else np.where(self.refused, 0.0, change)))

    def slope(self, y: Array, h: Array) -> Array:
        """Return the slope (R, m) in y: h, or max{h, -y / rho} under a penalty."""
        return h if self.penalties is None else self.penalties.slope(y, h)

    def dual_step(self, step: float | Array, share: float) -> float | Array:
        """Return the dual step, or (R, m) of them: a share of rho under a penalty."""
        return step if self.penalties is None else self.penalties.dual_step(step, share)

    def bounded(self, y: Array, y_next: Array) -> Array:
        """Return Pi_[0, B](y_next) (R, m), the multipliers y where a replica restores feasibility."""
        y_next = np.minimum(np.maximum(y_next, 0.0), self.method.dual_cap)
        return y_next if self.restoring is None else self.restoring.duals(y, y_next)


def shortened_for_multipliers(step: float | Array, reach: float | None, y: Array) -> float | Array:
    r"""Return a primal step that is shortened as multipliers y (R, m) grow beyond the reach w, (R, 1).

    .. math:: c_t = c \min\{1, w / \|y_t\|\}

    keeps c_t (L_f + ||y_t|| L_h) below c (L_f + w L_h): a step that is fixed for moderate multipliers is too long for
    larger ones, and the iterates that it throws out make them grow for ever. The step itself where the reach is open,
    or no multiplier comes near it.
    """
    if reach is None or math.sqrt(np.vdot(y, y)) < reach:  # the norm of all replicas' together
        return step
    size = np.sqrt(np.square(y).sum(axis=1, keepdims=True))
    return step * np.minimum(1.0, reach / np.maximum(size, _NEGLIGIBLE))
