"""The optimal power flow of the 14-bus case, each call a power flow by Newton's method in pandapower."""

from __future__ import annotations

from copy import deepcopy
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.optional import require
from zoviz.core.sets import Box
from zoviz.core.types import Array, Evaluation, Optimum
from zoviz.problems.base import Problem

_OPTIMUM = (36.719182952, 28.742826036, 0.0, 8.495059193, 1.06, 1.0407532436, 1.0156254684, 1.06, 1.06)
_PRICE = 0.09387677
"""Multiplier, in $/h per MVAr, of the only row that is active: the slack takes in no reactive power."""
_STATES = 15


class _Data(NamedTuple):
    """The network, the box of the set points, the limits (15,) of what follows, and the sources' polynomials (5, 3)."""

    net: Any
    domain: Box
    lowest: Array
    highest: Array
    costs: Array


class OptimalPowerFlow(Problem):
    r"""The cheapest set points of five generators on the IEEE's 14-bus network; 30 constraints.

    .. math:: \min_{x \in X} \sum_{g} c_{1g}\,p_g(x) + c_{2g}\,p_g(x)^2
              \quad\text{s.t.}\quad \underline s \le s(x) \le \bar s

    x: the active powers in MW of the generators at buses 2, 3, 6 and 8, and the voltages in p.u. at buses 1 (the slack,
    which balances the network), 2, 3, 6 and 8. s: the voltages of the other nine buses, the reactive powers in MVAr of
    the five generators and the slack's active power in MW, all from one AC power flow; first the 15 rows of the upper
    limits. Cost in $/h. Powers, voltages and limits are the case's, which has no limits on lines. A power flow that
    does not converge has the value NaN: with the loads as they are this happens nowhere in the box.

    Notes
    -----
    Optimum: MATPOWER's and pandapower's interior-point methods print 8081.53 $/h; the digits of the point are from
    Newton's method on the Karush-Kuhn-Tucker conditions. That it is the best is what many authors found, not a proof.

    Raises
    ------
    MissingExtra
        When the data are first needed, without pandapower, the extra ``simulators``.

    References
    ----------
    Zimmerman, Murillo-Sanchez and Thomas (2011), IEEE Transactions on Power Systems 26(1), 12-19, case14;
    Thurner et al. (2018), IEEE Transactions on Power Systems 33(6), 6510-6521 (pandapower).
    """

    title = "Optimal power flow (14 buses)"
    order = 35
    domain: Box
    analytic = False
    costly = True
    n: ClassVar[int] = 9
    m: ClassVar[int] = 2 * _STATES

    scaled = param.Boolean(default=True)
    load = param.Number(
        default=1.0, bounds=(0.0, 10.0), softbounds=(0.5, 1.5), label="Load", doc="Factor of all loads of the case."
    )

    def build(self) -> _Data:
        net = require("pandapower", "simulators").networks.case14()
        net.load[["p_mw", "q_mvar"]] *= self.load
        net.trafo["tap_dependency_table"] = False  # pandapower warns where its own case leaves this out

        def ends(side: str) -> tuple[Array, Array]:
            voltages, slack, inner = net.bus[f"{side}_vm_pu"], net.ext_grid, net.gen
            states = [voltages.drop(_sources(net)), slack[f"{side}_q_mvar"], inner[f"{side}_q_mvar"]]
            set_points = [inner[f"{side}_p_mw"], voltages[_sources(net)]]
            return np.concatenate(set_points), np.concatenate([*states, slack[f"{side}_p_mw"]])

        (lower, lowest), (upper, highest) = ends("min"), ends("max")
        costs = net.poly_cost[["cp0_eur", "cp1_eur_per_mw", "cp2_eur_per_mw2"]].to_numpy(dtype=float)
        return _Data(net, Box(lower, upper), lowest, highest, costs)

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The set points and what has limits, with units and the case's numbers of buses."""
        inner, others = (2, 3, 6, 8), (4, 5, 7, 9, 10, 11, 12, 13, 14)
        states = [f"V{i} p.u." for i in others] + [f"Q{i} MVAr" for i in (1, *inner)] + ["P1 MW"]
        rows = [f"{state}, {side}" for side in ("highest", "lowest") for state in states]
        return (*(f"P{i} MW" for i in inner), *(f"V{i} p.u." for i in (1, *inner))), tuple(rows)

    @cached_property
    def known_optimum(self) -> Optimum | None:
        """The published solution with more digits; None for other loads."""
        if self.load != 1.0:
            return None
        point, multipliers = np.array(_OPTIMUM), np.zeros(self.m)
        multipliers[24] = _PRICE
        return Optimum(float(self.evaluate(point).f), point, multipliers, "MATPOWER's runopf, with more digits")

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Return costs (...) and rows (..., 30) at set points x (..., 9); NaN where the power flow fails."""
        data = self.data
        net = deepcopy(data.net)  # each power flow writes into it, and runs in other threads have the same data
        flows = [_flow(net, point) for point in x.reshape(-1, self.n)]
        states, powers = (np.reshape(part, (*x.shape[:-1], -1)) for part in zip(*flows, strict=True))
        f = (data.costs * powers[..., None] ** np.arange(3)).sum(axis=(-2, -1))
        return Evaluation(f, np.concatenate([states - data.highest, data.lowest - states], axis=-1))


def _sources(net: Any) -> list[int]:
    return [*net.ext_grid.bus, *net.gen.bus]


def _flow(net: Any, point: Array) -> tuple[Array, Array]:
    """Solve a power flow at set points (9,); return what has limits (15,) and the sources' active powers (5,)."""
    pandapower = require("pandapower", "simulators")
    net.gen["p_mw"], net.ext_grid["vm_pu"], net.gen["vm_pu"] = point[:4], point[4], point[5:]
    try:
        # To 1e-10 MVA: small differences of set points must show in the values.
        pandapower.runpp(net, init="flat", tolerance_mva=1e-10, numba=False)
    except pandapower.LoadflowNotConverged:
        return np.full(_STATES, np.nan), np.full(5, np.nan)
    slack, inner = net.res_ext_grid, net.res_gen
    voltages = net.res_bus.vm_pu.drop(_sources(net))
    states = np.concatenate([voltages, slack.q_mvar, inner.q_mvar, slack.p_mw])
    return states, np.concatenate([slack.p_mw, inner.p_mw])
