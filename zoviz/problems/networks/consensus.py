"""Distributed classification: nodes of a random graph, each with its own data, must agree on one classifier."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, ExactValues, Optimum, Sample
from zoviz.problems.linear import LinearlyConstrained
from zoviz.problems.margin_losses import LOSSES, MarginLoss, expit, logistic_optimum, margin_loss
from zoviz.problems.networks.random_graph import RandomGraph

COPIES = 3
"""Independent draws of the graph in one sample, as Algorithm 2 needs them."""


class _Data(NamedTuple):
    signed: Array
    graph: RandomGraph
    loss: MarginLoss
    constants: Constants
    optimum: Optimum | None
    domain: Box


class DistributedConsensus(LinearlyConstrained):
    r"""The least mean of the nodes' losses, where nodes that share an edge must agree.

    .. math:: \min_{x_1, \dots, x_N \in X_0} \frac1N \sum_i f_i(x_i) \quad\text{s.t.}\quad
              \mathbb E[A(\zeta)]\, x = 0, \qquad A(\zeta) = W(\zeta) \otimes I_d

    W(zeta) has a row for every pair of nodes i < j: e_i - e_j where the edge is there, 0 where it is not. Edges are
    drawn anew in every iteration, each on its own, with probability p_ij, so that a row of E[W] is p_ij (e_i - e_j):
    no graph needs to be connected. f_i is the mean loss of a linear classifier on the node's own points, plus ridge/2
    ||x_i||^2; a sample has ``points`` of them at every node, drawn with replacement, and three graphs, and a mini-batch
    the means of its samples' graphs. x is (..., N d),
    node after node. A(zeta) is applied edge by edge and never built.

    ``metrics`` adds ``consensus_error``, the largest distance max_i ||x_i - mean|| of a node from the mean, and
    ``mean_objective``, the loss of the mean at all nodes, which is what the centralised problem minimises.

    Notes
    -----
    Data (ours; the paper has none): node i has labels y of both signs and features y c_i + N(0, I), c_i = c + u_i with
    |c| = 1 and u_i ~ N(0, (difference^2 / d) I): without differences all nodes would want the same. The known optimum,
    of the logistic loss, is the centralised solution by Newton's method, at every node, with the multipliers of
    least norm.

    References
    ----------
    Paper salm, §6.1, (6.3).
    """

    title = "Distributed optimisation on a random graph"
    order = 12
    domain: Box
    sampled_rows = True

    nodes = param.Integer(default=6, bounds=(2, 1000), softbounds=(2, 60), label="Nodes N", doc="Nodes of the graph.")
    features = param.Integer(
        default=2, bounds=(1, 1000), softbounds=(1, 20), label="Features d", doc="Variables of each node."
    )
    edge_probability = param.Number(
        default=0.5,
        bounds=(1e-3, 1),
        label="Edge probability p",
        doc="Mean probability p_ij that two nodes have an edge.",
    )
    probability_spread = param.Number(
        default=0.0,
        bounds=(0, 0.99),
        label="Spread of the p_ij",
        doc="The p_ij are uniform in p (1 ± spread), cut off at 1.",
    )
    node_points = param.Integer(
        default=40, bounds=(1, 100_000), softbounds=(10, 500), label="Points of a node", doc="Data at each node."
    )
    points = param.Integer(
        default=8,
        bounds=(1, 100_000),
        softbounds=(1, 128),
        label="Points in a sample",
        doc="Data points of each node in one sample ξ, drawn with replacement.",
    )
    difference = param.Number(
        default=0.5, bounds=(0, 100), softbounds=(0, 2), label="Difference of nodes", doc="Size of c_i - c."
    )
    loss: param.Selector[str] = param.Selector(
        default=LOSSES[0], objects=list(LOSSES), label="Loss V", doc="Loss as a function of margins."
    )
    shift = Scale(
        3.0,
        bounds=(1e-3, 1e3),
        softbounds=(0.1, 10.0),
        label="Loss shift μ",
        doc="Shift of the logistic loss difference.",
    )
    ridge = param.Number(default=0.1, bounds=(0, 1e3), softbounds=(0, 1), label="Ridge", doc="Weight of ||x_i||²/2.")
    half_width = param.Number(
        default=10.0, bounds=(1e-3, 1e6), label="Box half-width", doc="Half-width of the box of each node's variables."
    )
    start_radius = param.Number(
        default=2.0, bounds=(0, 1e6), label="Start radius", doc="x0 is uniform in [-start_radius, start_radius]^(N d)."
    )
    seed = param.Integer(default=0, bounds=(0, 2**31), label="Instance seed", doc="Seed of the data and the p_ij.")

    @property
    def rows(self) -> int:
        """The number of rows p: N (N - 1) / 2 pairs, d rows each."""
        return self.nodes * (self.nodes - 1) // 2 * self.features

    def build(self) -> _Data:
        count, d, rng = self.nodes, self.features, np.random.default_rng(self.seed)
        centre = rng.standard_normal(d)
        centres = centre / np.linalg.norm(centre) + self.difference / np.sqrt(d) * rng.standard_normal((count, d))
        # Times its label, a point is c_i + noise, whatever the label.
        signed = centres[:, None] + rng.standard_normal((count, self.node_points, d))
        spread = self.probability_spread * rng.uniform(-1.0, 1.0, count * (count - 1) // 2)
        graph = RandomGraph(count, np.minimum(self.edge_probability * (1.0 + spread), 1.0))
        loss, n = margin_loss(self.loss, self.shift), count * d
        optimum = self._centralised(signed, graph) if self.loss == "logistic" else None
        box = Box(np.full(n, -self.half_width), np.full(n, self.half_width))
        return _Data(signed, graph, loss, self._bounds(signed, graph, loss), optimum, box)

    def _bounds(self, signed: Array, graph: RandomGraph, loss: MarginLoss) -> Constants:
        count, points, d = signed.shape
        largest = np.linalg.eigvalsh(np.swapaxes(signed, 1, 2) @ signed / points)[:, -1]
        radius = self.half_width * np.sqrt(d)
        slopes = loss.steepest * np.sqrt(largest) + self.ridge * radius
        # Each of the d rows of a pair has p and -p, and stands twice in h.
        frobenius = float(np.sqrt(4.0 * d * np.square(graph.probability).sum()))
        return Constants(
            curvature=float(loss.bend * largest.max() + self.ridge) / count,
            constraint_curvature=0.0,
            slope=float(np.linalg.norm(slopes)) / count,
            constraint_slope=frobenius,
            start_slope=frobenius,
            weak_convexity=max(0.0, float(loss.concavity * largest.max() - self.ridge)) / count,
        )

    def _centralised(self, signed: Array, graph: RandomGraph) -> Optimum | None:
        count, _, d = signed.shape
        solution = logistic_optimum(signed.reshape(-1, d), self.ridge)
        if solution is None or np.abs(solution[0]).max() > self.half_width:
            return None
        centre = solution[0]
        own = signed @ centre
        gradients = (self.ridge * centre - (expit(-own)[..., None] * signed).mean(axis=1)) / count
        multipliers = graph.potentials(gradients.mean(axis=0) - gradients).ravel()
        value = float(np.logaddexp(0.0, -own).mean() + 0.5 * self.ridge * (centre @ centre))
        both = np.concatenate([np.maximum(multipliers, 0.0), np.maximum(-multipliers, 0.0)])
        return Optimum(value, np.tile(centre, count), both, "centralised problem, Newton's method")

    def draw(
        self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: int | tuple[int, ...] = 1
    ) -> Sample:
        """Draw data points of every node (R, *shape, N, points size) and mean edges (R, *shape, 3, pairs)."""
        picked = streams.uniform("xi", *shape, self.nodes, self.points * int(np.prod(size)))
        edges = self.data.graph.draw(streams, "zeta", *shape, COPIES, size=int(np.prod(size)))
        return Sample(point=(picked * self.node_points).astype(np.intp), edges=edges)

    def evaluate(self, x: Array, xi: Sample | None = None) -> Evaluation:
        """Return the mean loss (...) of the nodes, over the sample or exact, and both signs of the rows (..., 2p)."""
        at, margins, _ = self._margins(x, xi)
        losses = self.data.loss.value(margins).mean(axis=-1) + 0.5 * self.ridge * np.square(at).sum(axis=-1)
        return Evaluation(losses.mean(axis=-1), self.two_sided(self.residual(x, xi)))

    def stochastic_gradient(self, x: Array, xi: Sample | None = None) -> Array:
        """Return the gradients of f_i / N at every node i, (..., N d)."""
        at, margins, signed = self._margins(x, xi)
        slopes = self.data.loss.slope(margins) / margins.shape[-1]
        part = np.matmul(slopes[..., None, :], signed)[..., 0, :] + self.ridge * at
        return part.reshape(x.shape) / self.nodes

    def residual(self, x: Array, xi: Sample | None = None, copy: int = 0) -> Array:
        """Return x_i - x_j times the share of the sample's graphs with this edge, without a sample p_ij; (..., p)."""
        differences = self.data.graph.differences(self._nodes(x), None if xi is None else xi.edges[..., copy, :])
        return differences.reshape(*x.shape[:-1], self.rows)

    def adjoint(self, y: Array, xi: Sample | None = None, copy: int = 0) -> Array:
        """Return A^T y (..., N d) for y (..., p): at every node the sum of y over its edges, signed by its end."""
        pairs = y.reshape(*y.shape[:-1], -1, self.features)
        product = self.data.graph.adjoint(pairs, None if xi is None else xi.edges[..., copy, :])
        return product.reshape(*y.shape[:-1], self.domain.n)

    @property
    def operator_norm(self) -> float:
        """The norm of the mean constraint matrix E[A], from the graph's Laplacian E[W]'E[W] (N, N)."""
        return float(np.sqrt(np.linalg.eigvalsh(self.data.graph.laplacian)[-1]))

    def metrics(
        self, x: Array, y: Array | None, value: Evaluation | None, exact: ExactValues | None = None
    ) -> dict[str, Array]:
        """Measure what every problem does, the consensus error and the objective of the mean, (R,)."""
        mean = self._nodes(x).mean(axis=-2, keepdims=True)
        everywhere = np.broadcast_to(mean, (*x.shape[:-1], self.nodes, self.features)).reshape(x.shape)
        return super().metrics(x, y, value, exact) | {
            "consensus_error": self.disagreement(x).max(axis=-1),
            "mean_objective": self.evaluate(everywhere).f,
        }

    def disagreement(self, x: Array) -> Array:
        """Return the distance ||x_i - mean|| of every node from the mean, (..., N)."""
        at = self._nodes(x)
        return np.linalg.norm(at - at.mean(axis=-2, keepdims=True), axis=-1)

    def _nodes(self, x: Array) -> Array:
        """Reshape x (..., N d) to (..., N, d)."""
        return x.reshape(*x.shape[:-1], self.nodes, self.features)

    def _margins(self, x: Array, xi: Sample | None) -> tuple[Array, Array, Array]:
        """Return x (..., N, d), the margins (..., N, B), and the points times labels (..., N, B, d)."""
        at, signed = self._nodes(x), self.data.signed
        if xi is not None:
            signed = signed[np.arange(self.nodes)[:, None], xi.point]
            if signed.ndim < at.ndim + 1:
                signed = signed[:, None]  # probes of one replica share its points
        return at, np.matmul(signed, at[..., None])[..., 0], signed
