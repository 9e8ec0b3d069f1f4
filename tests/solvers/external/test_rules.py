"""Other libraries' optimisers: what they refuse, what their rules choose, and what a run of them lacks."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

from helpers.peers import EACH, FIXED, each
from helpers.waiting import until
from zoviz.core.sets import Ball
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.runs.run import Run
from zoviz.solvers import CMAES, COBYLA, NOMAD, Solver
from zoviz.solvers.external.base import ExternalSolver


@each(CMAES)
def test_pycma_leaves_the_global_random_numbers_alone(cls: type[ExternalSolver]) -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - that it is left alone is the point
    Run(problem=NonconvexQCQP(n=3), solver=cls(**FIXED[cls]), replicas=2, iterations=20).run()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@EACH
def test_what_it_refuses(cls: type[ExternalSolver], monkeypatch: pytest.MonkeyPatch) -> None:
    class Round(NonconvexQCQP):
        __abstract = True

        @property
        def domain(self) -> Ball:
            return Ball(np.zeros(self.n), 3.0)

    assert cls().accepts(NonconvexQCQP(n=3)) is None
    assert "needs a box as domain, got a Ball" in cls().accepts(Round(n=3))
    line = BlackBox(lambda x: float(x[0] ** 2), bounds=[(-1.0, 1.0)])
    assert ("needs at least two variables" in (cls().accepts(line) or "")) == (cls is CMAES)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    reason = cls().accepts(NonconvexQCQP(n=3))
    assert "not installed" in reason and f'python -m pip install "zoviz[{cls.extra}]"' in reason


@EACH
def test_the_rule_widens_what_noise_blurs(cls: type[ExternalSolver]) -> None:
    problem = NonconvexQCQP(n=3)
    quiet = cls().from_constants(problem, problem.constants)
    loud = cls().from_constants(problem, replace(problem.constants, noise=0.1))
    assert set(quiet) == set(cls().open_scales())
    wider = [name for name in quiet if loud[name] > quiet[name]]
    assert all(loud[name] >= quiet[name] for name in quiet) and (wider or cls is NOMAD)
    if "difference" in loud:
        curvature = max(problem.constants.curvature, problem.constants.constraint_curvature)
        assert loud["difference"] == pytest.approx(8**0.25 * np.sqrt(0.1 / curvature))


def test_every_peer_is_in_the_registry_and_has_no_estimator() -> None:
    from zoviz.core.registry import discover

    classes = {cls for cls in discover("zoviz.solvers", Solver).values() if cls.external}
    assert classes == set(FIXED)
    assert all(cls().estimator is None and cls().live == () for cls in classes)


def test_a_run_of_a_peer_has_no_variance_to_show_and_refuses_steering() -> None:
    pytest.importorskip("scipy", reason='python -m pip install "zoviz[peers]"')
    pytest.importorskip("greenlet", reason='python -m pip install "zoviz[peers]"')
    solver = COBYLA(**FIXED[COBYLA])
    run = Run(problem=NonconvexQCQP(n=3), solver=solver, replicas=2).start(steps=4)
    until(lambda: run.status == "paused")
    with pytest.raises(ValueError, match=r"fixed while the run is paused. Stop the run first\.$"):
        solver.final_radius = 1e-3
    run.stop()
    run.wait(120)
    assert {"variance", "dual", "objective"} & set(run.trace.snapshot().columns) == {"objective"}
