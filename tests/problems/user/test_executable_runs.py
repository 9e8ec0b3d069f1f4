"""Real programs as black boxes: in a run, and arguments that make no sense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.programs import BOX, NEEDS_A_SHELL, PYTHON, shell
from zoviz import Run
from zoviz.core.types import Array
from zoviz.minimize.minimize import minimize
from zoviz.problems import BlackBox, Executable
from zoviz.runs.script import script
from zoviz.solvers import ZOSPLM

pytestmark = NEEDS_A_SHELL


# --- as a problem of a run ------------------------------------------------------------------------------------------


def quick(problem: Any) -> Run:
    solver = ZOSPLM(primal_step=0.05)
    solver.estimator.batch_size = 2
    return Run(problem=problem, solver=solver, replicas=1, iterations=4, seed=1)


def test_a_run_is_that_of_the_same_function_and_its_script_repeats_it(hs22: str) -> None:
    def objective(x: Array) -> Any:
        a, b = x.tolist()
        return (a - 2) ** 2 + (b - 1) ** 2, [a + b - 2, a**2 - b]

    command = [*PYTHON, hs22, "line", "{input}", "{output}"]
    problem = Executable(command, bounds=BOX, m=2, workers=2)
    run = quick(problem)
    result, expected = run.run(), quick(BlackBox(objective, bounds=BOX, m=2, joint=True)).run()
    np.testing.assert_array_equal(result.x, expected.x)
    np.testing.assert_array_equal(result.calls, expected.calls)
    assert len(problem.printed) == 20 and problem.printed[-1].output == "chatter\n"
    names: dict[str, Any] = {}
    exec(script(run), names)
    np.testing.assert_array_equal(names["result"].x, result.x)


def test_a_run_counts_failures_and_says_why() -> None:
    source = "read a; test $ZOVIZ_CALL = 9 && exit 9; echo $a"
    result = quick(shell(source)).run()
    assert result.failures.sum() == 1 and result.status == "finished"
    assert "non-finite values. The first failure, at x = [" in result.message and "exit status 9" in result.message


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"m": None}, "Expected m, the number of constraints, or output_types, got neither"),
        ({"command": ""}, "Expected a command such as"),
        ({"command": "sim 'x"}, "Expected a command, or a list of words"),
        ({"command": 5}, "Expected a command, or a list of words"),
        ({"m": None, "output_types": "PB EB"}, "Expected output_types with one OBJ"),
        ({"m": None, "output_types": "OBJ OBJ"}, "Expected output_types with one OBJ"),
        ({"m": None, "output_types": ["OBJ", "XB"]}, "Expected output_types with one OBJ"),
        ({"m": 2, "output_types": "OBJ PB"}, r"Expected as many constraints as output_types has \(1\), got m = 2"),
        ({"workers": 0}, "Expected workers a number from 1"),
        ({"x0": [9.0, 0.0]}, "Expected x0 inside the bounds"),
        ({"bounds": None}, "Expected bounds or x0"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Executable(**{"command": "true", "bounds": BOX, "m": 0} | arguments)


@pytest.mark.parametrize(("types", "failed"), [("OBJ PB PB", False), ("OBJ PB EB", True), ("obj eb eb", True)])
def test_a_constraint_that_may_not_be_violated_leaves_no_value_where_it_is(types: str, failed: bool) -> None:
    problem = shell("echo 5 0 0.25", m=None, output_types=types, retries=3)
    value = problem.evaluate(np.zeros((1, 2)))
    assert np.isnan(value.f[0]) == failed and np.isnan(value.h[0, 1]) == failed
    assert len(problem.printed) == 1, "the program did its work: there is nothing to try again"
    sentence = "Expected output 3, an EB, to be at most 0, got 0.25: there is no value." if failed else ""
    assert problem.failure_message.endswith(sentence)


@pytest.mark.parametrize("method", ["auto", "COBYLA"])
def test_an_optimum_on_such_a_constraint_is_found(method: str, tmp_path: Path) -> None:
    """Beyond it the objective is what simulators return there: anything."""
    source = "a, b = map(float, open(0)); h = a * a - b; print((a - 2) ** 2 + (b - 1) ** 2 if h <= 0 else -9e9, h)"
    (tmp_path / "cliff.py").write_text(source)
    command = [*PYTHON, str(tmp_path / "cliff.py")]
    problem = Executable(command, bounds=BOX, x0=[0, 0.5], output_types="OBJ EB", workers=2)
    result = minimize(problem, method=method, max_calls=60)
    assert result.feasible and result.maxcv == 0 and 0 < result.failures < 60
    assert result.fun == pytest.approx(0.8249, abs=0.02)
