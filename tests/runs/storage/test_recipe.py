"""Descriptions of problems and solvers: every bit kept, and nothing imported that nobody trusts."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zoviz.core.errors import ZovizError
from zoviz.core.registry import discover, every, required
from zoviz.estimators import GradientEstimator
from zoviz.problems import BlackBox, Executable, LoadTracking, Problem
from zoviz.runs.storage import recipe
from zoviz.runs.storage.recipe import check_same, describe, name_of, rebuild
from zoviz.solvers import ZOCEG, Solver
from zoviz.solvers import ZOCEG as OfZoviz


def round_trip(value: Any, **trust: Any) -> Any:
    return rebuild(json.loads(json.dumps(describe(value), allow_nan=False)), **trust)


def equal(one: Any, other: Any) -> bool:
    """The same kinds and bits all the way down, whatever makes ``==`` hard."""
    if hasattr(one, "param"):
        values = one.param.values(), other.param.values()
        return type(one) is type(other) and all(equal(values[0][k], values[1][k]) for k in values[0] if k != "name")
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(equal, one, other))
    return one == other or (one != one and other != other)


def sphere(x: np.ndarray) -> float:
    return float(x @ x)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        "text",
        0.1 + 0.2,
        5e-324,
        float("inf"),
        float("nan"),
        (1, (2.5, None)),
        [(-np.inf, 1.0)],
        {"gap": [0.1, 1e-17], "function": 1},
        {"class": "not one"},
        np.random.default_rng(0).standard_normal((3, 2, 0)),
        np.random.default_rng(0).standard_normal((3, 2)),
        np.array([1, 2], dtype=np.int32),
        np.array([[True], [False]]),
        np.array([np.nan, np.inf]),
    ],
)
def test_values_come_back_bit_for_bit(value: Any) -> None:
    assert equal(round_trip(value), value)


PROBLEMS = [cls for cls in discover("zoviz.problems", Problem).values() if not required(cls)]


@pytest.mark.parametrize("cls", PROBLEMS, ids=lambda c: c.__name__)
def test_every_problem_comes_back(cls: type[Problem]) -> None:
    try:
        problem = cls()
    except ValueError as missing:
        pytest.skip(str(missing))
    clone = round_trip(problem)
    assert equal(problem, clone) and clone is not problem


@pytest.mark.parametrize("cls", discover("zoviz.solvers", Solver).values(), ids=lambda c: c.__name__)
def test_every_solver_comes_back(cls: type[Solver]) -> None:
    solver = cls()
    clone = round_trip(solver)
    assert equal(solver, clone)
    assert solver.parts().keys() == clone.parts().keys()


def test_a_function_of_the_user_needs_trust() -> None:
    problem = BlackBox(sphere, bounds=SimpleNamespace(lb=[-1.0], ub=[2.0]), x0=np.array([1.0 / 3.0]))
    path = f"{__name__}:sphere"
    assert path in recipe.names(describe(problem)) and recipe.unnamed(describe(problem)) == []
    with pytest.raises(ZovizError, match="nothing is imported because a stored run names it"):
        round_trip(problem)
    for trusted in (path, __name__):
        clone = round_trip(problem, trusted=[trusted])
        assert clone.objective is sphere and equal(clone.x0, problem.x0) and clone.bounds == ((-1.0, 2.0),)


def test_what_is_zovizs_own_is_named_without_its_module() -> None:
    row = describe([BlackBox(), ZOCEG()])
    text = json.dumps(row)
    assert "zoviz" not in text and '"ZOCEG"' in text and '"hs22_objective"' in text and recipe.names(row) == set()


def test_a_users_class_of_the_same_name_is_another() -> None:
    class ZOCEG(OfZoviz):
        """Somebody's own."""

    ZOCEG.__qualname__ = "ZOCEG"
    assert type(round_trip(OfZoviz())) is OfZoviz
    assert describe(ZOCEG())["class"] == f"{__name__}:ZOCEG" and type(round_trip(ZOCEG())) is ZOCEG


def test_no_two_classes_or_examples_of_zoviz_have_one_name() -> None:
    rooms = (("zoviz.problems", Problem), ("zoviz.solvers", Solver), ("zoviz.estimators", GradientEstimator))
    own = [name_of(cls) for package, base in rooms for cls in every(package, base) if ":" not in name_of(cls)]
    assert len(own) == len(set(own)) > 50


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ZOMorrow", "this version of zoviz has, got 'ZOMorrow', which it does not know"),
        ("zoviz.solvers.somewhere:ZOMorrow", "this version of zoviz has, got 'zoviz.*ZOMorrow'"),
        ("module_of_nobody:Solver", "Expected to find the module of 'module_of_nobody:Solver'.*PYTHONPATH"),
        (f"{__name__}:Solver", "Expected a class or function that you trust"),
    ],
)
def test_a_class_that_is_unknown_missing_or_not_trusted_is_told_apart(name: str, sentence: str) -> None:
    with pytest.raises(ZovizError, match=sentence):
        rebuild({"class": name, "values": {}})


