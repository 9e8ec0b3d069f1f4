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

from zoviz.core.types import Array, Evaluation
from zoviz.estimators.scalars import Watch
from zoviz.solvers.saddle.restoration import violation_of

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


class Window(NamedTuple):
    """The violations and objectives of a window of iterations, and of those before it.

    Attributes
    ----------
    clock : Array, shape (R,)
        Its iterations so far.
    maximum, last_maximum, overall_maximum : Array, shape (R,)
        The largest violation in the window, in the last one that had any, and so far.
    total, last_mean : Array, shape (R,)
        The sum of the objective over the window, and its mean over the last one; of use where steps are judged.
    positive : Array, shape (R, m)
        [h]_+ at the last iteration, where steps are not judged.
    roughness : Array, shape (R,)
        The sum of the squares of its changes in the window.
    """

    clock: Array
    maximum: Array
    last_maximum: Array
    overall_maximum: Array
    total: Array
    last_mean: Array
    positive: Array
    roughness: Array

    def scattered(self, values: tuple[Array, ...]) -> Window:
        """Return the same with the constraints (R, m) of further iterations, whose scatter tells noise from swings."""
        seen = np.maximum(np.array((self.positive, *values)), 0.0)
        squares, changes = seen[1:] * seen[1:], seen[1:] - seen[:-1]
        maximum = np.maximum(self.maximum, np.sqrt(squares.sum(axis=2).max(axis=0)))
        roughness = self.roughness + (changes * changes).sum(axis=(0, 2))
        return self._replace(maximum=maximum, positive=seen[-1], roughness=roughness)


