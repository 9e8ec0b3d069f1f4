"""The linear constraints of network slicing, applied part by part."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.problems.networks.slicing_network import Network


class Plan(NamedTuple):
    """A point of network slicing, split into its parts.

    Attributes
    ----------
    segments : Array, shape (..., K, S + 1, L)
        r_ij(k, f): rate of flow k on every link, on its way from the node of one function to that of the next.
    totals : Array, shape (..., K, L)
        r_ij(k).
    choices : Array, shape (..., K, S, P)
        x_{i,f}(k), for the P nodes that provide f.
    link_slack, node_slack : Array, shapes (..., L) and (..., M)
        What is left of the capacities.
    """

    segments: Array
    totals: Array
    choices: Array
    link_slack: Array
    node_slack: Array


class SlicingRows:
    """The rows A x - b of network slicing in five kinds, as ``NetworkSlicing`` has them.

    Parameters
    ----------
    network : Network

    Attributes
    ----------
    columns, count : int
        n and p.
    upper : Array, shape (n,)
        Largest values that the variables can have in a feasible point.
    """

    def __init__(self, network: Network) -> None:
        (k, s, p), links, m = network.provider.shape, network.tails.size, network.sites.size
        self.network = network
        nodes = int(network.tails.max()) + 1
        self._incidence = np.zeros((nodes, links))
        self._incidence[network.tails, np.arange(links)] = 1.0
        self._incidence[network.heads, np.arange(links)] = -1.0
        self._at_site = np.eye(m)[network.provider]
        self._widths = ((k, s + 1, links), (k, links), (k, s, p), (links,), (m,))
        self._heights = ((k, links), (k, s), (k, s + 1, nodes), (links,), (m,))
        self.columns, self.count = (sum(map(_size, shapes)) for shapes in (self._widths, self._heights))
        flat = [np.broadcast_to(network.capacity, width).ravel() for width in self._widths[:2]]
        self.upper = np.concatenate([*flat, np.ones(k * s * p), network.capacity, network.node_capacity])

    @property
    def square(self) -> float:
        """The sum of squares of A's entries under mean demands."""
        (k, s, p), links, m = self.network.provider.shape, self.network.tails.size, self.network.sites.size
        # In the rows' order; every link leaves one node and enters another, every x is in two rows of its flow.
        fixed = k * links * (s + 2) + k * s * p + 2 * k * (s + 1) * links + (k + 1) * links + m
        return fixed + 3.0 * s * p * float(np.square(self.network.demand).sum())

    def parts(self, x: Array) -> Plan:
        """Split a point (..., n) into its parts: views of it."""
        return Plan(*_split(x, self._widths))

    def residual(self, x: Array, demand: Array) -> Array:
        """Return A x - b (..., p) at x (..., n) under demands (..., K)."""
        network, plan, lead = self.network, self.parts(x), x.shape[:-1]
        sites = np.einsum("...ksp,kspm->...ksm", plan.choices, self._at_site)
        flows, stages, nodes = self._heights[2]
        stops = np.zeros((*lead, flows, stages + 1, nodes))
        stops[..., 1:-1, network.sites] = sites
        stops[..., np.arange(flows), 0, network.source] = 1.0
        stops[..., np.arange(flows), -1, network.target] = 1.0
        moved = demand[..., None, None] * (stops[..., :-1, :] - stops[..., 1:, :])
        kinds = (
            plan.totals - plan.segments.sum(axis=-2),
            plan.choices.sum(axis=-1) - 1.0,
            plan.segments @ self._incidence.T - moved,
            plan.totals.sum(axis=-2) + plan.link_slack - network.capacity,
            (demand[..., None, None] * sites).sum(axis=(-3, -2)) + plan.node_slack - network.node_capacity,
        )
        return _joined(kinds, lead)

    def adjoint(self, y: Array, demand: Array) -> Array:
        """Return A'y (..., n) for y (..., p) under demands (..., K)."""
        sums, ones, flow, links, nodes = _split(y, self._heights)
        at_sites = flow[..., self.network.sites]
        work = demand[..., None, None] * (at_sites[..., :-1, :] - at_sites[..., 1:, :] + nodes[..., None, None, :])
        choices = np.einsum("...ksm,kspm->...ksp", work, self._at_site) + ones[..., None]
        kinds = (flow @ self._incidence - sums[..., None, :], sums + links[..., None, :], choices, links, nodes)
        return _joined(kinds, y.shape[:-1])

    def rounded_violation(self, x: Array) -> Array:
        """Return the largest violation (...) of conservation and capacities once the largest x are 1, others 0."""
        rounded = np.array(x, dtype=float, order="C")
        plan = self.parts(rounded)
        plan.choices[...] = np.arange(plan.choices.shape[-1]) == np.argmax(plan.choices, axis=-1)[..., None]
        plan.link_slack[...] = plan.node_slack[...] = 0.0
        _, _, flow, links, nodes = _split(self.residual(rounded, self.network.demand), self._heights)
        return np.maximum(np.abs(flow).max(axis=(-3, -2, -1)), np.maximum(links.max(axis=-1), nodes.max(axis=-1)))


def _size(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape))


def _split(x: Array, shapes: tuple[tuple[int, ...], ...]) -> list[Any]:
    """Cut the last axis into parts of these shapes: views."""
    parts = np.split(x, np.cumsum([_size(shape) for shape in shapes])[:-1], axis=-1)
    return [part.reshape(*x.shape[:-1], *shape) for part, shape in zip(parts, shapes, strict=True)]


def _joined(kinds: tuple[Array, ...], lead: tuple[int, ...]) -> Array:
    return np.concatenate([kind.reshape(*lead, -1) for kind in kinds], axis=-1)
