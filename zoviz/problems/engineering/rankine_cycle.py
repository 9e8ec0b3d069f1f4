"""An organic Rankine cycle on hot water, its states from the equations of state in CoolProp."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.optional import require
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation, Optimum
from zoviz.problems.base import Problem

_AMBIENT, _KEPT, _EFFICIENCY = 101325.0, 0.98, 0.7
"""Pressure in Pa; share of it that a stream keeps in a heat exchanger; isentropic efficiency of pumps and turbine."""
_START = ((75.0, 20.0, 1.0, 235.0, 5.0, 480.0), (120.0, 35.0, 10.0, 400.0, 35.0, 780.0))
"""Ends of the part of the box that x0 is uniform in: none of 10 000 calls there failed, and 3 % were feasible."""
_OPTIMUM = (75.0, 20.0, 3.8518244369, 264.4914728952, 13.4479430653, 669.3102268443)
_MULTIPLIERS = (0.0, 0.28679979, 0.0, 0.0, 0.3370605, 0.0, 0.0, 0.01661245, 0.00381233, 0.0, 0.0)


class RankineCycle(Problem):
    r"""The organic Rankine cycle that makes most power of 1 kg/s of water at 120 °C; eleven constraints.

    .. math:: \min_x\ \dot W_{\mathrm{pumps}} - \dot W_{\mathrm{turbine}} \quad\text{s.t.}\quad
              & \Delta T \ge 10\ \mathrm K,\quad T_4 \le T_s(p_4) - 1\ \mathrm K,\quad
              T_7 \ge T_s(p_7) + 5\ \mathrm K, \\
              & q_8 \ge 1,\quad p_4 \ge 1.5\ \mathrm{bar},\quad p_5 \le 15\ \mathrm{bar}

    Isobutane is pumped (4 to 5), evaporated by the hot water (5 to 7), expanded in a turbine (7 to 8) and condensed by
    cooling water of 10 °C (8 to 4); efficiencies are 0.7, and a stream loses 2 % of its pressure in a heat exchanger.
    x = (T3, T12, p4, h4, p7, h7): the temperatures in °C at which hot and cooling water leave, pressure in bar and
    enthalpy in kJ/kg where the pump and the turbine take isobutane in. Objective in kW, temperature differences in K at
    both ends of evaporator and condenser and where isobutane begins to boil and to condense, q the vapour's share.
    Limits on T4 and T7 are rows in enthalpies, as temperatures do not change while isobutane boils. A call has the
    value NaN where an equation of state has no answer, as above the critical pressure, and where no heat is taken in
    or given off: in 37 % of the box.

    Notes
    -----
    Fluids, limits and efficiencies are those of the source's example R600a, which has no recuperator. It asks for the
    temperature differences at 50 points of each exchanger, has wider bounds, which a cycle above the critical pressure
    needs, and divides the power by the heat of the hot water, a constant.

    Optimum: where sixteen runs of ``minimize`` and four of CMA-ES with 3000 calls, all from other starts, came nearest
    to, made exact by Newton's method on its six active limits; all multipliers are positive there.

    Raises
    ------
    MissingExtra
        When it is first evaluated, without CoolProp, the extra ``simulators``.

    References
    ----------
    Agromayor (2020), RankineLab Technical Note, Table 1, and its example R600a (github.com/RoberAgro/RankineLab);
    Bell, Wronski, Quoilin and Lemort (2014), Industrial & Engineering Chemistry Research 53(6), 2498-2508 (CoolProp).
    """

    title = "Organic Rankine cycle"
    order = 34
    analytic = False
    costly = True
    n: ClassVar[int] = 6
    m: ClassVar[int] = 11

    scaled = param.Boolean(default=True)

    @cached_property
    def domain(self) -> Box:
        """The box of the design variables."""
        return Box((75.0, 20.0, 1.0, 235.0, 5.0, 235.0), (120.0, 35.0, 10.0, 400.0, 45.0, 780.0))

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The design variables with their units, and what each row limits."""
        places = [f"{one}, {end}" for one in ("evaporator", "condenser") for end in ("cold end", "pinch", "hot end")]
        others = ("wet turbine", "subcooling", "superheating", "lowest pressure", "highest pressure")
        return ("T3 °C", "T12 °C", "p4 bar", "h4 kJ/kg", "p7 bar", "h7 kJ/kg"), (*places, *others)

    @cached_property
    def known_optimum(self) -> Optimum:
        """The best of many runs, made exact."""
        point = np.array(_OPTIMUM)
        return Optimum(float(self.evaluate(point).f), point, np.array(_MULTIPLIERS), "the best of many long runs")

    def initial(self, streams: Streams) -> Array:
        """Return starts uniform in a part of the box in which every call has a value, (R, 6)."""
        low, high = np.array(_START)
        return low + (high - low) * streams.uniform("x0", self.n)

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Return minus the net power in kW (...) and the rows (..., 11) at designs x (..., 6); NaN where it fails."""
        values = np.array([_values(*point) for point in x.reshape(-1, self.n).tolist()])
        return Evaluation(values[:, 0].reshape(x.shape[:-1]), values[:, 1:].reshape(*x.shape[:-1], self.m))


class _State(NamedTuple):
    """A state of a fluid by its specific enthalpy in J/kg and its pressure in Pa."""

    h: float
    p: float


class _Fluid:
    """A fluid whose states CoolProp computes from two properties; ValueError where there is none."""

    def __init__(self, name: str) -> None:
        self._coolprop = require("CoolProp", "simulators")
        self._now = self._coolprop.AbstractState("HEOS", name)

    def at(self, pressure: float, kelvin: float) -> _State:
        self._now.update(self._coolprop.PT_INPUTS, pressure, kelvin)
        return _State(self._now.hmass(), pressure)

    def temperature(self, state: _State) -> float:
        self._now.update(self._coolprop.HmassP_INPUTS, *state)
        return self._now.T()

    def saturated(self, pressure: float, quality: float) -> tuple[float, float]:
        """Return enthalpy and temperature of boiling liquid (quality 0) or dry vapour (1)."""
        self._now.update(self._coolprop.PQ_INPUTS, pressure, quality)
        return self._now.hmass(), self._now.T()

    def brought(self, start: _State, pressure: float, share: float) -> _State:
        """Return the state at another pressure, its enthalpy changed by a share of what it does at equal entropy."""
        self._now.update(self._coolprop.HmassP_INPUTS, *start)
        self._now.update(self._coolprop.PSmass_INPUTS, pressure, self._now.smass())
        return _State(start.h + share * (self._now.hmass() - start.h), pressure)


class _Stream(NamedTuple):
    """A fluid in a heat exchanger, from its cold to its hot end; its pressure is linear in the heat."""

    fluid: _Fluid
    cold: _State
    hot: _State

    def at(self, share: float) -> _State:
        return _State(*(one + share * (other - one) for one, other in zip(self.cold, self.hot, strict=True)))

    def share_until(self, quality: float) -> float:
        """Return the share of the heat, from the cold end on, until it boils (quality 0) or is dry (1)."""
        share = 0.0
        for _ in range(6):  # the ends' pressures differ by 2 % only, so that each pass adds two digits
            enthalpy, _ = self.fluid.saturated(self.at(share).p, quality)
            share = (enthalpy - self.cold.h) / (self.hot.h - self.cold.h)
        return share


def _values(t3: float, t12: float, p4: float, h4: float, p7: float, h7: float) -> list[float]:
    # Each call has its own: where CoolProp begins to iterate, and what fails, depends on the state before.
    water, isobutane = _Fluid("Water"), _Fluid("Isobutane")
    s4, s7 = _State(1e3 * h4, 1e5 * p4), _State(1e3 * h7, 1e5 * p7)
    try:
        return _cycle(water, isobutane, t3 + 273.15, t12 + 273.15, s4, s7)
    except ValueError:  # an equation of state has no such state
        return [np.nan] * 12


def _cycle(water: _Fluid, isobutane: _Fluid, t3: float, t12: float, s4: _State, s7: _State) -> list[float]:
    """Return minus the net power in kW and the rows; states are numbered as in the source."""
    s1, s3 = water.at(3.0 * _AMBIENT, 393.15), water.at(3.0 * _AMBIENT, t3)
    s2 = water.brought(s3, _KEPT * s1.p, 1.0 / _EFFICIENCY)  # before the pump that brings it to s3
    s5 = isobutane.brought(s4, s7.p / _KEPT, 1.0 / _EFFICIENCY)
    s8 = isobutane.brought(s7, s4.p / _KEPT, _EFFICIENCY)
    s10, s12 = water.at(_AMBIENT, 283.15), water.at(_AMBIENT, t12)
    s11 = water.brought(s10, s12.p / _KEPT, 1.0 / _EFFICIENCY)
    if s7.h <= s5.h or s8.h <= s4.h:
        raise ValueError("Expected heat into the evaporator and out of the condenser, got none.")
    flow = (s1.h - s2.h) / (s7.h - s5.h)
    cooling = flow * (s8.h - s4.h) / (s12.h - s11.h)
    power = flow * (s7.h - s8.h - s5.h + s4.h) - (s3.h - s2.h) - cooling * (s11.h - s10.h)

    evaporated, condensed = _Stream(isobutane, s5, s7), _Stream(isobutane, s4, s8)
    source, sink = _Stream(water, s2, s1), _Stream(water, s11, s12)
    rows = [10.0 - _difference(source, evaporated, share) for share in (0.0, evaporated.share_until(0.0), 1.0)]
    rows += [10.0 - _difference(condensed, sink, share) for share in (0.0, condensed.share_until(1.0), 1.0)]
    (liquid, _), (vapour, _) = isobutane.saturated(s8.p, 0.0), isobutane.saturated(s8.p, 1.0)
    cool = isobutane.at(s4.p, isobutane.saturated(s4.p, 0.0)[1] - 1.0)
    hot = isobutane.at(s7.p, isobutane.saturated(s7.p, 1.0)[1] + 5.0)
    rows += [(vapour - s8.h) / (vapour - liquid), 1e-3 * (s4.h - cool.h), 1e-3 * (hot.h - s7.h)]
    return [-1e-3 * power, *rows, 1.5 - 1e-5 * s4.p, 1e-5 * s5.p - 15.0]


def _difference(hot: _Stream, cold: _Stream, share: float) -> float:
    return hot.fluid.temperature(hot.at(share)) - cold.fluid.temperature(cold.at(share))