def test_a_trusted_module_that_is_missing_or_has_changed_says_so() -> None:
    for name, sentence in (("module_of_nobody:f", "Expected the module of"), (f"{__name__}:f", "was it renamed")):
        with pytest.raises(ZovizError, match=sentence):
            rebuild({"function": name}, trusted=[name])


def test_what_has_no_name_says_so() -> None:
    problem = BlackBox(lambda x: float(x @ x), bounds=[(-1.0, 1.0)])
    assert len(recipe.unnamed(describe(problem))) == 1
    with pytest.raises(ZovizError, match="Pass the problem or the solver itself"):
        round_trip(problem)


def test_an_executor_is_left_out() -> None:
    with ThreadPoolExecutor(1) as executor:
        problem = BlackBox(sphere, bounds=[(-1.0, 1.0)], workers=executor)
        assert round_trip(problem, trusted=[__name__]).workers is None


@pytest.mark.parametrize(
    ("where", "what"),
    [
        ("class", "os:system"),
        ("class", "subprocess:Popen"),
        ("class", "builtins:eval"),
        ("class", "zoviz.problems.user.blackbox:os.system"),
        ("class", "zoviz.runs.store:Store"),
        ("objective", "os:system"),
        ("objective", "posix:system"),
        ("objective", "zoviz.problems.user.blackbox:np.load"),
        ("objective", "zoviz.evaluation.worker_main:serve"),
        ("objective", "zoviz.problems.user.executable:Executable"),
        ("objective", "zoviz.problems.user.blackbox:BlackBox.evaluate.__globals__"),
        ("objective", "tests:nothing"),
    ],
)
def test_a_row_cannot_name_what_is_imported(where: str, what: str) -> None:
    row = describe(BlackBox())
    if where == "class":
        row["class"] = what
    else:
        row["values"]["objective"] = {"function": what}
    with pytest.raises(ZovizError, match="Expected"):
        rebuild(row)


def test_trust_in_a_module_is_not_trust_in_what_it_imports() -> None:
    with pytest.raises(ZovizError, match="to be defined in"):
        rebuild({"function": f"{__name__}:round_trip.__globals__"}, trusted=[__name__])
    with pytest.raises(ZovizError, match="to be defined in"):
        rebuild({"function": f"{__name__}:json.dumps"}, trusted=[__name__])
    with pytest.raises(ZovizError, match="a problem, a solver or an estimator"):
        rebuild({"class": f"{__name__}:sphere", "values": {}}, trusted=[__name__])


def test_parameters_that_are_not_there_any_more_are_said() -> None:
    row = describe(ZOCEG())
    row["values"]["stride_of_the_past"] = 1
    with pytest.raises(ZovizError, match="stride_of_the_past.*another version"):
        rebuild(row)
    with pytest.raises(ZovizError, match="Expected a description"):
        rebuild({"pickle": "gASV"})


def test_a_stand_in_must_be_what_was_stored() -> None:
    stored = describe(BlackBox(lambda x: float(x @ x), bounds=[(-1.0, 1.0)]))
    check_same(stored, describe(BlackBox(sphere, bounds=[(-1.0, 1.0)])), "problem")
    with pytest.raises(ZovizError, match="Expected problem.bounds"):
        check_same(stored, describe(BlackBox(sphere, bounds=[(-1.0, 2.0)])), "problem")
    with pytest.raises(ZovizError, match="Expected problem"):
        check_same(stored, describe(LoadTracking()), "problem")


def test_a_program_is_launched_only_where_it_is_trusted() -> None:
    problem = Executable(["./sim", "a b", "{input}"], bounds=[(-1.0, 1.0)], m=1)
    row = describe(problem)
    (program,) = recipe.names(row)
    with pytest.raises(ZovizError, match="Expected a program that you trust, got .*sim"):
        rebuild(row)
    assert rebuild(row, trusted=[program]).command == problem.command
    row["values"]["command"]["program"] = "rm -rf {input}"
    with pytest.raises(ZovizError, match="nothing is launched because a store says so"):
        rebuild(row, trusted=[program])
