"""So many processes that write runs into one store at once: python -m helpers.store_writers URL PROCESSES RUNS."""

from __future__ import annotations

import json
import os
import sys

from zoviz import Run
from zoviz.problems import LoadTracking
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG


def write(url: str, number: int, runs: int) -> None:
    """One process: open the store, run, tell what each run came to."""
    with Store(url) as store:
        for i in range(runs):
            problem = LoadTracking(n=5, curtailment=40.0)
            settings = {"replicas": 2, "seed": 100 * number + i, "iterations": 120, "checkpoint": 0.02}
            run = Run(problem=problem, solver=ZOCEG(), store=store, label=f"{number}/{i}", **settings)
            result = run.run(lambda run=run: run.progress.iteration == 50 and run.set({"primal_step": 1e-3}))
            report = {"id": run.id, "x": result.x.tolist(), "rows": len(run.trace), "message": run.message}
            os.write(1, (json.dumps(report) + "\n").encode())  # whole lines, whoever else writes


def main(url: str, processes: int, runs: int) -> None:
    """Fork them all, wait for all."""
    children = []
    for number in range(processes):
        child = os.fork()
        if not child:
            try:
                write(url, number, runs)
            finally:
                os._exit(1 if sys.exc_info()[0] else 0)
        children.append(child)
    sys.exit(any(os.waitpid(child, 0)[1] for child in children))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