class Augmentation(NamedTuple):
    """The penalties of the replicas, the shares of their steps, and what is watched of their violations.

    Attributes
    ----------
    penalty : Array, shape (R, m)
        rho; 0 where the Lagrangian is as published.
    factor : Array, shape (R,)
        kappa; 0 as long as no penalty is needed.
    share : Array, shape (R,)
        The multiple of the primal step that descent allows.
    squares : Array, shape (R, m)
        The moving average of the constraints' squared slopes.
    window : Window
    step : float
        c, the primal step as the rule chose it for gradients without variance.
    tested : bool
        Whether steps are judged: values repeat, and gradients are exact.
    pace : float
        How many times shorter steps are for the gradient's variance, and windows longer.
    until_due : int
        Iterations until a window ends where there is no penalty yet and steps are not judged; else 0.
    """

    penalty: Array
    factor: Array
    share: Array
    squares: Array
    window: Window
    step: float
    tested: bool = True
    pace: float = 1.0
    until_due: int = 0

    @property
    def acts(self) -> bool:
        """Whether there are penalties, or steps are judged, or slopes are due; else there is nothing but the watch."""
        return self.until_due <= 1

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

    def advance(
        self, waiting: np.ndarray, value: Evaluation, watch: Watch | None, pass_length: float = 1.0
    ) -> Augmentation:
        """Return the penalties for the next step, by the violation at this one's end and the slopes watched on it.

        Parameters
        ----------
        waiting : ndarray of bool, shape (R,)
            Replicas that restored feasibility in this step.
        value : Evaluation
            At its end.
        watch : Watch, optional
            Of the constraints' slopes.
        pass_length : float
            Iterations in which every variable is moved once: a window is as many times as long.
        """
        tested, factor = self.tested, self.factor
        window = self.window if tested else self.window.scattered((value.h,))
        violation = violation_of(value)
        overall = np.maximum(np.maximum(window.overall_maximum, window.maximum), violation)
        squares = self._averaged(watch, violation / np.maximum(overall, np.finfo(float).tiny))
        clock = np.where(waiting, 0.0, window.clock + 1.0)
        maximum = np.where(waiting, 0.0, np.maximum(window.maximum, violation))
        full, least = clock >= _WINDOW * pass_length * self.pace, _LARGE * overall
        if not tested:
            scatter = np.sqrt(window.roughness / (2.0 * np.maximum(clock, 1.0)))
            least = np.maximum(_NOISY_LARGE * overall, _CLEARLY * scatter)
        outside, most = maximum > least, _MOST if tested else _NOISY_MOST
        total = np.where(waiting, 0.0, window.total + value.f)
        mean = total / np.maximum(clock, 1.0)
        moves = (mean < window.last_mean) & (maximum < _NEAR * overall) & tested
        stuck = full & outside & (window.last_maximum > 0) & (maximum > _STUCK * window.last_maximum) & ~moves
        factor = np.where(stuck, np.where(factor > 0, np.minimum(_GROWTH * factor, most), _FIRST), factor)
        flattest = np.maximum(_FLATTEST * squares.max(axis=1, keepdims=True), np.finfo(float).tiny)
        rho = factor[:, None] / (self.step * np.maximum(squares, flattest))
        following = Window(
            clock=np.where(full, 0.0, clock),
            maximum=np.where(full, 0.0, maximum),
            last_maximum=np.where(full & outside, maximum, window.last_maximum),
            overall_maximum=overall,
            total=np.where(full, 0.0, total),
            last_mean=np.where(full, mean, window.last_mean),
            positive=window.positive,
            roughness=window.roughness if tested else np.where(full | waiting, 0.0, window.roughness),
        )
        return self._replace(
            penalty=np.where((full & (factor > 0))[:, None], rho, self.penalty),
            factor=factor,
            share=self.share if tested else 1.0 / (1.0 + factor),
            squares=squares,
            window=following,
        ).resting(pass_length)

    def caught_up(self, recent: tuple[Array, ...]) -> Augmentation:
        """Return the same after iterations in the middle of a window, with the constraints (R, m) at their ends."""
        window = self.window.scattered(recent)
        window = window._replace(clock=window.clock + float(len(recent)))
        return self._replace(window=window, until_due=self.until_due - len(recent))

    def resting(self, pass_length: float = 1.0) -> Augmentation:
        """Return the same with the iterations until a window ends in any replica, where nothing is due before."""
        if self.tested or self.factor.any() or self.penalty.any():
            return self._replace(until_due=0) if self.until_due else self
        left = np.ceil(_WINDOW * pass_length * self.pace - self.window.clock.max())
        return self._replace(until_due=max(int(left), 0))

    def _averaged(self, watch: Watch | None, relative_violation: Array) -> Array:
        """Return the moving average of the squared slopes (R, m), with those that a scalar has watched.

        They count the less the larger the violation, (R,) relative to the largest so far: a penalty is for slopes at
        the boundary, and those of a corner far off may be a thousand times as steep.
        Where steps are not judged it begins with a penalty: before, slopes are not watched but where others need it.
        """
        squares = None if watch is None else watch.squares
        if squares is None:
            return self.squares
        on = self.squares > 0 if self.tested else (self.squares > 0) & (self.factor > 0)[:, None]
        weight = (1.0 - _FADE) * (1.0 - relative_violation[:, None])
        return np.where(on, (1.0 - weight) * self.squares + weight * squares, squares)


def first_augmentation(
    value: Evaluation, step: float, tested: bool, variance: float, penalty: float = 0.0
) -> Augmentation:
    """Return the penalties before the first step, by the starts' values f (R,) and h (R, m); most have none yet.

    Parameters
    ----------
    value : Evaluation
    step : float
        The primal step.
    tested : bool
        Whether values and gradients are exact, so that steps can be judged.
    variance : float
        The relative one of gradients, where they are not.
    penalty : float
        rho to begin with.
    """
    zero, rows = np.zeros(len(value.f)), np.zeros_like(value.h)
    pace = 1.0 if tested else 1.0 + variance
    window = Window(zero, zero, zero, violation_of(value), zero, value.f, np.maximum(value.h, 0.0), zero)
    first = Augmentation(rows + penalty, zero, zero + 1.0, rows, window, step * pace, tested, pace)
    return first.resting()
