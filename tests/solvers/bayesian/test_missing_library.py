"""Without BoTorch every Bayesian method says the command that installs it, before it is asked for anything else."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from zoviz import Run
from zoviz.core.registry import discover
from zoviz.problems import Gramacy
from zoviz.solvers.bayesian.base import BayesianSolver

SOLVERS = discover("zoviz.solvers.bayesian", BayesianSolver)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_method_says_the_command_and_a_run_does_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    absent = ("torch", "botorch", "gpytorch")
    monkeypatch.setattr(importlib.util, "find_spec", lambda one, *rest: None if one in absent else there(one, *rest))
    for module in [one for one in sys.modules if one.split(".")[0] in absent]:
        monkeypatch.setitem(sys.modules, module, None)  # an import of it fails
    solver = SOLVERS[name]()
    reason = solver.accepts(Gramacy())
    assert reason is not None and reason.startswith(f"{solver.title} needs torch, botorch and gpytorch, which are not")
    assert 'python -m pip install "zoviz[bo]"' in reason
    with pytest.raises(ValueError, match="python -m pip install"):
        Run(Gramacy(), solver, replicas=1, calls=3).run()
