"""Network slicing: routes for flows, and nodes for the functions that they need, with binaries made continuous."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, ExactValues, Sample
from zoviz.problems.linear import LinearlyConstrained
from zoviz.problems.networks.slicing_constraints import Plan, SlicingRows
from zoviz.problems.networks.slicing_network import Network, generate

COPIES = 3
"""Independent draws of the demands in one sample, as Algorithm 2 needs them."""


class _Data(NamedTuple):
    network: Network
    system: SlicingRows
    constants: Constants
    domain: Box


class NetworkSlicing(LinearlyConstrained):
    r"""The cheapest routes of K flows through chains of functions, each function of a flow at one of P nodes.

    .. math:: \min \sum_{k,(i,j)} w_{ij} r_{ij}(k) + \sigma \sum_{k,f} \big(\|x_f(k) + \epsilon\|_p^p - c_\epsilon\big)

    with c = (1 + eps)^p + (P - 1) eps^p, so that the second term, which is concave and at least 0 on simplices, is 0
    at binary x. The rows, all of them equations, are in this order:

    - r_ij(k) = sum over s of r_ij(k, f_s), for every flow and link;
    - sum over i of x_{i,f}(k) = 1, for every flow and function;
    - outflow less inflow of r(k, f_s) at node i = lambda_k (x_{i,f_s}(k) - x_{i,f_{s+1}}(k)), for s = 0, ..., S, where
      f_0 stands for the flow's source and f_{S+1} for its target;
    - sum over k of r_ij(k) + slack = C_ij, for every link;
    - sum of lambda_k x_{i,f}(k) over k and f + slack = mu_i, for every function node.

    X is 0 <= r <= C, 0 <= x <= 1 and the slacks' own ranges. A sample has costs w_ij (1 + U) with U uniform in
    [-cost_spread, cost_spread]; with a ``demand_spread`` the demands lambda_k vary in the same way, and rows are seen
    through samples. ``metrics`` adds ``binary_distance``, the largest distance of an x from 0 and 1, and
    ``assignment_violation``, the largest residual of the rows on conservation and capacities once x is rounded to the
    provider with the largest share (``assignment``).

    Notes
    -----
    The paper names the rows and refers to Zhang et al. (2017) for them; the network is generated
    (``slicing_network.generate``). r <= C follows from the rows. Outside of X, below 0, the regulariser goes on along
    its tangent, so that smoothing may ask there.

    References
    ----------
    Paper salm, §6.2, (6.4)-(6.5); Zhang et al. (2017), Network Slicing for Service-Oriented Networks.
    """

    title = "Network slicing"
    order = 11
    domain: Box

    nodes = param.Integer(default=6, bounds=(3, 200), softbounds=(3, 40), label="Nodes", doc="Nodes of the network.")
    degree = param.Integer(
        default=3, bounds=(2, 50), softbounds=(2, 8), label="Links per node", doc="Links out of each node."
    )
    flows = param.Integer(default=2, bounds=(1, 200), softbounds=(1, 20), label="Flows K", doc="Flows to be routed.")
    chain = param.Integer(default=2, bounds=(1, 20), softbounds=(1, 5), label="Chain S", doc="Functions of a flow.")
    sites = param.Integer(
        default=4, bounds=(1, 200), softbounds=(1, 20), label="Function nodes", doc="Nodes that can serve functions."
    )
    providers = param.Integer(
        default=3, bounds=(1, 200), softbounds=(1, 10), label="Providers P", doc="Function nodes that offer a function."
    )
    tightness = param.Number(
        default=0.3, bounds=(0.05, 1), label="Tightness", doc="Capacities, as a share of what evenly spread flows need."
    )
    cost_spread = param.Number(
        default=0.2,
        bounds=(0, 1),
        label="Spread of costs",
        doc="Links' costs vary by this share.",
    )
    demand_spread = param.Number(
        default=0.0,
        bounds=(0, 1),
        label="Spread of demands",
        doc="Demands vary by this share; above 0 rows are sampled.",
    )
    weight = param.Number(default=1.0, bounds=(0, 1e4), softbounds=(0, 10), label="Regulariser σ", doc="Weight of P_ε.")
    exponent = param.Number(
        default=0.5, bounds=(0.05, 0.95), label="Exponent p", doc="Exponent of the regulariser's norm."
    )
    offset = Scale(
        0.1, bounds=(1e-3, 10), softbounds=(1e-2, 1), label="Offset ε", doc="Offset that keeps the gradient finite."
    )
    start_radius = param.Number(
        default=0.5, bounds=(0, 1e6), label="Start radius", doc="x0 is uniform in [0, start_radius]^n, projected on X."
    )
    seed = param.Integer(default=0, bounds=(0, 2**31), label="Instance seed", doc="Seed of the network.")

    def build(self) -> _Data:
        if not self.providers <= self.sites <= self.nodes:
            raise ValueError(
                f"Expected providers <= function nodes <= nodes, got {self.providers}, {self.sites} and {self.nodes}: "
                "lower the first, or raise the last."
            )
        rng, sizes = np.random.default_rng(self.seed), (self.flows, self.chain, self.sites, self.providers)
        network = generate(rng, self.nodes, self.degree, *sizes, self.tightness)
        system = SlicingRows(network)
        return _Data(network, system, self._bounds(system), Box(0.0, system.upper))

    def _bounds(self, system: SlicingRows) -> Constants:
        network, functions = system.network, self.flows * self.chain * self.providers
        steepest = self.weight * self.exponent * self.offset ** (self.exponent - 1.0)
        bend = self.weight * self.exponent * (1.0 - self.exponent) * self.offset ** (self.exponent - 2.0)
        jacobian = float(np.sqrt(2.0 * system.square))
        return Constants(
            curvature=max(bend, 1e-8),  # without a regulariser f is linear
            constraint_curvature=0.0,
            slope=float(np.sqrt(self.flows * np.square(network.cost).sum() + functions * steepest**2)),
            constraint_slope=jacobian,
            start_slope=jacobian,
            weak_convexity=bend,
        )

    @property
    def sampled_rows(self) -> bool:
        """Whether the rows are random: whether the demands vary."""
        return self.demand_spread > 0.0

    @property
    def rows(self) -> int:
        """The number of rows of all five kinds."""
        return self.data.system.count

    def initial(self, streams: Streams) -> Array:
        """Return starts uniform in [0, start_radius]^n, projected on X, (R, n)."""
        return self.domain.project(self.start_radius * streams.uniform("x0", self.domain.n))

    def parts(self, x: Array) -> Plan:
        """Split a point (..., n) into rates, totals, choices and slacks: views of it."""
        return self.data.system.parts(x)

    def draw(
        self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: int | tuple[int, ...] = 1
    ) -> Sample:
        """Draw the mini-batch's mean costs (R, *shape, L), and demands (R, *shape, 3, K) where they vary."""
        network, count = self.data.network, int(np.prod(size))
        swing = 2.0 * streams.uniform("xi", *shape, count, network.cost.size).mean(axis=-2) - 1.0
        sample = Sample(cost=network.cost * (1.0 + self.cost_spread * swing))
        if self.sampled_rows:
            swing = 2.0 * streams.uniform("zeta", *shape, COPIES, count, self.flows).mean(axis=-2) - 1.0
            sample.demand = network.demand * (1.0 + self.demand_spread * swing)
        return sample

    def evaluate(self, x: Array, xi: Sample | None = None) -> Evaluation:
        """Return cost plus regulariser (...), and both signs of the rows (..., 2p)."""
        plan, p, offset = self.parts(x), self.exponent, self.offset
        routes = (plan.totals.sum(axis=-2) * self._costs(x, xi)).sum(axis=-1)
        inside, below = np.maximum(plan.choices, 0.0), np.minimum(plan.choices, 0.0)
        powers = ((inside + offset) ** p + p * offset ** (p - 1.0) * below).sum(axis=-1)
        surplus = powers - ((1.0 + offset) ** p + (self.providers - 1) * offset**p)
        return Evaluation(routes + self.weight * surplus.sum(axis=(-2, -1)), self.two_sided(self.residual(x, xi)))

    def stochastic_gradient(self, x: Array, xi: Sample | None = None) -> Array:
        """Return (..., n): w on the r_ij(k), sigma p (x + eps)^(p - 1) on the choices x, 0 elsewhere."""
        out = np.zeros(x.shape)
        plan = self.parts(out)  # views
        plan.totals[...] = self._costs(x, xi)[..., None, :]
        choices = np.maximum(self.parts(x).choices, 0.0)
        plan.choices[...] = self.weight * self.exponent * (choices + self.offset) ** (self.exponent - 1.0)
        return out

    def residual(self, x: Array, xi: Sample | None = None, copy: int = 0) -> Array:
        """Return A x - b, (..., p), with the mean demands or the sample's."""
        return self.data.system.residual(x, self._demands(x, xi, copy))

    def adjoint(self, y: Array, xi: Sample | None = None, copy: int = 0) -> Array:
        """Return A'y, (..., n), for y (..., p), with the mean demands or the sample's."""
        return self.data.system.adjoint(y, self._demands(y, xi, copy))

    def metrics(
        self, x: Array, y: Array | None, value: Evaluation | None, exact: ExactValues | None = None
    ) -> dict[str, Array]:
        """Measure what every problem does, and how far the assignment is from a feasible binary one, (R,)."""
        choices = self.parts(x).choices
        return super().metrics(x, y, value, exact) | {
            "binary_distance": np.minimum(np.abs(choices), np.abs(1.0 - choices)).max(axis=(-3, -2, -1)),
            "assignment_violation": self.data.system.rounded_violation(x),
        }

    def assignment(self, x: Array) -> np.ndarray:
        """Return the place, among the P that provide a function, with the largest share, (..., K, S)."""
        return np.argmax(self.parts(x).choices, axis=-1)

    def _costs(self, x: Array, xi: Sample | None) -> Array:
        """Return the costs of the links, (..., L) or what broadcasts to it."""
        if xi is None:
            return self.data.network.cost
        return xi.cost if xi.cost.ndim == x.ndim else xi.cost[:, None]  # probes of one replica share them

    def _demands(self, x: Array, xi: Sample | None, copy: int) -> Array:
        """Return the demands of the flows, (..., K) or what broadcasts to it."""
        if xi is None or not self.sampled_rows:
            return self.data.network.demand
        demand = xi.demand[..., copy, :]
        return demand if demand.ndim == x.ndim else demand[:, None]
