"""What every fork keeps: it goes on from a state of its run as if it had repeated all of it."""

from __future__ import annotations

from functools import partial

from helpers.every_pair import EACH_PAIR, run_of, solver_of
from helpers.interruption import assert_same
from zoviz import Run
from zoviz.runs.engine.checkpoint import copied_state
from zoviz.runs.repeat import forked


@EACH_PAIR
def test_a_fork_from_a_state_that_is_kept_is_one_that_repeats_its_run(solver: str, problem: str) -> None:
    source = run_of(solver, problem, iterations=2)
    worker = source.prepare()
    worker.marks.copy = partial(copied_state, worker) if solver_of(solver).checkpointable else None  # as for a function
    worker.work()
    for at in (0, source.progress.iteration):
        repeated, fork = Run.of(forked(source, at, iterations=3)), source.fork(at, iterations=3)
        repeated.run()
        assert fork.prepare().iteration == (at if solver_of(solver).checkpointable else 0)
        fork.worker.work()
        assert_same(fork, repeated)
