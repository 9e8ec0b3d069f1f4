"""A microscope for gradient estimators: bias, variance and error at a point over a grid of smoothing radii."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import param
from scipy.optimize import nnls

from zoviz.core.configurable import Configurable
from zoviz.core.errors import ZovizError
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.threads.arithmetic import silent_arithmetic
from zoviz.core.types import Array
from zoviz.core.units import Units
from zoviz.diagnosis.measured_slopes import cost, slopes
from zoviz.diagnosis.observed_run import refuse_other_forms
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, Sphere
from zoviz.estimators.scalars import Lagrangian
from zoviz.oracle import Oracle, Purpose
from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.solvers.measured_constants import typical_width

BATCHES = 16
"""Estimates that are made at once, and at least, of a family at a radius; calls that tell a black box's noise."""
ENOUGH = 4
"""Batches before which no standard error is relied on, where the budget covers them."""
FINE = 400
"""Radii at which a fitted or predicted error is compared."""
REPEATS = 4
"""Times that the points of a measured gradient are asked for, under noise."""
FLAT = 1.1
"""Times the least error that a radius may have where smaller ones are no better."""


class Spot(NamedTuple):
    """Where a microscope measures, in the units in which estimators work.

    Attributes
    ----------
    x : Array, shape (n,)
    y : Array, shape (m,)
        Multipliers: the gradient is that of f + <y, h>.
    units : Units or None
        How ``x``, ``y`` and radii become the user's; None where they are the user's.
    """

    x: Array
    y: Array
    units: Units | None = None


class Curve(NamedTuple):
    """The errors of one family of estimators over the radii, all but ``title`` and the radii of choice (G,).

    Attributes
    ----------
    title : str
    radii : Array
    batches : ndarray of int
        Estimates that the figures are made of.
    bias_square, bias_error : Array
        ||E g - grad||^2 without the share of noise in the mean, and its standard error; may be below 0 where noise
        hides it: then ``bias_ceiling`` is all that is known.
    variance, variance_error : Array
        The trace of the estimate's covariance.
    error, error_error : Array
        The mean squared error, their sum.
    predicted_variance : Array
        What theory says of the variance as r goes to 0, noise included.
    bias_bound : Array
        A bound on the bias, squared; NaN where the curvature is unknown.
    radius, predicted_radius : float
        With the least measured error, by a fit of a + b r^2 + c r^4 + d / r^2 to all radii; and the one of theory, NaN
        where the curvature is unknown.
    """

    title: str
    radii: Array
    batches: np.ndarray
    bias_square: Array
    bias_error: Array
    variance: Array
    variance_error: Array
    error: Array
    error_error: Array
    predicted_variance: Array
    bias_bound: Array
    radius: float
    predicted_radius: float

    @property
    def bias_hidden(self) -> np.ndarray:
        """Where the bias does not differ clearly from 0, (G,) of bool."""
        return np.asarray(self.bias_square < 2.0 * self.bias_error)

    @property
    def bias_ceiling(self) -> Array:
        """What the squared bias is below, with 95 % (G,)."""
        return np.maximum(self.bias_square, 0.0) + 2.0 * self.bias_error


class Magnified(NamedTuple):
    """The measured bias and variance of estimates at one point.

    Attributes
    ----------
    curves : tuple of Curve
    gradient, gradient_error : Array, shape (n,)
        What the estimates are compared with, and its standard errors: 0 where the problem has gradients.
    calls : int
        What it cost, off the books of any run.
    """

    curves: tuple[Curve, ...]
    gradient: Array
    gradient_error: Array
    calls: int

    @property
    def floor(self) -> float:
        """The square of an error that the reference has itself: smaller ones cannot be seen."""
        return float(self.gradient_error @ self.gradient_error)


