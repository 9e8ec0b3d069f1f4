r"""A penalty that comes in where multipliers alone do not do: the augmented Lagrangian, and a test of its descent.

Beside a solution where a constraint is not convex the Lagrangian may be least elsewhere, and have no saddle point: then
no method of descent in x and ascent in y stays there, whatever its steps. The augmented one has a saddle point there
once its penalties are large enough,

.. math:: \mathcal L_\rho(x, y) = f(x) + \textstyle\sum_i \frac{1}{2\rho_i} ([y_i + \rho_i h_i(x)]_+^2 - y_i^2), \qquad
          \nabla_x = \nabla f + \sum_i w_i \nabla h_i, \quad w = [y + \rho h]_+, \qquad
          \nabla_y = \max\{h, -y / \rho\}

with the same solutions and multipliers: a method takes w for y where it descends, max{h, -y / rho} for h and rho for
its step where it ascends. The penalty is 0, and the method the published one, until the largest violation of one window
of iterations is hardly smaller than that of the last window with any. Then, and whenever that happens again, it grows,
but for windows near the boundary in whose mean the objective is lower than in the last one's: an iterate that follows a
curved constraint leaves it a little at every step, as long as it moves, and larger penalties would hold it where it is.

.. math:: \rho_i = \kappa / (c\,\|\nabla h_i\|^2)

with c the method's step and the constraints' slopes from the probes of its gradients, so at no call and whatever
the units of the constraints. A step along an exact gradient that does not lessen the augmented Lagrangian is taken
back and shortened, as the value at its end is paid for.

Where values or gradients are noisy no step can be judged so. There steps are divided by 1 + kappa, as the penalty adds
kappa / c to the curvature that c was chosen for, with c what it would be without the gradient's relative variance;
kappa stays below the value from which the penalty outweighs whatever f curves down by; and only a violation counts that
is large beside the largest so far, and beside its scatter from one iteration to the next (von Neumann's), since noise
leaves some for ever, and a penalty on what is noise keeps iterates away from the boundary.

References
----------
Hestenes (1969), Powell (1969), Rockafellar (1973); Bertsekas (1982), Constrained Optimization and Lagrange Multiplier
Methods, §2.2, for the penalty from which there is a saddle point; Armijo (1966) for the test.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from zoviz.core.types import Array, Constants, Evaluation
from zoviz.estimators.base import DirectionalEstimator, Phi
from zoviz.estimators.scalars import Watch
from zoviz.solvers.base import Solver
from zoviz.solvers.saddle.restoration import Restoration, violation_of

_WINDOW = 25
"""Iterations in a window (this and what follows chosen by us, on the engineering designs)."""
_STUCK, _LARGE = 0.9, 1e-7
"""The share of the last window's violation from which one is hardly smaller; that of the largest so far which counts
as none."""
_NEAR = 0.01
"""The share of the largest violation so far below which an iterate is near the boundary (of 0, 0.01, 0.1 and 1, on
seeds 1, 21, 22, 31 and 32 of the designs and 24 development problems: with more a violation that the objective gains by
stays)."""
_FIRST, _GROWTH, _MOST = 0.25, 2.0, 1e6
"""The first kappa, its growth, and the largest."""
_NOISY_LARGE, _NOISY_MOST = 0.1, 4.0
"""The share of the largest violation so far from which one counts, and the largest kappa, where steps cannot be
judged: 1.5 outweighs a curvature of -L_f where c = 1.5 / L_f, 4 also where a row is 1.6 times flatter than another."""
_AT_ONCE = 6
"""Values that are looked at together; more would make a checkpoint grow."""
_CLEARLY = 5.0
"""How many times a window's largest violation must exceed the scatter from one iteration to the next: noise alone
comes to 3.5 at most, a swing of 20 iterations to 6."""
_ARMIJO, _CLEAR = 0.1, 0.4
"""Shares of the decrease that the gradient foretells: the least that is accepted, and that of a step that may grow."""
_CUT, _LONGER, _LONGEST = 0.5, 1.1, 10.0
"""A refused step is halved, one that is clearly short grows by a tenth, to ten times the rule's at most."""
_ROUND_OFF = 1e-12
"""Round-off of a value relative to its size, of several terms."""
_FADE = 0.9
"""Share of the slopes so far in their moving average."""
_FLATTEST = 1e-10
"""A constraint's squared slope counts as at least this share of the steepest one's."""


