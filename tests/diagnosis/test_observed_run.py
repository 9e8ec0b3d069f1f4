"""All looks at a run at once: none is seen in the run, and each may be called off between two calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from zoviz.core.errors import ZovizError
from zoviz.diagnosis.certificate import Certifier, certificate_of
from zoviz.diagnosis.microscope import Microscope, microscope_of
from zoviz.diagnosis.step_limits import limits_of
from zoviz.estimators import Sphere
from zoviz.problems import ConexQCQP, Executable
from zoviz.runs.run import Run
from zoviz.solvers import ZOSPLM


def noisy_run() -> Run:
    """A run of 20 iterations under noise, within a budget of calls that it does not spend."""
    return Run(
        ConexQCQP(n=4, noise="independent", noise_scale=0.1),
        ZOSPLM(estimator=Sphere(batch_size=3)),
        replicas=2,
        iterations=20,
        calls=5000,
        seed=3,
    )


def observed(look: Callable[[Run], object]) -> Run:
    """A run that was looked at every ten iterations."""
    run = noisy_run()
    run.run(lambda: look(run) if run.progress.iteration % 10 == 0 else None)
    return run


def same(one: Run, other: Run) -> bool:
    """Whether two runs came to the same bits, at the same price."""
    return (
        np.array_equal(one.result.x, other.result.x)
        and np.array_equal(one.result.multipliers, other.result.multipliers)
        and one.result.calls.tolist() == other.result.calls.tolist()
        and one.progress.fraction == other.progress.fraction
    )


def test_a_run_that_is_looked_at_in_all_four_ways_is_the_same_to_the_bit_and_its_budget_too() -> None:
    seen: list[tuple[int, int, int, float]] = []

    def look(run: Run) -> None:
        certificate, magnified = certificate_of(run), microscope_of(run, 1, Microscope(count=3, calls=5000))
        ledger = run.result.ledger
        assert ledger is not None
        total = int(sum(calls[0] for calls in ledger.calls.values()))
        assert total == run.result.calls[0]
        seen.append((certificate.calls, magnified.calls, total, limits_of(run)["primal_step"].stable))

    alone = noisy_run()
    alone.run()
    assert same(observed(look), alone)
    assert len(seen) == 2 and all(min(figures) > 0 for figures in seen)
    assert not same(observed(lambda run: run.worker.oracle(run.state.x)), alone), "a call on its own oracle is seen"


PROGRAM = """import sys, time
time.sleep({seconds})
x = [float(word) for word in open(sys.argv[1]).read().split()]
print(sum((xi - 0.3) ** 2 for xi in x))
"""


def program(folder: Path, seconds: float) -> Executable:
    """A program of two variables that takes so many seconds a call."""
    path = folder / "slow.py"
    path.write_text(PROGRAM.format(seconds=seconds))
    return Executable([sys.executable, str(path), "{input}"], bounds=[(0, 1)] * 2, x0=[0.5, 0.5], m=0)


@pytest.mark.slow
@pytest.mark.parametrize("look", ["certificate", "microscope"])
def test_a_look_by_a_costly_program_is_called_off_after_the_call_in_progress(tmp_path: Path, look: str) -> None:
    problem = program(tmp_path, 1.0)
    estimators, microscope = [Sphere(batch_size=1)], Microscope(count=3)
    least, most = Certifier().cost(problem) if look == "certificate" else microscope.cost(problem, estimators)
    assert 9 <= least <= most
    proceeds: list[int] = []

    def proceed() -> None:
        proceeds.append(len(problem.printed))
        if len(proceeds) == 3:  # before the first batch, and after the first two calls
            raise ZovizError("Called off.")

    run = Run(problem, ZOSPLM(estimator=Sphere(batch_size=1)), replicas=1, iterations=0, seed=0)
    run.run()
    before = len(problem.printed)
    with pytest.raises(ZovizError, match="Called off"):
        if look == "certificate":
            certificate_of(run, proceed=proceed)
        else:
            microscope_of(run, 0, microscope, estimators, proceed)
    assert len(problem.printed) - before <= 3, "no call was begun after it but the one that was under way"
