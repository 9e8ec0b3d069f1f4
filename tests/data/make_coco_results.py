"""Runs two methods on four of COCO's functions, and keeps the logger's files and what cocopp reads off them.

python tests/data/make_coco_results.py writes coco_bbob.zip and coco_bbob.json beside it; it needs coco-experiment and
cocopp, which no test does. The files in the repository were made by coco-experiment 2.8.2 and cocopp 2.9.1.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

HERE = Path(__file__).resolve().parent
TARGETS = [10.0, 1.0, 0.1, 1e-3, 1e-8]
OPTIONS = "dimensions:2,5 function_indices:1,8"


def random_search(problem: Any) -> None:
    generator, budget = np.random.default_rng(problem.index), 50 * problem.dimension
    width = problem.upper_bounds - problem.lower_bounds
    for _ in range(budget):
        problem(problem.lower_bounds + width * generator.random(problem.dimension))


def nelder_mead(problem: Any) -> None:
    generator, budget, x = np.random.default_rng(problem.index), 100 * problem.dimension, problem.initial_solution
    while problem.evaluations < budget and not problem.final_target_hit:
        minimize(problem, x, method="Nelder-Mead", options={"maxfev": budget})
        x = generator.uniform(-4.0, 4.0, problem.dimension)


def main() -> None:
    import cocoex
    import cocopp

    plain: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, method in (("random", random_search), ("nelder-mead", nelder_mead)):
            observer = cocoex.Observer("bbob", f"result_folder: {name} algorithm_name: {name}")
            for problem in cocoex.Suite("bbob", "instances:1-3", OPTIONS):
                problem.observe_with(observer)
                method(problem)
                problem.free()
            plain[name] = [
                {
                    "function": int(one.funcId),
                    "n": int(one.dim),
                    "calls": [[float(calls) for calls in each] for each in one.detEvals(TARGETS)],
                    "ert": [float(each) for each in one.detERT(TARGETS)],
                }
                for one in cocopp.load(f"exdata/{name}")
            ]
        with zipfile.ZipFile(HERE / "coco_bbob.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(Path("exdata").rglob("*")):
                if file.suffix in (".info", ".dat", ".tdat"):
                    archive.write(file)
    (HERE / "coco_bbob.json").write_text(json.dumps(plain) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
