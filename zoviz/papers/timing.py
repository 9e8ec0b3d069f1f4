"""Times of single steps, for comparing methods on a machine that does other things too."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.threads.blas import SingleBlasThread
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers import Solver
from zoviz.studies.experiment import Panel


def paces(
    solvers: Mapping[str, Solver], problem: Problem, replicas: int, rounds: int, repeats: int
) -> dict[str, float]:
    """Return the seconds that a step of each method takes: the least median over turns, methods one after the other.

    The clock is the thread's own, which stands still while others have the processor; what a start costs, and what
    measures cost, is left out.

    Parameters
    ----------
    solvers : mapping of str to Solver
        None of whose parameters is left to a rule.
    replicas : int
        That a step advances together.
    rounds, repeats : int
        Steps of a turn, of which the median is taken, and turns.
    """
    seconds = dict.fromkeys(solvers, float("inf"))
    with SingleBlasThread():
        for _ in range(repeats):
            for name, solver in solvers.items():
                seconds[name] = min(seconds[name], float(np.median(_steps(solver.clone(), problem, replicas, rounds))))
    return seconds


def runtimes(data: str, milliseconds: Mapping[str, float], replicas: int, rounds: int) -> Panel:
    """Return the drawing of the seconds that rounds of each method take, for all replicas, from ms per round."""
    lines = {name: ([0.0, float(rounds)], [0.0, rounds * one / 1e3]) for name, one in milliseconds.items()}
    parts = dict.fromkeys(lines, (f"{data} / times",))
    return Panel(f"{data}: runtime, {replicas} replicas together", "round", "seconds", lines, parts=parts)


def _steps(solver: Solver, problem: Problem, replicas: int, rounds: int) -> list[float]:
    streams = Streams(0, replicas)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    spent = []
    for _ in range(rounds):
        started = time.thread_time()
        state, _ = solver.step(state, oracle, streams)
        spent.append(time.thread_time() - started)
    return spent