class Microscope(Configurable):
    """What measures estimators' errors at a point, by calls on a ledger of their own.

    Of every family and at every radius independent estimates are made until the error's decimal logarithm is known
    well enough, or its share of the calls is spent.
    """

    count = param.Integer(default=13, bounds=(3, 200), label="Radii", doc="Number of radii measured.")
    shortest = param.Number(default=1e-8, bounds=(1e-14, 1e3), label="Shortest", doc="Radius, in widths of the box.")
    longest = param.Number(default=1.0, bounds=(1e-12, 1e6), label="Longest", doc="Radius, in widths of the box.")
    accuracy = param.Number(
        default=0.1, bounds=(1e-3, 10), label="Accuracy", doc="Standard error of log10 of an error."
    )
    calls = param.Integer(default=1_000_000, bounds=(1, None), label="Calls", doc="Call budget of the measurement.")

    def cost(self, problem: Problem, estimators: Sequence[GradientEstimator]) -> tuple[int, int]:
        """Return the least and the largest number of calls that a measurement takes."""
        n, least, most = problem.domain.n, *_preparation(problem)
        estimates = self._least(n, estimators)
        return least + estimates, most + max(estimates, self.calls)

    def _least(self, n: int, estimators: Sequence[GradientEstimator]) -> int:
        """Return the calls of one batch of every family at every radius."""
        return sum(BATCHES * one.calls(n) for one in estimators) * self.count

    def measure(
        self,
        problem: Problem,
        spot: Spot,
        estimators: Sequence[GradientEstimator] | None = None,
        seed: int = 0,
        proceed: Callable[[], object] = lambda: None,
    ) -> Magnified:
        """Measure the errors of some families at a spot.

        Parameters
        ----------
        problem : Problem
            Left as it is: a clone is asked.
        spot : Spot
        estimators : sequence of GradientEstimator, optional
            Families, each with its batch size; default: ``families`` of batch size 1.
        seed : int
            Of noise and directions, apart from every run's of the same seed.
        proceed : callable
            Called before every batch, and between the calls of a black box; what it raises ends the measurement.

        Raises
        ------
        ZovizError
            For another kind of task, and where the budget does not cover one batch of every family at every radius.
        """
        refuse_other_forms(problem, "microscope")
        subjects = families(1) if estimators is None else tuple(estimators)
        least = self._least(problem.domain.n, subjects)
        if least > self.calls:
            raise ZovizError(
                f"Expected at least {least:,} calls for {len(subjects)} families at {self.count} radii, got "
                f"{self.calls:,}: raise the budget, or measure fewer."
            )
        own = problem.clone_apart()
        try:
            with silent_arithmetic():
                return _Measurement(
                    self, own, spot, Streams(zlib.crc32(f"microscope {seed}".encode()), BATCHES), proceed
                ).all(subjects)
        finally:
            own.release()


def families(batch_size: int) -> tuple[GradientEstimator, ...]:
    """Return one estimator of every family, of the same batch size, but for sweeps of all coordinates: one of these."""
    return (
        Sphere(batch_size=batch_size),
        CentralSphere(batch_size=batch_size),
        Gaussian(batch_size=batch_size),
        Coordinate(differences="forward"),
        Coordinate(differences="central"),
    )


def _preparation(problem: Problem) -> tuple[int, int]:
    """Return the least and the largest number of calls for a gradient and a noise that the problem does not tell."""
    noise = BATCHES if problem.contract == "independent" and not problem.analytic else 0
    if type(problem).gradient is not Problem.gradient:
        return noise, noise
    least, most = cost(int(Box.of(problem.domain).variable.sum()), problem.contract, REPEATS)
    return least + noise, most + noise


class _Theory(NamedTuple):
    """What theory needs to predict an error.

    Attributes
    ----------
    slope_square : float
        ||grad||^2 at the spot.
    noise : float
        Variance of a value.
    curvature : float
        A bound on it; NaN where none is known.
    """

    slope_square: float
    noise: float
    curvature: float


