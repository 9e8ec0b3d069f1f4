"""Functional mock-up units (FMI) as black-box functions: parameters by name, outputs at a simulation's end."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from zoviz.core.optional import require
from zoviz.core.types import Array


class FMU:
    """A function for a ``BlackBox`` with ``joint=True``: x sets parameters; f and h are outputs at the end.

    With ``workers`` every process simulates for itself, and ``timeout`` ends a simulation that hangs; a simulation that
    the unit gives up is a failed call with ``on_error="fail"``.

    Parameters
    ----------
    path : path
        The unit's file.
    inputs : sequence of str
        Names of the parameters that x has, in order.
    outputs : sequence of str
        Names of the outputs: f, then those that are to be <= 0.
    stop_time : float, optional
        End of the simulation; default: the unit's own.
    fixed : mapping of str to object, optional
        Values of other parameters.

    Attributes
    ----------
    m : int
        Number of constraints.
    units : dict of str to str
        The unit of measurement of each input and output, where the file says it.

    Raises
    ------
    ValueError
        For a name that the unit does not have.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        stop_time: float | None = None,
        fixed: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._path, self._inputs, self._outputs = os.fspath(path), tuple(inputs), tuple(outputs)
        self._stop_time, self._fixed, self.m = stop_time, dict(fixed), len(outputs) - 1
        self._open()

    def _open(self) -> None:
        """Unpack the unit for this process."""
        fmpy: Any = require("fmpy", "fmi", "a functional mock-up unit")
        self._folder: str = fmpy.extract(self._path)
        self._description = fmpy.read_model_description(self._folder)
        known = {one.name: one for one in self._description.modelVariables}
        if missing := [name for name in (*self._inputs, *self._outputs, *self._fixed) if name not in known]:
            raise ValueError(f"Expected variables of the unit, {', '.join(known)}, got {missing[0]!r}.")
        self.units = {name: known[name].unit or "" for name in (*self._inputs, *self._outputs)}

    def __call__(self, x: Array) -> tuple[float, list[float]]:
        """Return f and h at x (n,).

        Raises
        ------
        Exception
            What the unit, or its solver of equations, gives up with.
        """
        fmpy: Any = require("fmpy", "fmi", "a functional mock-up unit")
        course = fmpy.simulate_fmu(
            self._folder,
            model_description=self._description,
            start_values=self._fixed | dict(zip(self._inputs, x.tolist(), strict=True)),
            output=list(self._outputs),
            stop_time=self._stop_time,
        )
        f, *h = (float(course[name][-1]) for name in self._outputs)
        return f, h

    def __getstate__(self) -> dict[str, Any]:
        own = ("_path", "_inputs", "_outputs", "_stop_time", "_fixed", "m")
        return {name: vars(self)[name] for name in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open()
