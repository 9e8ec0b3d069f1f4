"""Radial distribution feeders: buses, branches and loads, and the AC power flow on them, in batches."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoviz.core.optional import require
from zoviz.core.types import Array

Complex = NDArray[np.complex128]

_TOLERANCE = 1e-10
"""Of the voltages, in p.u.; below about 1e-11 round-off keeps the iteration from settling."""
_ITERATIONS = 60
_IDEAL = 1e20
"""Short-circuit power of the source in VA: the package's default of 1e10 adds an impedance that the case lacks."""


class PowerFlow(NamedTuple):
    """The results of one batch of power flows, in p.u.; NaN where ``failed``.

    Attributes
    ----------
    voltage : Array, shape (..., buses)
        Magnitudes.
    phasor : Complex, shape (..., buses)
        Voltages as complex numbers.
    current : Complex, shape (..., loads)
        Currents that the loads draw.
    source : Array, shape (...,)
        Active power that the feeder takes at its head.
    losses : Array, shape (...,)
        Active power lost in the branches.
    failed : ndarray of bool, shape (...,)
        Whether the flow has no solution that the iteration finds, or was asked for at loads that are not finite.
    """

    voltage: Array
    phasor: Complex
    current: Complex
    source: Array
    losses: Array
    failed: np.ndarray


class Feeder:
    r"""A radial feeder whose head is an ideal source of 1 p.u.

    Bus voltages solve V = 1 - Z I, I = conj(S / V) at the buses with loads, where Z_ji is the impedance that the paths
    from the head to the buses j and i have in common. The flows of a batch are solved by power-grid-model's iterative
    current method, in one thread.

    Parameters
    ----------
    buses : ndarray of int, shape (buses,)
        Their numbers.
    branches : ndarray of int, shape (buses - 1, 2)
        Bus numbers at both ends.
    impedance : Complex, shape (buses - 1,)
        Of the branches, in ohm.
    loads : Complex, shape (buses,)
        Active and reactive power in VA.
    head : int
        Number of the source's bus.
    volts, base : float
        Base voltage (line to line) and base power in VA.

    Attributes
    ----------
    buses : ndarray of int, shape (buses,)
    load_buses : ndarray of int, shape (loads,)
        Indices into ``buses`` of those with a load.
    active, reactive : Array, shape (loads,)
        Their loads in p.u.
    edges : ndarray of int, shape (buses - 1, 2)
        Indices of the branches' buses, the one nearer to the head first; every bus but the head is once second.
    depth : ndarray of int, shape (buses,)
        Branches between the head and the bus.
    distance : Array, shape (buses,)
        Magnitudes of the branches' impedances from the head to the bus, added up, in ohm: the case has no lengths.
    common : Complex, shape (buses, loads)
        Z in p.u.

    Raises
    ------
    ValueError
        Where the branches are no tree that reaches every bus from the head.
    MissingExtra
        Without the packages of the extra ``grid``.
    """

    def __init__(
        self,
        buses: np.ndarray,
        branches: np.ndarray,
        impedance: Complex,
        loads: Complex,
        head: int,
        volts: float,
        base: float,
    ) -> None:
        self.buses, self.base = np.asarray(buses), float(base)
        place = {int(bus): i for i, bus in enumerate(self.buses)}
        ends = np.array([[place[int(bus)] for bus in pair] for pair in branches])
        self.load_buses = np.flatnonzero(loads)
        self.active, self.reactive = loads[self.load_buses].real / base, loads[self.load_buses].imag / base
        self.edges, order = _outward(ends, place[head], len(self.buses))
        on_path = np.zeros((len(self.buses), len(ends)))
        for edge, (parent, child) in zip(order, self.edges, strict=True):
            on_path[child] = on_path[parent]
            on_path[child, edge] = 1.0
        self.depth = on_path.sum(axis=1).astype(int)
        self.distance = on_path @ np.abs(impedance)
        self.common = (on_path * impedance) @ on_path[self.load_buses].T * (base / volts**2)
        self._between = np.ascontiguousarray(self.common[self.load_buses])
        self._model = _model(ends, impedance, self.load_buses, place[head], volts, len(self.buses))

    def solve(self, p: Array, q: Array) -> PowerFlow:
        """Solve the power flows of a batch of loads.

        Parameters
        ----------
        p, q : Array, shape (..., loads)
            Active and reactive loads in p.u.; negative ones are generation.
        """
        shape = p.shape[:-1]
        p, q = p.reshape(-1, p.shape[-1]), q.reshape(-1, p.shape[-1])
        # To the package NaN means "as before", not "unknown": such rows would come back as the base case.
        failed = ~np.isfinite(np.concatenate([p, q], axis=1)).all(axis=1)
        loads = np.where(failed[:, None], 0.0, p), np.where(failed[:, None], 0.0, q)
        magnitude, angle, diverged = self._flows(*loads)
        failed |= diverged | ~np.isfinite(magnitude.sum(axis=1))
        voltage = np.where(failed[:, None], 1.0, magnitude)
        phasor = voltage * np.exp(1j * np.where(failed[:, None], 0.0, angle))
        current = np.conj((loads[0] + 1j * loads[1]) / phasor[:, self.load_buses])
        source = current.real.sum(axis=1)
        values = voltage, phasor, current, source, source - loads[0].sum(axis=1)
        for value in values:
            value[failed] = np.nan
        flow = (*values, failed)
        return PowerFlow(*(part.reshape((*shape, *part.shape[1:])) for part in flow))

    def adjoint(self, flow: PowerFlow, of_source: Array, of_voltage: Array) -> tuple[Array, Array]:
        r"""Return the gradient, in the loads, of a quantity whose partial derivatives by flow and voltage are given.

        With I = conj(S / V), V = 1 - Z I and phi = Re <w, I> to first order, lam = w + Z' conj(A lam),
        A = I / conj(V), holds for the adjoint currents; the iteration contracts as the power flow's own does.

        Parameters
        ----------
        flow : PowerFlow
        of_source : Array, shape (...,)
            Derivative with respect to ``flow.source``.
        of_voltage : Array, shape (..., buses)
            With respect to ``flow.voltage``.

        Returns
        -------
        tuple of Array, shape (..., loads)
            Derivatives with respect to p and q.
        """
        with np.errstate(invalid="ignore"):  # failed flows are NaN and stay so
            at_loads = np.conj(flow.phasor[..., self.load_buses])
            towards = of_voltage * np.conj(flow.phasor) / flow.voltage
            weight = of_source[..., None] - towards @ self.common
            ratio = flow.current / at_loads
            adjoint = weight
            for _ in range(_ITERATIONS):
                previous, adjoint = adjoint, weight + np.conj(ratio * adjoint) @ self._between
                change = np.abs(adjoint - previous)
                if not (change > 1e-13 * (1.0 + np.abs(adjoint))).any():
                    break
            adjoint = adjoint / at_loads
        return adjoint.real, adjoint.imag

    def _flows(self, p: Array, q: Array) -> tuple[Array, Array, np.ndarray]:
        """Solve for magnitudes and angles (scenarios, buses), and tell which scenarios failed (rows of garbage)."""
        failed = np.zeros(len(p), dtype=bool)
        if not len(p):
            return np.empty((0, len(self.buses))), np.empty((0, len(self.buses))), failed
        model = copy.copy(self._model)  # a batch leaves marks on the model; clones in several threads share this one
        out = model.calculate_power_flow(
            update_data={"sym_load": {"p_specified": p * self.base, "q_specified": q * self.base}},
            calculation_method="iterative_current",
            error_tolerance=_TOLERANCE,
            max_iterations=_ITERATIONS,
            threading=1,
            output_component_types={"node": ["u_pu", "u_angle"]},
            continue_on_batch_error=True,
        )["node"]
        if model.batch_error is not None:
            failed[model.batch_error.failed_scenarios] = True
        return out["u_pu"], out["u_angle"], failed