class Augmentation(NamedTuple):
    """The penalties of the replicas, the shares of their steps, and what is watched of their violations.

    Attributes
    ----------
    penalty : Array, shape (R, m)
        rho; 0 where the Lagrangian is as published.
    factor : Array, shape (R,)
        kappa; 0 as long as no penalty is needed.
    share : Array, shape (R,)
        The multiple of the primal step that descent bears.
    squares : Array, shape (R, m)
        The moving average of the constraints' squared slopes.
    clock : Array, shape (R,)
        Iterations of the present window.
    top, before, peak : Array, shape (R,)
        The largest violation in the window, in the last one that had any, and so far.
    step : float
        c, the primal step as the rule chose it for gradients without variance.
    tested : bool
        Whether steps are judged: values repeat, and gradients are exact.
    pace : float
        How many times shorter steps are for the gradient's variance, and windows longer.
    total, level : Array, shape (R,)
        The sum of the objective over the window, and its mean over the last one; of use where steps are judged.
    rest, rested : int
        Iterations until a window ends where there is no penalty yet and steps are not judged, and those that have
        passed; else 0. As long as the first is above 1 nothing ``acts``.
    positive : Array, shape (R, m)
        [h]_+ at the last iteration, where steps are not judged.
    rough : Array, shape (R,)
        The sum of the squares of its changes in the window.
    recent : tuple of Array, shape (R, m) each
        The constraints' values that ``top`` and these two do not know of yet: a few at a time are cheaper to look at.
    """

    penalty: Array
    factor: Array
    share: Array
    squares: Array
    clock: Array
    top: Array
    before: Array
    peak: Array
    step: float
    tested: bool = True
    pace: float = 1.0
    total: Array = np.zeros(())
    level: Array = np.zeros(())
    rest: int = 0
    rested: int = 0
    positive: Array = np.zeros(())
    rough: Array = np.zeros(())
    recent: tuple[Array, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether there are penalties, or steps are judged; else the method is the published one, only watched."""
        return self.rest <= 1

    def weights(self, y: Array, value: Evaluation) -> Array:
        """Return w (R, m): [y + rho h]_+, y where there is no penalty."""
        return np.where(self.penalty > 0, np.maximum(y + self.penalty * value.h, 0.0), y)

    def slope(self, y: Array, h: Array) -> Array:
        """Return the slope in y, (R, m): max{h, -y / rho}, h where there is no penalty."""
        on = self.penalty > 0
        return np.where(on, np.maximum(h, -y / np.where(on, self.penalty, 1.0)), h)

    def dual_step(self, step: float | Array, share: float = 1.0) -> Array:
        """Return the dual steps (R, m): a share of rho, the method's own where there is no penalty."""
        return np.where(self.penalty > 0, share * self.penalty, step)

    def merit(self, y: Array, value: Evaluation) -> Array:
        """Return the augmented Lagrangian (R,) of a value at multipliers y (R, m)."""
        on = self.penalty > 0
        rho = np.where(on, self.penalty, 1.0)
        terms = (np.square(np.maximum(y + rho * value.h, 0.0)) - np.square(y)) / (2.0 * rho)
        return value.f + np.where(on, terms, y * value.h).sum(axis=1)

    def judged(self, change: Array, slope: Array, size: Array, waiting: np.ndarray) -> tuple[np.ndarray, Augmentation]:
        """Return which steps are refused, (R,) of bool, and what follows for the next ones.

        Parameters
        ----------
        change, slope : Array, shape (R,)
            Of the merit over the step, and the change that its gradient foretells.
        size : Array, shape (R,)
            Of the merit, for its round-off.
        waiting : ndarray of bool, shape (R,)
            Replicas whose step is not one of descent in the merit.
        """
        refused = ~waiting & ~(change <= _ARMIJO * slope + _ROUND_OFF * np.abs(size))
        longer = np.where(change <= _CLEAR * slope, np.minimum(_LONGER * self.share, _LONGEST), self.share)
        share = np.where(refused, _CUT * self.share, np.where(waiting, self.share, longer))
        return refused, self._replace(share=share)

    def after(
        self, restoration: Restoration | None, value: Evaluation, phi: Phi, pass_length: float = 1.0
    ) -> Augmentation:
        """Return the penalties for the next step: by the violation at this one's end, and slopes watched on it.

        A window is ``pass_length`` times as long, the iterations in which every variable is moved once.
        """
        if not self.acts and (restoration is None or restoration.rest):
            rest, rested = self.rest - 1, self.rested + 1
            if len(self.recent) < _AT_ONCE - 1:
                # By position, and called in every step: _replace is three calls more.
                return Augmentation(*self[:-5], rest, rested, self.positive, self.rough, (*self.recent, value.h))
            top, positive, rough = self._looked_up(value.h)
            return self._replace(rest=rest, rested=rested, top=top, positive=positive, rough=rough, recent=())
        violation, highest, positive, rough = violation_of(value), self.top, self.positive, self.rough
        if not self.tested:
            highest, positive, rough = self._looked_up(value.h)
        waiting = waiting_of(restoration, value)
        peak = np.maximum(np.maximum(self.peak, highest), violation)
        squares = self._averaged(phi, violation / np.maximum(peak, np.finfo(float).tiny))
        clock = np.where(waiting, 0.0, self.clock + self.rested + 1.0)
        top = np.where(waiting, 0.0, np.maximum(highest, violation))
        full, least = clock >= _WINDOW * pass_length * self.pace, _LARGE * peak
        if not self.tested:
            least = np.maximum(_NOISY_LARGE * peak, _CLEARLY * np.sqrt(rough / (2.0 * np.maximum(clock, 1.0))))
        outside, most = top > least, _MOST if self.tested else _NOISY_MOST
        total = np.where(waiting, 0.0, self.total + value.f)
        mean = total / np.maximum(clock, 1.0)
        moves = (mean < self.level) & (top < _NEAR * peak) & self.tested
        stuck = full & outside & (self.before > 0) & (top > _STUCK * self.before) & ~moves
        grown = np.where(self.factor > 0, np.minimum(_GROWTH * self.factor, most), _FIRST)
        factor = np.where(stuck, grown, self.factor)
        flattest = np.maximum(_FLATTEST * squares.max(axis=1, keepdims=True), np.finfo(float).tiny)
        rho = factor[:, None] / (self.step * np.maximum(squares, flattest))
        after = self._replace(
            penalty=np.where((full & (factor > 0))[:, None], rho, self.penalty),
            factor=factor,
            share=self.share if self.tested else 1.0 / (1.0 + factor),
            squares=squares,
            clock=np.where(full, 0.0, clock),
            top=np.where(full, 0.0, top),
            before=np.where(full & outside, top, self.before),
            peak=peak,
            total=np.where(full, 0.0, total),
            level=np.where(full, mean, self.level),
            rest=0,
            rested=0,
            positive=positive,
            rough=rough if self.tested else np.where(full | waiting, 0.0, rough),
            recent=(),
        )
        return after.resting(pass_length)

    def _looked_up(self, h: Array) -> tuple[Array, Array, Array]:
        """Return top, [h]_+ and the sum of its squared changes once h (R, m) has followed the recent ones."""
        seen = np.maximum(np.array((self.positive, *self.recent, h)), 0.0)
        squares, changes = seen[1:] * seen[1:], seen[1:] - seen[:-1]
        top = np.maximum(self.top, np.sqrt(squares.sum(axis=2).max(axis=0)))
        return top, seen[-1], self.rough + (changes * changes).sum(axis=(0, 2))

    def resting(self, pass_length: float = 1.0) -> Augmentation:
        """Return the same with the iterations until a window ends in any replica, where nothing is due before."""
        if self.tested or self.factor.any() or self.penalty.any():
            return self
        return self._replace(rest=max(int(np.ceil(_WINDOW * pass_length * self.pace - self.clock.max())), 0))

    def _averaged(self, phi: Phi, relative_violation: Array) -> Array:
        """Return the moving average of the squared slopes (R, m), with those that a scalar has watched.

        They count the less the larger the violation, (R,) relative to the largest so far: a penalty is for slopes at
        the boundary, and those of a corner far off may be a thousand times as steep.
        Where steps are not judged it begins with a penalty: before, slopes are not watched but where others need it.
        """
        squares = phi.squares if isinstance(phi, Watch) else None
        if squares is None:
            return self.squares
        on = self.squares > 0 if self.tested else (self.squares > 0) & (self.factor > 0)[:, None]
        weight = (1.0 - _FADE) * (1.0 - relative_violation[:, None])
        return np.where(on, (1.0 - weight) * self.squares + weight * squares, squares)


def augmentation_parameter() -> param.Boolean:
    """Return the parameter of a solver whose Lagrangian may be augmented."""
    return param.Boolean(
        default=None,
        allow_None=True,
        label="Penalty where needed",
        doc="Augment the Lagrangian where multipliers alone do not lessen the violation. No: never, as published. "
        "Auto: by the rule, where that chooses the step.",
    )


def augmentation_of(solver: Solver, constants: Constants) -> dict[str, bool]:
    """Return whether a solver may augment: where nothing is told of f, or that it is not convex.

    Nothing is returned where the primal step is given, as in what is published, or the switch is.
    """
    if solver.get("primal_step") is not None or solver.get("augmentation") is not None:
        return {}
    return {"augmentation": constants.measured or constants.weak_convexity > 0}


def judges_steps(solver: Solver, n: int, contract: str = "deterministic") -> bool:
    """Return whether a solver judges its steps by the merit: it may augment, and values and gradients are exact.

    They are where values repeat under the noise contract, and differences are along all n coordinates.
    """
    exact = solver.estimator.coordinates_in(n) >= n
    return exact and contract == "deterministic" and bool(solver.get("augmentation"))


def first_augmentation(
    solver: Solver, value: Evaluation, tested: bool, variance: float, penalty: float = 0.0
) -> Augmentation | None:
    """Return the penalties before the first step, by the starts' values f (R,) and h (R, m); most have none yet.

    None where the Lagrangian stays as it is: where that is said, or there are no constraints. ``tested`` says whether
    values and gradients are exact, so that steps can be judged; else ``variance`` is relative, of the gradients.
    """
    if not solver.get("augmentation") or not value.h.shape[1]:
        return None
    zero, rows = np.zeros(len(value.f)), np.zeros_like(value.h)
    pace = 1.0 if tested else 1.0 + variance
    start, step = violation_of(value), float(solver.get("primal_step")) * pace
    first = Augmentation(
        rows + penalty, zero, zero + 1.0, rows, zero, zero, zero, start, step, tested, pace, total=zero, level=value.f
    )
    return first if tested else first._replace(positive=np.maximum(value.h, 0.0), rough=zero).resting()


def augmentation_of_descent(
    solver: Solver, value: Evaluation, contract: str, n: int, penalty: float = 0.0
) -> Augmentation | None:
    """Return the penalties before the first step of a method that makes one estimate an iteration, in n variables."""
    tested, variance = judges_steps(solver, n, contract), solver.relative_variance(n)
    return first_augmentation(solver, value, tested, variance, penalty)


def waiting_of(restoration: Restoration | None, value: Evaluation) -> np.ndarray:
    """Return the replicas whose methods wait for feasibility, (R,) of bool."""
    return np.zeros(len(value.f), dtype=bool) if restoration is None else restoration.mask


def watch_slopes(
    solver: Solver,
    augmentation: Augmentation | None,
    phi: Phi,
    at: tuple[Array, Evaluation],
    radius: float | None = None,
) -> Phi:
    """Return the scalar phi, with a watch on the constraints' slopes where the Lagrangian may change.

    ``at`` is the point x (R, n) of the estimate, with its value; ``radius`` is the estimator's own by default.
    """
    if augmentation is None or not augmentation.acts:
        return phi
    (x, value), estimator = at, solver.estimator
    n = x.shape[1]
    radius = estimator.smoothing_radius if radius is None else radius
    spacing = estimator.spacing(n, radius) if isinstance(estimator, DirectionalEstimator) else radius
    return Watch(phi, value.h, n, spacing)


def weights_in(augmentation: Augmentation | None, y: Array, value: Evaluation) -> Array:
    """Return the weights (R, m) of the constraints in the gradient: y, or those of the augmented Lagrangian."""
    return y if augmentation is None or not augmentation.acts else augmentation.weights(y, value)


def lengthen(augmentation: Augmentation | None, step: float | Array) -> float | Array:
    """Return a primal step, a number or (R, 1), times the share that descent bears."""
    return step if augmentation is None or not augmentation.acts else step * augmentation.share[:, None]


class Trial(NamedTuple):
    """A step along an exact gradient, to be judged.

    Attributes
    ----------
    y : Array, shape (R, m)
    before, after : tuple
        Its ends (R, n) with their values.
    gradient : Array, shape (R, n)
        Of the augmented Lagrangian, and of what the method adds to it.
    phi : callable
        The scalar that was estimated, with its watch.
    restoration : Restoration or None
        What was to be done when the step was made.
    added : Array, shape (R,)
        The change over the step of what the method adds.
    """

    y: Array
    before: tuple[Array, Evaluation]
    after: tuple[Array, Evaluation]
    gradient: Array
    phi: Phi
    restoration: Restoration | None
    added: Array | float = 0.0


class StepEnd(NamedTuple):
    """The end of a step with penalties: points (R, n), values, steps taken back (R,) or None, the next penalties."""

    x: Array
    value: Evaluation
    refused: np.ndarray | None
    augmentation: Augmentation


def descend(augmentation: Augmentation, trial: Trial) -> StepEnd:
    """Return where a step ends: at its start where it is seen that the augmented Lagrangian does not descend."""
    (x, value), (x_next, value_next) = trial.before, trial.after
    if not augmentation.tested:
        return StepEnd(x_next, value_next, None, augmentation.after(trial.restoration, value_next, trial.phi))
    merit = augmentation.merit(trial.y, value)
    change = augmentation.merit(trial.y, value_next) - merit + trial.added
    slope = (trial.gradient * (x_next - x)).sum(axis=1)
    refused, augmentation = augmentation.judged(change, slope, merit, waiting_of(trial.restoration, value))
    if refused.any():
        x_next = np.where(refused[:, None], x, x_next)
        value_next = value.where(refused, value_next)
    return StepEnd(x_next, value_next, refused, augmentation.after(trial.restoration, value_next, trial.phi))


def ascend(
    augmentation: Augmentation | None,
    y: Array,
    h: Array,
    step: float,
    refused: np.ndarray | None = None,
    share: float = 1.0,
) -> Array:
    """Return y (R, m) after an ascent along h (R, m) by ``step`` or a share of the penalty, not yet in its bounds.

    Replicas whose primal step was ``refused``, (R,), keep theirs.
    """
    if augmentation is None or not augmentation.acts:
        return y + step * h
    change = augmentation.dual_step(step, share) * augmentation.slope(y, h)
    return y + (change if refused is None else np.where(refused[:, None], 0.0, change))
