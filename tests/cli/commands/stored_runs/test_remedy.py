"""The command line as a user types it: remedies of stored runs."""

from __future__ import annotations

from collections.abc import Callable

from helpers.command_line import Told
from zoviz.cli.command import FINE, MISUSED

SHORT = ("solver.primal_step=1e-9", "solver.dual_step=1e-9", "--iterations", "30", "--replicas", "3", "--json")


def test_remedies_are_named_and_tried_and_their_forks_are_kept(zoviz: Callable[..., Told]) -> None:
    run = zoviz("run", "NonconvexQCQP", "ZOCEG", "problem.n=4", *SHORT).json["id"]
    named = zoviz("remedy", run[:8], "--name")
    assert named.code == FINE and "barely moved. Worth a try: the steps of the solver's rule (" in named.err
    assert [one["remedy"] for one in zoviz("remedy", run[:8], "--name", "--json").json][1].startswith("steps a hundred")
    assert len(zoviz("runs", "--json").json) == 1
    tried = zoviz("remedy", run[:8], "--calls", "100")
    assert tried.code == FINE and "Each in 100 calls of a replica from iteration 30 on, after " in tried.out
    assert "Best: another method" in tried.out and "Continue it: zoviz fork " in tried.err
    assert len(zoviz("runs", "--json").json) == 5
    made = zoviz("remedy", run[:8], "--calls", "100", "--json").json
    assert [one["better"] for one in made][-1] is True and made[0]["low"] <= made[0]["digits"] <= made[0]["high"]
    assert zoviz("remedy", run[:8], "--calls", "0").code == MISUSED


def test_a_run_that_is_well_needs_none(zoviz: Callable[..., Told], small: str) -> None:
    named = zoviz("remedy", small[:8], "--name")
    assert named.code == FINE and "Worth a try: more calls (" in named.err and "method" not in named.err
