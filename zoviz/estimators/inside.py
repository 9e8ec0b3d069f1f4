r"""Differences that stay inside a box: steps that are cut at its ends, and the factors that keep the estimate's mean.

A step d along a random direction is cut coordinate by coordinate, to the room that the box leaves around x. Of a
direction uniform on the sphere the signs are symmetric, so that E[Delta_i d_j] = 0 for i != j still, and

.. math:: \mathrm E[\Delta_i d_i] = \frac{r}{n} P(-a_i \le r T \le b_i), \qquad \tfrac{1 + T}{2} \sim
          \mathrm{Beta}\big(\tfrac{n + 1}{2}, \tfrac{n + 1}{2}\big)

with a_i and b_i the room below and above: what coordinate i is divided by. It follows by parts, as T has a density in
proportion to the integral of -t times that of Delta_i, and holds for whatever length r a direction has. Steps that are
cut have a mean mu, so that a one-sided difference carries <grad phi, mu> into every direction; the mean of the other
directions' differences, which does not depend on this one's, takes it away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.types import Array


class Room(NamedTuple):
    """The room around points x (R, n) in a box: how far it reaches down, at most 0, and up, at least 0, (R, n) each."""

    down: Array
    up: Array


class Steps(NamedTuple):
    """The steps from x of k differences, and how slopes follow from them.

    Attributes
    ----------
    ahead : Array, shape (R, k, n)
        To the end of a difference.
    behind : Array, shape (R, k, n), or None
        To the other end of a central one; None where it is opposite.
    lengths : Array, shape (R, k)
        What rises are divided by; 0 along a coordinate that bounds fix, where the slope is 0.
    factors : Array, shape (R, k, n)
        What the weighed slopes are multiplied by.
    cut : ndarray of bool, shape (R,), or None
        Replicas of which steps are cut, or go to the other side; None where there are no bounds.
    """

    ahead: Array
    behind: Array | None
    lengths: Array
    factors: Array
    cut: np.ndarray | None


def room_around(x: Array, bounds: Box) -> Room:
    """Return the room around points x (R, n)."""
    return Room(np.minimum(bounds.lower - x, 0.0), np.maximum(bounds.upper - x, 0.0))


def narrowest(bounds: Box) -> float:
    """Return the least width of the coordinates that are not fixed; infinite where there is none."""
    return float((bounds.upper - bounds.lower)[bounds.variable].min(initial=np.inf))


def random_steps(u: Array, squares: Array, lengths: Array, room: Room) -> Steps:
    """Return steps along random directions u (R, k, n), cut to the room.

    Parameters
    ----------
    squares, lengths : Array, shape (R, k)
        ||u||^2, and the steps' lengths in units of u.
    """
    steps = lengths[..., None] * u
    reach, down, up = lengths * np.sqrt(squares), room.down[:, None], room.up[:, None]
    cut = np.asarray(((-down < reach[..., None]) | (up < reach[..., None])).any(axis=(1, 2)))
    if not cut.any():
        return Steps(steps, None, lengths, u, cut)
    ahead, behind = (np.minimum(np.maximum(side, down), up) for side in (steps, -steps))
    shares = _shares(reach[cut], down[cut], up[cut])
    factors = u.copy()
    factors[cut] = np.where(shares > 0.0, u[cut] / np.where(shares > 0.0, shares, 1.0), 0.0)
    return Steps(ahead, behind, lengths, factors, cut)


def coordinate_steps(u: Array, lengths: Array, room: Room, central: bool) -> Steps:
    """Return steps along coordinates, u (R, k, n) with one entry each: to the other side where that has more room."""
    steps = lengths[..., None] * u
    at = np.abs(u).argmax(axis=-1)
    wanted = np.take_along_axis(steps, at[..., None], axis=-1)[..., 0]
    ahead = kept_step(wanted, at, room, turns=not central)
    behind = kept_step(-wanted, at, room, turns=False)
    share = ahead / wanted if not central else 0.5 * (ahead - behind) / wanted
    cut = ((ahead != wanted) | (behind != -wanted)).any(axis=1) if central else (ahead != wanted).any(axis=1)
    ahead, behind = (ahead / wanted)[..., None] * steps, (behind / wanted)[..., None] * steps
    return Steps(ahead, behind, share * lengths, u, cut)


def kept_step(step: Array, at: np.ndarray, room: Room, turns: bool) -> Array:
    """Return signed steps (R, q) along coordinates ``at`` (R, q), cut to the room.

    Parameters
    ----------
    step : Array, shape (R, q)
    at : ndarray of int, shape (R, q)
    room : Room
    turns : bool
        Whether a step that does not fit goes to the other side where that has more room.
    """
    down, up = (np.take_along_axis(side, at, axis=1) for side in room)
    kept = np.minimum(np.maximum(step, down), up)
    if not turns:
        return kept
    other = np.minimum(np.maximum(-step, down), up)
    return np.where(np.abs(other) > np.abs(kept), other, kept)


def slopes_along(rises: Array, lengths: Array) -> Array:
    """Return rises (R, k) over lengths (R, k), 0 where the length is 0."""
    moves = lengths != 0.0
    return np.where(moves, rises / np.where(moves, lengths, 1.0), 0.0)


class MeanRise:
    """The mean rise of the other directions, which is taken from each one's where steps are cut.

    It is kept as sums, so that an estimate does not depend on the pieces in which its directions are evaluated.
    """

    def __init__(self, replicas: int, n: int) -> None:
        self._number, self._rise = np.zeros((2, replicas))
        self._along = np.zeros((replicas, n))
        self._squares = np.zeros((2, replicas))

    def enter(self, steps: Steps, w: Array, weights: Array) -> None:
        """Enter directions: the factors w (R, k) of theirs, 0 where one failed, and those of a rise of 1."""
        weights = np.where(np.isfinite(w), weights, 0.0)
        rises = np.where(weights != 0.0, w / np.where(weights != 0.0, weights, 1.0), 0.0)
        sizes = np.square(weights) * np.square(steps.factors).sum(axis=-1)
        self._number += np.isfinite(w).sum(axis=1)
        self._rise += rises.sum(axis=1)
        self._along += np.matmul(weights[:, None, :], steps.factors)[:, 0, :]
        self._squares += np.stack([(sizes * rises).sum(axis=1), sizes.sum(axis=1)])

    def taken_from(self, total: Array, square: Array, cut: np.ndarray | None) -> tuple[Array, Array]:
        """Return the sums of samples (R, n) and of their squared norms (R,), less the mean rise where ``cut``."""
        cut = (self._number > 1) & (True if cut is None else cut)
        mean = np.where(cut, self._rise / np.maximum(self._number, 1.0), 0.0)
        ratio = np.where(cut, self._number / np.maximum(self._number - 1.0, 1.0), 1.0)
        cross, size = self._squares
        total = np.where(cut[:, None], ratio[:, None] * (total - mean[:, None] * self._along), total)
        return total, np.where(cut, ratio**2 * (square - mean * (2.0 * cross - mean * size)), square)


def _shares(reach: Array, down: Array, up: Array) -> Array:
    """Return P(down <= r T <= up) of every coordinate, (R, k, n), for steps of lengths r (R, k)."""
    n = down.shape[-1]
    if reach.size and np.ptp(reach) <= 1e-12 * reach.max():  # one length for all, as on the sphere
        reach = reach[:, :1]
    half = 0.5 * (n + 1.0)
    ends = [np.minimum(np.maximum(0.5 + 0.5 * side / reach[..., None], 0.0), 1.0) for side in (down, up)]
    from scipy.special import betainc  # here: importing zoviz, and runs without bounds, do without SciPy

    return np.asarray(betainc(half, half, ends[1]) - betainc(half, half, ends[0]))
