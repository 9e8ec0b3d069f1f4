"""A line through a replica's surrogate: what a Bayesian method believes there, and where its next point is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.threads.blas import quiet_pytorch
from zoviz.core.types import Array
from zoviz.solvers.bayesian.base import BayesianSolver, BayesianState, surrogate_of
from zoviz.solvers.bayesian.surrogate import Numbers

_PLACES = 121
"""Points of the line."""
_SAME = 1e-6
"""Share of the box within which the next point is the incumbent, and gives no line."""


class ModelSlice(NamedTuple):
    """Predictions along a line through the incumbent, in the solver's units.

    Attributes
    ----------
    places : Array, shape (q,)
        Positions along the line: shares of a variable's interval, or 0 at the incumbent and 1 at the next point.
    mean, deviation : Array, shape (q,)
        Of f without its noise, by the surrogate.
    chance : Array, shape (q,)
        Probability that every h is at most 0.
    score : Array, shape (q,)
        What the method compares points by; NaN for one without.
    incumbent, following : float
        Positions of the recommended point and of the next one.
    evaluations : int
        Points that the surrogate rests on.
    variable : int or None
        The variable, from 0, along which the line runs; None for the line through the next point.
    """

    places: Array
    mean: Array
    deviation: Array
    chance: Array
    score: Array
    incumbent: float
    following: float
    evaluations: int
    variable: int | None


def model_slice(
    solver: BayesianSolver,
    state: BayesianState,
    tolerance: float | Array,
    variable: int | None = None,
    replica: int = 0,
) -> ModelSlice | None:
    """Return predictions on a line through the incumbent; None while the first design is being evaluated.

    The next point is that of candidates of the picture's own, as those of the run come from its random streams: where
    the acquisition has one clear maximum it is the run's. Neither the state nor the streams are touched.

    Parameters
    ----------
    solver : BayesianSolver
    state : BayesianState
    tolerance : float or Array, shape (m,)
        Largest h that counts as feasible, in the solver's units.
    variable : int, optional
        The variable, from 0, along which the line runs, a number too high for the last; default: the line through the
        next point, or along the first variable where the incumbent is to be evaluated once more.
    replica : int
    """
    hyper, memory = state.hyper[replica], state.memory[replica]
    points, values = state.points[replica], state.values[replica]
    count, n = points.shape
    m = values.shape[1] - 1
    variable = None if variable is None else min(variable, n - 1)
    if not state.fitted[replica]:
        return None
    generator = np.random.default_rng(0)
    numbers = Numbers(
        generator.random((solver.candidates, n)),
        generator.standard_normal((solver.candidates, n)),
        generator.standard_normal((solver.draws, 1 + m, solver.candidates)),
    )
    noisy = bool(hyper[:, -2].any())  # exact values have no hyper-parameter of noise
    with quiet_pytorch():
        surrogate = surrogate_of(points, values, noisy, hyper, False)
        if surrogate is None:
            return None
        evidence = solver.evidence(surrogate, tolerance)
        following = solver.acquire(surrogate, evidence, memory, numbers)
        incumbent = surrogate.points[evidence.best]
        if variable is None and np.abs(following - incumbent).max() <= _SAME:
            variable = 0
        places, line, ends = _line(incumbent, following, variable)
        mean, deviation = surrogate.moments(line)
        score = solver.score(surrogate, evidence, memory, numbers, line)
    return ModelSlice(places, mean[:, 0], deviation[:, 0], _chance(mean, deviation), score, *ends, count, variable)


def _line(incumbent: Array, following: Array, variable: int | None) -> tuple[Array, Array, tuple[float, float]]:
    """Return positions (q,), points (q, n) of the unit box, and the positions of the incumbent and the next point."""
    if variable is not None:
        places = np.linspace(0.0, 1.0, _PLACES)
        line = np.tile(incumbent, (_PLACES, 1))
        line[:, variable] = places
        return places, line, (float(incumbent[variable]), float(following[variable]))
    way = following - incumbent
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.where(way > 0.0, (1.0 - incumbent) / way, np.where(way < 0.0, -incumbent / way, np.inf))
        starts = np.where(way > 0.0, -incumbent / way, np.where(way < 0.0, (1.0 - incumbent) / way, -np.inf))
    # A little beyond both, within the box.
    low, high = max(-0.5, float(starts.max())), min(1.5, float(ends.min()))
    places = np.union1d(np.linspace(low, high, _PLACES - 2), [0.0, 1.0])
    return places, np.clip(incumbent + places[:, None] * way, 0.0, 1.0), (0.0, 1.0)


def _chance(mean: Array, deviation: Array) -> Array:
    """Return the probability (q,) that every h is at most 0, from moments (q, 1 + m)."""
    from scipy import special

    return np.asarray(special.ndtr(-mean[:, 1:] / deviation[:, 1:]).prod(axis=1))
