"""A random graph whose edges come and go, and its edge-node incidence matrix W, applied edge by edge."""

from __future__ import annotations

import math

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array

_NUMBERS = 2**22
"""Random numbers that are drawn at once: 32 MiB."""


class RandomGraph:
    r"""All pairs i < j of N nodes, each an edge with probability p_ij, independently of the others and of the past.

    W(zeta) has a row for each pair: e_i - e_j where the edge is there, else 0; for a mini-batch W is the mean over its
    graphs. Nodes carry d numbers each, so that what
    is applied is W(zeta) (x) I_d, and it is never built: the work goes with the edges that are there.

    Parameters
    ----------
    nodes : int
    probability : Array, shape (pairs,)
        The p_ij, pairs in the order (0, 1), (0, 2), ..., (1, 2), ...

    Attributes
    ----------
    ends : ndarray of int, shape (2, pairs)
        i and j of every pair.
    """

    def __init__(self, nodes: int, probability: Array) -> None:
        self.nodes, self.probability = nodes, probability
        self.ends = np.stack(np.triu_indices(nodes, 1))
        # Sums over the pairs of one node: pairs come sorted by i; and sorted by j once more.
        self._by_second = np.argsort(self.ends[1], kind="stable")
        self._starts = tuple(np.searchsorted(np.sort(end), np.unique(end)) for end in self.ends)

    def draw(self, streams: Streams, purpose: str, *shape: int, size: int = 1) -> np.ndarray:
        """Draw the share of ``size`` graphs in which each pair is an edge, (R, *shape, pairs)."""
        pairs = self.probability.size
        there = np.zeros((streams.replicas, *shape, pairs))
        most = max(1, _NUMBERS // (math.prod(there.shape) or 1))  # graphs at a time, so that memory stays bounded
        for start in range(0, size, most):
            count = min(most, size - start)
            there += (streams.uniform(purpose, *shape, count, pairs) < self.probability).sum(axis=-2)
        return there / size

    def differences(self, x: Array, edges: np.ndarray | None = None) -> Array:
        """Return the differences W x (..., pairs, d) along the edges, for x (..., N, d); E[W] x without ``edges``.

        Parameters
        ----------
        edges : Array, shape (..., pairs)
            The weight of every pair, by ``draw``: the mean W of its graphs is applied. Where it lacks the last of the
            leading axes of x, they share it.
        """
        first, second = self.ends
        if edges is None:
            return self.probability[:, None] * (x[..., first, :] - x[..., second, :])
        there, weight = _there(edges, x.shape[:-2])
        out = np.zeros((*x.shape[:-2], len(first), x.shape[-1]))
        *lead, pair = there
        out[there] = weight * (x[(*lead, first[pair])] - x[(*lead, second[pair])])
        return out

    def adjoint(self, y: Array, edges: np.ndarray | None = None) -> Array:
        """Return W'y (..., N, d), the transpose of ``differences``, for y (..., pairs, d); E[W]'y without ``edges``."""
        if edges is None:
            return self._sums(self.probability[:, None] * y)
        d, shape = y.shape[-1], (*y.shape[:-2], self.nodes, y.shape[-1])
        there, weight = _there(edges, y.shape[:-2])
        *lead, pair = there
        values, place = weight * y[there], np.zeros(len(pair), dtype=np.intp)
        for index, length in zip(lead, shape[:-2], strict=True):
            place = place * length + index
        at = (place * self.nodes + self.ends[:, pair])[..., None] * d + np.arange(d)
        weights = np.stack([values, -values])
        return np.bincount(at.ravel(), weights.ravel(), minlength=int(np.prod(shape))).reshape(shape)

    def potentials(self, gradients: Array) -> Array:
        """Return the y (pairs, d) of least norm with E[W]'y = gradients (N, d), whose columns sum to 0."""
        return self.differences(np.linalg.pinv(self.laplacian) @ gradients)

    @property
    def laplacian(self) -> Array:
        """The matrix E[W]'E[W] (N, N), W the edge-node incidence matrix."""
        weights, (first, second) = np.zeros((self.nodes, self.nodes)), self.ends
        weights[first, second] = weights[second, first] = np.square(self.probability)
        return np.diag(weights.sum(axis=1)) - weights

    def _sums(self, weighted: Array) -> Array:
        """Sum per node over the pairs that it is the first of, less those that it is the second of."""
        out = np.zeros((*weighted.shape[:-2], self.nodes, weighted.shape[-1]))
        out[..., :-1, :] = np.add.reduceat(weighted, self._starts[0], axis=-2)
        out[..., 1:, :] -= np.add.reduceat(weighted[..., self._by_second, :], self._starts[1], axis=-2)
        return out


def _there(edges: np.ndarray, lead: tuple[int, ...]) -> tuple[tuple[np.ndarray, ...], Array]:
    """Return the indices (*lead, pair) of edges that are there, and their weights (k, 1); probes share a graph."""
    if edges.ndim - 1 < len(lead):
        edges = np.broadcast_to(edges[:, None], (*lead, edges.shape[-1]))
    there = np.nonzero(edges)
    return there, np.asarray(edges[there], dtype=float)[:, None]
