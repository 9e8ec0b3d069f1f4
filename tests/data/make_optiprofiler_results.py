"""Runs OptiProfiler on three small problems, and keeps its results and its profiles.

python tests/data/make_optiprofiler_results.py writes optiprofiler_hs.h5 and optiprofiler_hs.json beside it. The files
in the repository were made by OptiProfiler 1.3.5.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

HERE = Path(__file__).resolve().parent
PROBLEMS = ["HS10", "HS12", "HS43"]
LEVELS = 6
"""Tolerances 1e-1 to 1e-6, of which OptiProfiler draws a profile each."""


def constraints(aub: Any, bub: Any, cub: Any, x0: Any) -> list[dict[str, Any]]:
    own = [{"type": "ineq", "fun": lambda x: bub - aub @ x}] if len(bub) else []
    return own + ([{"type": "ineq", "fun": lambda x: -np.asarray(cub(x))}] if len(cub(x0)) else [])


def cobyla(fun: Any, x0: Any, xl: Any, xu: Any, aub: Any, bub: Any, aeq: Any, beq: Any, cub: Any, ceq: Any) -> Any:
    options = {"maxiter": 60}
    return minimize(fun, x0, method="COBYLA", constraints=constraints(aub, bub, cub, x0), options=options).x


def slsqp(fun: Any, x0: Any, xl: Any, xu: Any, aub: Any, bub: Any, aeq: Any, beq: Any, cub: Any, ceq: Any) -> Any:
    return minimize(fun, x0, method="SLSQP", constraints=constraints(aub, bub, cub, x0)).x


def main() -> None:
    from optiprofiler import benchmark

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _, _, curves = benchmark(
            [cobyla, slsqp],
            ptype="n",
            mindim=2,
            maxdim=4,
            plibs=["s2mpj"],
            problem_names=PROBLEMS,
            n_jobs=1,
            n_runs=2,
            max_eval_factor=20,
            max_tol_order=LEVELS,
            solver_names=["COBYLA", "SLSQP"],
            semilogx=False,
            draw_hist_plots="none",
            savepath=folder,
        )
        (file,) = Path(folder).rglob("data_for_loading.h5")
        shutil.copy(file, HERE / "optiprofiler_hs.h5")
    plain = [
        {kind: [np.asarray(solver[-1]).tolist() for solver in level["hist"][kind]] for kind in ("perf", "data")}
        for level in curves
    ]
    (HERE / "optiprofiler_hs.json").write_text(json.dumps(plain) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
