"""Seeds of simulations: whole numbers, from each of which all the randomness of a call follows."""

from __future__ import annotations

import numpy as np

from zoviz.core.streams import Streams


def draw_seeds(streams: Streams, shape: tuple[int, ...], bits: int = 31) -> np.ndarray:
    """Draw seeds of a number of bits, (R, *shape) of int, each from its replica's sequence; 31 fit any generator."""
    seeds: np.ndarray = (streams.uniform("xi", *shape) * 2**bits).astype(np.int64)
    return seeds


def fresh_seeds(streams: Streams, lead: tuple[int, ...]) -> np.ndarray:
    """Draw a seed for each of the k points (..., k, n) of one replica, flat, which those of the other axes share."""
    return np.broadcast_to(draw_seeds(streams, lead[-1:])[0], lead).reshape(-1)


def seeds_of_points(xi: np.ndarray | None, count: int) -> np.ndarray:
    """Return the seed of each of ``count`` points, flat, where those of xi lead the points' axes; 0 without any."""
    return np.zeros(count, dtype=np.int64) if xi is None or not xi.size else np.repeat(xi.reshape(-1), count // xi.size)
