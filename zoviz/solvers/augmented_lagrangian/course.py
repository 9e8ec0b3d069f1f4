"""The iteration of AL-SPG for one replica, as a loop that asks for values."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.ranking import best_of, is_feasible
from zoviz.core.types import Array
from zoviz.solvers.augmented_lagrangian.constants import STANDARD, ALConstants
from zoviz.solvers.augmented_lagrangian.noise_rules import difference_lengths, larger_batch, widened
from zoviz.solvers.augmented_lagrangian.spectral_direction import spectral_direction
from zoviz.solvers.batches import ANEW
from zoviz.solvers.differences import CENTRAL, FORWARD, hidden, rounding
from zoviz.solvers.equilibration import equilibrate
from zoviz.solvers.restart_rules import FAR, NEAR, in_box, longest_run, moved, unit_lengths

Asks = Generator[Any, Any, Any]


class Task(NamedTuple):
    """What stays the same: the box (n,), the largest h that is feasible (m,), ``Oracle.quantum``, and constants."""

    lower: Array
    upper: Array
    tolerance: Array
    quantum: Callable[[Array, bool], Array]
    constants: ALConstants = STANDARD


class StepSettings(NamedTuple):
    """What a replica's step depends on: the noise contract, the calls left, and the parameters of ``ALSPG``."""

    contract: str
    left: float
    growth: float
    window: int
    memory: int
    restarts: bool
    elsewhere: float