class _Measurement:
    """One measurement: its streams, its oracle for every batch, and its count of calls."""

    def __init__(
        self, microscope: Microscope, problem: Problem, spot: Spot, streams: Streams, proceed: Callable[[], object]
    ) -> None:
        self._microscope, self._problem, self._spot = microscope, problem, spot
        self._streams, self._proceed, self.calls = streams, proceed, 0
        oracle = self._oracle()
        self._width = typical_width(oracle, spot.x)
        self._phi = Lagrangian(np.repeat(spot.y[None], BATCHES, axis=0))
        self._x = np.repeat(spot.x[None], BATCHES, axis=0)

    def all(self, estimators: Sequence[GradientEstimator]) -> Magnified:
        """Measure every family."""
        gradient, error = self._gradient()
        theory = _Theory(float(gradient @ gradient), self._noise(), self._curvature())
        setting = self._microscope
        radii = np.geomspace(setting.shortest, setting.longest, setting.count) * self._width
        share = setting.calls // (len(estimators) * setting.count)
        curves = tuple(self._curve(one, radii, gradient, theory, share) for one in estimators)
        return Magnified(curves, gradient, error, self.calls)

    def _oracle(self) -> Oracle:
        oracle = Oracle(self._problem, self._streams, proceed=self._proceed)
        if self._spot.units is not None:
            oracle.set_units(self._spot.units)
        return oracle

    def _gradient(self) -> tuple[Array, Array]:
        """Return the gradient of f + <y, h>, (n,), exact or by differences, and its standard errors."""
        x, y, units = self._spot
        place = x if units is None else units.point(x)
        gradients = self._problem.gradient(place[None])
        if gradients is not None:
            of_f, of_h = gradients if units is None else units.gradients(gradients)
            return of_f[0] + y @ of_h[0], np.zeros(x.size)
        oracle = Oracle(self._problem, Streams(self._streams.seed, 1), proceed=self._proceed)
        with oracle.purpose(Purpose.DIAGNOSTIC):
            measured = slopes(oracle, place, REPEATS)
        self.calls += measured.calls
        of_f, of_h = measured.slope[:1], measured.slope[1:]
        errors = measured.slope_error
        if units is not None:
            of_f, of_h = units.gradients((of_f[0], of_h))
            errors = np.concatenate(
                [[e] for e in (errors[:1] * units.width / units.f)] + [errors[1:] * units.width / units.h[:, None]]
            )
        weights = np.concatenate([[1.0], y])
        return np.ravel(of_f) + y @ of_h, np.sqrt(np.square(weights[:, None] * errors).sum(axis=0))

    def _noise(self) -> float:
        """Return the variance of independent noise on phi: the problem's, or that of repeated calls of a black box."""
        y, units = self._spot.y, self._spot.units
        if self._problem.contract != "independent":
            return 0.0
        if self._problem.analytic:
            scale = 1.0 if units is None else units.f
            own = y if units is None else units.dual(y)
            return float(self._problem.lagrangian_noise(own[None])[0]) / scale**2
        oracle = self._oracle()
        with oracle.purpose(Purpose.NOISE):
            values = self._phi(oracle(self._x))
        self.calls += int(oracle.calls.sum())
        return float(np.var(values, ddof=1))

    def _curvature(self) -> float:
        """Return a bound on the curvature of phi; NaN where none is known."""
        constants = self._problem.constants
        if constants is None or self._spot.units is not None:
            return math.nan
        return constants.curvature + float(np.linalg.norm(self._spot.y)) * constants.constraint_curvature

    def _curve(
        self,
        estimator: GradientEstimator,
        radii: Array,
        gradient: Array,
        theory: _Theory,
        share: int,
    ) -> Curve:
        n, curvature = gradient.size, theory.curvature
        most = max(share // (BATCHES * estimator.calls(n)), 1)
        figures = np.array([self._figures(estimator, float(radius), gradient, most) for radius in radii])
        batches, bias, bias_error, variance, variance_error, error, error_error = figures.T
        fine = np.geomspace(radii[0], radii[-1], FINE)

        def predicted(r: Array) -> Array:
            square = np.array([theory.slope_square])
            return np.array([float(estimator.predicted_variance(square, n, theory.noise, float(one))[0]) for one in r])

        bound = np.square([estimator.bias_bound(curvature, n, float(one)) for one in radii])
        theory_error = predicted(fine) + np.square([estimator.bias_bound(curvature, n, float(one)) for one in fine])
        return Curve(
            title=_title(estimator),
            radii=radii,
            batches=batches.astype(int),
            bias_square=bias,
            bias_error=bias_error,
            variance=variance,
            variance_error=variance_error,
            error=error,
            error_error=error_error,
            predicted_variance=predicted(radii),
            bias_bound=bound,
            radius=_best(fine, _fitted(radii, error, error_error, fine)),
            predicted_radius=_best(fine, theory_error) if np.isfinite(theory_error).all() else math.nan,
        )

    def _figures(self, estimator: GradientEstimator, radius: float, gradient: Array, most: int) -> tuple[float, ...]:
        """Return the number of estimates, and squared bias, variance and squared error, each with its error."""
        errors = np.empty((0, gradient.size))
        for number in range(1, most + 1):
            oracle = self._oracle()
            with oracle.purpose(Purpose.DIAGNOSTIC):
                estimates = estimator.estimate(self._phi, self._x, oracle, self._streams, radius=radius).gradient
            self.calls += int(oracle.calls.sum())
            errors = np.concatenate([errors, (estimates - gradient)[np.isfinite(estimates).all(axis=1)]])
            if len(errors) < BATCHES:
                break  # it fails here
            if number < ENOUGH or number & (number - 1):
                continue  # judged when their number has doubled: who judges more often stops by luck more often
            squares = np.square(errors).sum(axis=1)
            spread = squares.std(ddof=1) / math.sqrt(len(squares))
            if spread <= self._microscope.accuracy * math.log(10.0) * squares.mean():
                break
        if len(errors) < 4:
            return (float(len(errors)), *[math.nan] * 6)
        return (float(len(errors)), *moments(errors))


def moments(errors: Array) -> tuple[float, float, float, float, float, float]:
    """Return squared bias, variance and mean square of estimates' errors (N, n), each with its standard error.

    The squared bias is the mean of <e_i, e_j> over i != j, which noise does not lift; with the covariance C of the
    errors and their mean b its variance is 2 tr(C^2) / N^2 + 4 b'Cb / N.
    """
    count, squares, mean = len(errors), np.square(errors).sum(axis=1), errors.mean(axis=0)
    bias = (count * (mean @ mean) - squares.mean()) / (count - 1)
    centred = errors - mean
    # The smaller of the two products that have the same squares' sum.
    product = centred @ centred.T if count < errors.shape[1] else centred.T @ centred
    square_trace = float(np.square(product).sum()) / (count - 1) ** 2
    along = float(np.square(centred @ mean).sum()) / (count - 1) - square_trace / count
    bias_error = math.sqrt(2.0 * square_trace / count**2 + 4.0 * max(along, 0.0) / count)
    spread = np.square(centred).sum(axis=1) * count / (count - 1)
    root = math.sqrt(count)
    return (
        float(bias),
        bias_error,
        float(spread.mean()),
        float(spread.std(ddof=1)) / root,
        float(squares.mean()),
        float(squares.std(ddof=1)) / root,
    )


def _fitted(radii: Array, error: Array, spread: Array, fine: Array) -> Array:
    """Return the error a + b r^2 + c r^4 + d / r^2 that fits the measured ones best, at radii (F,)."""

    def terms(r: Array) -> Array:
        return np.stack([np.ones_like(r), r**2, r**4, r**-2.0], axis=1)

    good = np.isfinite(error) & (error > 0)
    if good.sum() < 3:
        return np.full(fine.size, np.nan)
    weight = 1.0 / np.maximum(spread[good], 0.01 * error[good])
    scale = np.abs(terms(radii[good])).max(axis=0)
    coefficients, _ = nnls(terms(radii[good]) / scale * weight[:, None], error[good] * weight)
    return terms(fine) / scale @ coefficients


def _best(radii: Array, error: Array) -> float:
    """Return the radius of least error; where smaller ones are no better, the largest that is hardly worse."""
    if not np.isfinite(error).all():
        return math.nan
    least = int(np.argmin(error))
    if error[0] > FLAT * error[least]:  # there is a wall on the left
        return float(radii[least])
    return float(radii[error <= FLAT * error[least]][-1])


def _title(estimator: GradientEstimator) -> str:
    if isinstance(estimator, Coordinate):
        return f"{type(estimator).__name__}, {estimator.differences}"
    return f"{type(estimator).__name__}, k = {estimator.batch_size}"


def microscope_of(
    run: Run,
    replica: int = 0,
    microscope: Microscope | None = None,
    estimators: Sequence[GradientEstimator] | None = None,
    proceed: Callable[[], object] = lambda: None,
) -> Magnified:
    """Measure at the present iterate and multipliers of a run, paused or going on, which is left alone.

    Parameters
    ----------
    run : Run
    replica : int
    microscope : Microscope, optional
    estimators : sequence of GradientEstimator, optional
        Default: every family with the batch size of the run's own.
    proceed : callable
        As for ``Microscope.measure``.
    """
    result, units, own = run.result, run.units, run.solver.estimator
    x, y = result.x[replica], result.multipliers[replica]
    y = np.nan_to_num(y) if y.size else np.zeros(run.problem.m)
    if units is not None:
        x, y = units.inverse(x), y * (units.h / units.f)
    size = 1 if own is None else own.batch_size
    subjects = families(size) if estimators is None else estimators
    return (Microscope() if microscope is None else microscope).measure(
        run.problem, Spot(x, y, units), subjects, run.seed, proceed
    )