def _outward(ends: np.ndarray, head: int, buses: int) -> tuple[np.ndarray, list[int]]:
    """Order branches from the head outwards, each as (nearer, farther) bus, and their places in ``ends``."""
    touching: list[list[int]] = [[] for _ in range(buses)]
    for edge, pair in enumerate(ends):
        for bus in pair:
            touching[bus].append(edge)
    visited, order, edges, waiting = {head}, [], [], [head]
    for bus in waiting:
        for edge in touching[bus]:
            other = int(ends[edge].sum() - bus)
            if other not in visited:
                visited.add(other)
                order.append(edge)
                edges.append((bus, other))
                waiting.append(other)
    if len(ends) != buses - 1 or len(visited) != buses:
        raise ValueError(
            f"Expected branches that form a tree, got {len(ends)} that reach {len(visited)} of {buses} buses from the "
            "head: open the switches that close a loop, and connect every bus."
        )
    return np.array(edges).reshape(-1, 2), order


def _model(ends: np.ndarray, impedance: Complex, load_buses: np.ndarray, head: int, volts: float, buses: int) -> Any:
    """Return the feeder without load as power-grid-model's input."""
    pgm = require("power_grid_model", "grid")
    lines, loads = len(ends), len(load_buses)
    node = pgm.initialize_array("input", "node", buses)
    node["id"], node["u_rated"] = np.arange(buses), volts
    line = pgm.initialize_array("input", "line", lines)
    line["id"], line["from_status"], line["to_status"] = buses + np.arange(lines), 1, 1
    line["from_node"], line["to_node"] = ends.T
    line["r1"], line["x1"], line["c1"], line["tan1"] = impedance.real, impedance.imag, 0.0, 0.0
    load = pgm.initialize_array("input", "sym_load", loads)
    load["id"], load["node"], load["status"] = buses + lines + np.arange(loads), load_buses, 1
    load["type"], load["p_specified"], load["q_specified"] = pgm.LoadGenType.const_power, 0.0, 0.0
    source = pgm.initialize_array("input", "source", 1)
    source["id"], source["node"], source["status"] = buses + lines + loads, head, 1
    source["u_ref"], source["sk"] = 1.0, _IDEAL
    return pgm.PowerGridModel({"node": node, "line": line, "sym_load": load, "source": source})