@dataclass
class ALRun:
    """The memory of one replica of AL-SPG.

    Values are f and h_1 to h_m in one array; y and the penalty are in equilibrated units.

    Attributes
    ----------
    x, value : Array, shapes (n,) and (m + 1,)
        The iterate and its values.
    best_x, best : Array, shapes (n,) and (m + 1,)
    start : Array, shape (n,)
    seed : int
    noise : Array, shape (m + 1,)
        Standard deviations of the values; empty until repeats of the start have told them.
    y : Array, shape (m,)
    length, size : Array, shapes (n,) and (m + 1,)
        The ``Scales`` of variables and functions.
    points, values, slopes : Array, shapes (k, n), (k, m + 1) and (k, m + 1, n)
        The last iterates, this one last.
    radius : Array, shape (n,)
        Lengths of the differences, under noise.
    repeats : float
        Calls that ``value`` is the mean of.
    penalty : float
    weight : float
        1, or 0 while feasibility alone is sought.
    unit : float
        The first length, in equilibrated units: the distance to what h asks for.
    reach : float
        Largest component of a step, in equilibrated units.
    tolerance, progress, inner, outer, used
        The state of the outer iteration: the decrement that counts as solved, the last complementarity, steps since the
        multipliers moved, times that they did, and calls since the restart.
    central : bool
        Whether differences are central.
    batch : int
        Calls on each side of a difference.
    restart : int
    blind : bool
        Whether values are rounded so coarsely that they hardly changed over differences of the first run.
    """

    x: Array
    value: Array
    best_x: Array
    best: Array
    start: Array
    seed: int
    noise: Array
    y: Array
    length: Array
    size: Array
    points: Array
    values: Array
    slopes: Array
    radius: Array
    repeats: float = 1.0
    penalty: float = 1.0
    weight: float = 1.0
    unit: float = 1.0
    reach: float = 0.0
    tolerance: float = 1.0
    progress: float = np.inf
    inner: int = 0
    outer: int = 0
    used: int = 0
    central: bool = False
    batch: int = 1
    restart: int = 0
    blind: bool = False

    @classmethod
    def begin(cls, x: Array, value: Array, seed: int, noisy: bool) -> ALRun:
        """Return the memory at a start x (n,) with values (m + 1,)."""
        n, q = len(x), len(value)
        noise = np.empty(0) if noisy else np.zeros(q)
        windows = np.empty((0, n)), np.empty((0, q)), np.empty((0, q, n))
        return cls(x, value, x, value, x, seed, noise, np.zeros(q - 1), np.ones(n), np.ones(q), *windows, np.zeros(n))

    def loop(self, task: Task) -> Asks:
        """Ask for values: of repeats, under independent noise, then of sweeps of differences and of line searches."""
        if not len(self.noise):
            repeats = np.repeat(self.x[None], task.constants.repeats, axis=0)
            values, _ = yield from self._call("repeats", repeats, task)
            self._learn_noise(values, task.constants)
        free = np.flatnonzero(task.lower < task.upper)
        going = bool(len(free))
        while going:
            settings = yield from self._sweep(free, task)
            over, settings = yield from self._advance(settings, task)
            if over:
                going = yield from self._restart(settings, task)

    def _advance(self, settings: StepSettings, task: Task) -> Asks:
        """Take a step by a line search, after moving the multipliers where none is worth it.

        Returns whether the run is over, and the settings after the last step.
        """
        c = task.constants
        while True:
            move, decrement = self._direction(settings, task)
            solved = not decrement > self.tolerance * self.unit
            if solved or self.inner >= c.inner:
                over = self._move_multipliers(solved, settings, task)
                if over or self.is_noisy:  # under noise the same values again would move nothing
                    return over, settings
                continue
            accepted, settings = yield from self._line_search(move, -decrement, settings, task)
            if accepted:
                unbounded = float(self._lagrangian(self.value)) < -c.unbounded * self.unit
                self.penalty *= settings.growth if unbounded else 1.0
                return unbounded, settings
            if not self.central:  # the slopes are too crude: once more, with better ones
                self.central = True
                self._forget(None, 1)
                return False, settings
            if self._move_multipliers(True, settings, task):
                return True, settings

    @property
    def is_noisy(self) -> bool:
        """Whether repeats of the start differed."""
        return bool(self.noise.any())

    @property
    def multipliers(self) -> Array:
        """The multipliers y (m,) in the units of f and h, not in equilibrated ones."""
        return self.y * (self.size[0] / self.size[1:])

    def _call(self, purpose: str, points: Array, task: Task, first: Any = None) -> Asks:
        """Ask for the values at points (q, n), n + 1 at a step; return these, and the settings after the last step.

        Under common noise the iterate comes first with differences and trials, as values compare within one batch
        alone. An iteration begins where ``first`` says so.
        """
        own = 0
        answers: list[Array] = []
        while len(points):
            settings = yield first
            if not answers and settings.contract == "common" and purpose in ("differences", "trial"):
                points, own = np.concatenate([self.x[None], points]), 1
            part, points, first = points[: len(self.x) + 1], points[len(self.x) + 1 :], None
            values = yield purpose, part
            self.best_x, self.best = best_of(self.best_x, self.best, part, values, task.tolerance)
            self.used += len(part)
            answers.append(values)
            settings = settings._replace(left=settings.left - len(part))
        whole = np.concatenate(answers)
        if own:
            self.value = whole[0] if np.isfinite(whole[0]).all() else self.value
            self.values = self.values.copy()
            self.values[-1:] = self.value
        return whole[own:], settings

    def _learn_noise(self, answers: Array, c: ALConstants) -> None:
        """Estimate the noise from the repeats of the start."""
        values = np.concatenate([self.value[None], answers])
        values = values[np.isfinite(values).all(axis=1)]
        self.noise = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros_like(self.value)
        self.value, self.repeats, self.central = values.mean(axis=0), float(len(values)), self.is_noisy
        self.radius = difference_lengths(self.x, self.noise, c)

    def _sweep(self, free: np.ndarray, task: Task) -> Asks:
        """Ask for differences, forward ones, or central ones where they are to be accurate or values are noisy.

        They give the slopes at x; at a new start, these set the scales.
        """
        x, n, k = self.x, len(self.x), len(free)
        relative = np.maximum(1.0, np.abs(x)) * (CENTRAL if self.central else FORWARD)
        lengths = self.radius if self.is_noisy else relative
        ahead, behind = np.minimum(x + lengths, task.upper), np.maximum(x - lengths, task.lower)
        if not self.central:
            ahead = np.where(task.upper - x >= x - task.lower, ahead, np.where(ahead - x < lengths, behind, ahead))
        probes, others = np.repeat(x[None], k, axis=0), np.repeat(x[None], k, axis=0)
        probes[np.arange(k), free], others[np.arange(k), free] = ahead[free], behind[free]
        both = np.tile(np.concatenate([probes, others]), (self.batch, 1))
        answers, settings = yield from self._call("differences", both if self.central else probes, task, ANEW)
        slopes, bends = np.zeros((len(self.value), n)), np.zeros((len(self.value), n))
        if self.central:
            sides = _mean(answers.reshape(self.batch, 2, k, -1))
            slopes[:, free] = ((sides[0] - sides[1]) / (ahead[free] - behind[free])[:, None]).T
            bends[:, free] = (sides[0] + sides[1] - 2.0 * self.value).T
        else:
            slopes[:, free] = ((answers - self.value) / (ahead[free] - x[free])[:, None]).T
            if not self.restart:
                steps = rounding(np.concatenate([self.values, self.value[None]]), answers, task.quantum)
                self.blind = bool(hidden(self.value, answers, steps).any())
        self._learn_slopes(
            np.where(np.isfinite(slopes), slopes, 0.0), settings, task.constants
        )  # a failed probe leaves its variable
        if self.is_noisy:
            self._learn_lengths(bends, settings, task)
        return settings

    def _learn_slopes(self, slopes: Array, settings: StepSettings, c: ALConstants) -> None:
        """Take x with its slopes (m + 1, n) into the memory."""
        if not len(self.points):
            self._set_scales(slopes, c)
        elif np.array_equal(self.points[-1], self.x):  # seen again, by better differences
            self._forget(-1)
        self.points = np.concatenate([self.points, self.x[None]])
        self.values = np.concatenate([self.values, self.value[None]])
        self.slopes = np.concatenate([self.slopes, slopes[None]])
        self._forget(None, max(settings.memory, 1) + 1)

    def _learn_lengths(self, bends: Array, settings: StepSettings, task: Task) -> None:
        """Set difference lengths and batch of the next sweep by second differences (m + 1, n) and the noise."""
        weights = np.append(self.weight, self._weights(self.value)) / self.size
        noise = float(np.sqrt(np.square(weights * self.noise).sum()))
        self.radius = widened(
            self.radius, weights @ np.nan_to_num(bends), noise, task.lower, task.upper, task.constants
        )
        gradient, size = self._gradients()[-1], noise * self.size[0]
        self.batch = larger_batch(self.batch, gradient, self.length, self.radius, size, settings.left, task.constants)

    def _forget(self, stop: int | None, most: int = 10**9) -> None:
        """Cut the memory: keep the entries up to ``stop``, and of these the newest ``most``."""
        part = slice(max(len(self.points) - most, 0), stop)
        self.points, self.values, self.slopes = self.points[part], self.values[part], self.slopes[part]

    def _set_scales(self, slopes: Array, c: ALConstants) -> None:
        """Set scales, first length, penalty and reach by the slopes (m + 1, n) at a start."""
        self.length, self.size = equilibrate(slopes)
        h = self.value[1:] / self.size[1:]
        first = c.first_move * float(np.min(np.maximum(1.0, np.abs(self.x)) / self.length, initial=np.inf))
        middle = float(np.median(np.abs(h))) if h.size else 0.0
        self.unit = unit = float(np.max(h, initial=0.0)) or middle or first / c.first_move
        self.penalty, self.y = c.penalty_share / unit, np.zeros_like(h)
        self.reach = min(max(first, 0.1 * unit), 10.0 * unit)
        self.tolerance, self.progress, self.inner, self.outer = c.first_tolerance, np.inf, 0, 0

    def _weights(self, value: Array) -> Array:
        """Return [y + beta h]_+ (..., m) at values (..., m + 1), in equilibrated units."""
        return np.maximum(self.y + self.penalty * (value[..., 1:] / self.size[1:]), 0.0)

    def _lagrangian(self, value: Array) -> Array:
        """Return the augmented Lagrangian (...) of values (..., m + 1), in equilibrated units."""
        squares = np.square(self._weights(value)) - np.square(self.y)
        return self.weight * value[..., 0] / self.size[0] + squares.sum(axis=-1) / (2.0 * self.penalty)

    def _gradients(self) -> Array:
        """Return the augmented Lagrangian's gradients (k, n) at the points of the memory, for present y and penalty.

        From the Jacobians, so that a pair of points tells the curvature also where the multipliers moved between them.
        """
        weights = np.concatenate([np.full((len(self.values), 1), self.weight), self._weights(self.values)], axis=1)
        return np.einsum("kj,kji->ki", weights / self.size, self.slopes) * self.length

    def _direction(self, settings: StepSettings, task: Task) -> tuple[Array, float]:
        """Return a feasible direction (n,) at x and its Newton decrement, minus its slope."""
        gradients = self._gradients()
        move = spectral_direction(
            self.points / self.length,
            gradients,
            task.lower / self.length,
            task.upper / self.length,
            self.reach / max(np.abs(gradients[-1]).max(initial=0.0), 1e-300),
            self.reach,
            0 if self.is_noisy else settings.memory,
        )
        return move * self.length, -float(gradients[-1] @ move)

    def _line_search(self, move: Array, slope: float, settings: StepSettings, task: Task) -> Asks:
        """Ask for trials along a direction (n,) until one lowers the augmented Lagrangian enough, and go there.

        Returns whether there is one, and the settings after the last step.
        """
        c, t = task.constants, 1.0
        while True:
            point = np.minimum(np.maximum(self.x + t * move, task.lower), task.upper)
            calls = max(1, self.batch * len(point) // 2) if self.is_noisy else 1
            answers, settings = yield from self._call("trial", np.repeat(point[None], calls, axis=0), task)
            good = np.isfinite(answers).all(axis=1)
            value = answers[good].mean(axis=0) if good.any() else np.full_like(self.value, np.nan)
            now, ahead = float(self._lagrangian(self.value)), float(self._lagrangian(value))
            recent = 1 if settings.contract != "deterministic" else 1 + min(self.inner, settings.window)
            reference = float(self._lagrangian(self.values[-recent:]).max())
            weights = np.append(self.weight, self._weights(self.value)) / self.size
            count = max(good.sum(), 1)
            noise = np.sqrt(np.square(weights * self.noise).sum() * (1.0 / self.repeats + 1.0 / count))
            if ahead <= reference + c.decrease * t * slope + 2.0 * noise:  # NaN is not
                size = float(np.abs(t * move / self.length).max())
                self.reach = max(self.reach, c.wider * size) if t == 1.0 else max(c.wider * size, 0.1 * self.reach)
                self.x, self.value, self.repeats, self.inner = point, value, float(count), self.inner + 1
                return True, settings
            best = -slope * t * t / (2.0 * (ahead - now - t * slope)) if np.isfinite(ahead) else 0.0
            t = min(max(best, 0.1 * t), 0.5 * t)
            if not (t > c.shortest and (-slope * t > 1e-16 * abs(now) or self.is_noisy)):
                return False, settings

    def _move_multipliers(self, solved: bool, settings: StepSettings, task: Task) -> bool:
        """Move the multipliers, raise the penalty where they do not help, and return whether the run is over."""
        c, h = task.constants, self.value[1:] / self.size[1:]
        gap = float(np.abs(np.maximum(h, -self.y / self.penalty)).max(initial=0.0)) if h.size else 0.0
        feasible = bool(is_feasible(self.value[1:], task.tolerance))
        y = np.minimum(np.maximum(self.y + self.penalty * h, 0.0), c.largest_multiplier)
        at_end = self.tolerance <= c.last_tolerance
        over = (at_end and (gap <= 1e-12 * self.unit or self.outer > 40)) or self.penalty > c.largest_penalty
        over |= not h.size and at_end
        over |= self.used > longest_run(len(self.x))
        over |= self.weight == 0.0 and feasible
        self.y = y if self.weight else np.zeros_like(y)
        self.penalty *= settings.growth if gap > 0.5 * self.progress and solved and not feasible else 1.0
        self.progress, self.inner, self.outer = gap, 0, self.outer + 1
        self.tolerance = max(self.tolerance * c.tighter, c.last_tolerance)
        return over and not self.is_noisy

    def _restart(self, settings: StepSettings, task: Task) -> Asks:
        """Begin another run, at the point that the present one led to or elsewhere; return False where none begins."""
        while True:
            after_restoration = self.weight == 0.0 and bool(is_feasible(self.value[1:], task.tolerance))
            x, self.weight = self.x, 1.0
            if not after_restoration:
                if self.restart and not settings.restarts:
                    return False
                alone = not is_feasible(self.best[1:], task.tolerance) and self.restart % 2 == 0
                x = self._next_start(settings, task, at_best=alone)
                self.weight, self.restart = 0.0 if alone else 1.0, self.restart + 1
            self._forget(0)
            self.used, self.central = 0, after_restoration or self.central
            answers, settings = yield from self._call("start", x[None], task)
            if np.isfinite(answers).all():
                self.x, self.value, self.repeats = x, answers[0], 1.0
                return True

    def _next_start(self, settings: StepSettings, task: Task, at_best: bool) -> Array:
        """Return the start (n,) of the next run: the best point, once, then points near it and elsewhere in turn.

        A replica's numbers follow from its seed and the number of the restart alone.
        """
        if at_best or self.restart == 0:  # once more by central differences, which see what is left to gain
            return self.best_x
        rng, n = np.random.default_rng([self.seed, self.restart]), len(self.x)
        share, power, normal = rng.uniform(), rng.uniform(), rng.standard_normal(n)
        unit = unit_lengths(task.lower, task.upper, self.start)
        if share >= settings.elsewhere:
            step = unit * 10.0 ** (NEAR[0] + power * (NEAR[1] - NEAR[0])) * normal
            return moved(task.lower, task.upper, self.best_x, step)
        step = unit * 10.0 ** (FAR[0] + power * (FAR[1] - FAR[0])) * normal
        x = moved(task.lower, task.upper, self.start, step)
        return in_box(task.lower, task.upper, unit, rng.uniform(size=n), x) if self.restart % 2 else x


def _mean(values: Array) -> Array:
    """Return the mean over the first axis of what is finite; NaN where nothing is."""
    good = np.isfinite(values)
    number = good.sum(axis=0)
    return np.where(number, np.where(good, values, 0.0).sum(axis=0) / np.maximum(number, 1), np.nan)
