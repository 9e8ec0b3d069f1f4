"""Random communication networks with flows that need a chain of functions, feasible by construction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array


class Network(NamedTuple):
    """V nodes, L directed links, and K flows with a chain of S functions each, provided by P of M nodes each.

    Attributes
    ----------
    tails, heads : ndarray of int, shape (L,)
    capacity, cost : Array, shape (L,)
        Of the links: the rate that they carry, and the mean cost of a unit of it.
    sites : ndarray of int, shape (M,)
        The function nodes.
    node_capacity : Array, shape (M,)
    provider : ndarray of int, shape (K, S, P)
        Which of the function nodes provide the flow's functions, as places in ``sites``.
    source, target : ndarray of int, shape (K,)
    demand : Array, shape (K,)
        Mean rates lambda_k.
    planted : ndarray of int, shape (K, S)
        An assignment, places in the last axis of ``provider``, that the capacities allow.
    """

    tails: np.ndarray
    heads: np.ndarray
    capacity: Array
    cost: Array
    sites: np.ndarray
    node_capacity: Array
    provider: np.ndarray
    source: np.ndarray
    target: np.ndarray
    demand: Array
    planted: np.ndarray


def generate(
    rng: np.random.Generator,
    nodes: int,
    degree: int,
    flows: int,
    chain: int,
    sites: int,
    providers: int,
    tightness: float,
) -> Network:
    """Draw a random network in which the flows can be routed.

    A ring in both directions, and further links at random until every node has ``degree`` on average; demands
    U(0.5, 1.5), costs U(0.5, 1.5). A random assignment is routed on cheapest paths. Then capacities are
    (1/tightness) times the mean demand for links and (1/tightness) times a fair share of all work for function nodes,
    or what that routing needs where it is more, so that there is a feasible binary point.
    """
    tails, heads = _links(rng, nodes, degree)
    cost, demand = rng.uniform(0.5, 1.5, tails.size), rng.uniform(0.5, 1.5, flows)
    places = np.sort(rng.permutation(nodes)[:sites])
    provider = np.sort(np.argsort(rng.random((flows, chain, sites)), axis=-1)[..., :providers], axis=-1)
    ends = np.argsort(rng.random((flows, nodes)), axis=-1)[:, :2]
    planted = rng.integers(providers, size=(flows, chain))
    capable = np.take_along_axis(provider, planted[..., None], axis=-1)[..., 0]
    stops = np.concatenate([ends[:, :1], places[capable], ends[:, 1:]], axis=1)
    load = _load(stops, demand, heads, _next_links(tails, heads, cost, nodes))
    work = np.bincount(capable.ravel(), np.repeat(demand, chain), minlength=sites)
    return Network(
        tails=tails,
        heads=heads,
        capacity=np.maximum(demand.mean() / tightness, load),
        cost=cost,
        sites=places,
        node_capacity=np.maximum(demand.sum() * chain / sites / tightness, work),
        provider=provider,
        source=ends[:, 0],
        target=ends[:, 1],
        demand=demand,
        planted=planted,
    )


def _links(rng: np.random.Generator, nodes: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the links' tails and heads: a ring in both directions, then others at random, no link twice."""
    at = np.arange(nodes)
    ring = np.concatenate([at * nodes + (at + 1) % nodes, at * nodes + (at - 1) % nodes])
    others = np.setdiff1d(np.arange(nodes * nodes), np.concatenate([ring, at * nodes + at]))
    more = rng.permutation(others)[: max(0, nodes * degree - ring.size)]
    pairs = np.sort(np.concatenate([ring, more]))
    return pairs // nodes, pairs % nodes


def _load(stops: np.ndarray, demand: Array, heads: np.ndarray, follow: np.ndarray) -> Array:
    """Return what every link carries (L,) if flows go from stop to stop (K, S + 2) by the links in ``follow``."""
    load = np.zeros(heads.size)
    for stop, rate in zip(stops, demand, strict=True):
        for here, there in zip(stop[:-1], stop[1:], strict=True):
            while here != there:
                link = follow[here, there]
                load[link] += rate
                here = heads[link]
    return load


def _next_links(tails: np.ndarray, heads: np.ndarray, cost: Array, nodes: int) -> np.ndarray:
    """Return the first link of a cheapest path from every node to every other, by Floyd and Warshall's method."""
    distance = np.full((nodes, nodes), np.inf)
    follow = np.zeros((nodes, nodes), dtype=np.intp)
    distance[tails, heads], follow[tails, heads] = cost, np.arange(tails.size)
    np.fill_diagonal(distance, 0.0)
    for middle in range(nodes):
        through = distance[:, middle, None] + distance[None, middle]
        better = through < distance
        distance = np.where(better, through, distance)
        follow = np.where(better, follow[:, middle, None], follow)
    return follow
