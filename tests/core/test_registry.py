"""Classes are found by being defined; abstract ones are not."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

import zoviz.estimators
import zoviz.problems
import zoviz.solvers
from zoviz.core.registry import LazyExports, discover, every, modules, named
from zoviz.estimators import GradientEstimator, Sphere
from zoviz.problems.base import Problem
from zoviz.solvers import Solver
from zoviz.studies.experiment import Experiment
from zoviz.views.plots.base import PlotView


@pytest.fixture
def made_here() -> Iterator[type[GradientEstimator]]:
    class MadeInATest(Sphere):
        """Defined outside the package, as a notebook would."""

    yield MadeInATest
    del MadeInATest
    gc.collect()  # classes die in cycles: no other test shall find this one


def test_modules_are_those_of_the_package() -> None:
    names = modules("zoviz.estimators")
    assert {"zoviz.estimators.base", "zoviz.estimators.sphere"} <= set(names)
    assert names == sorted(names)
    assert not [name for name in names if name.rpartition(".")[2].startswith("_")]


@pytest.mark.parametrize(
    "package, base, some",
    [
        ("zoviz.problems", Problem, {"NonconvexQCQP", "LoadTracking", "BlackBox"}),
        ("zoviz.estimators", GradientEstimator, {"Sphere", "CentralSphere", "Gaussian", "Coordinate", "Block"}),
        ("zoviz.solvers", Solver, {"ZOSPLM", "ZOEG", "ZOCEG", "ZOBCEG"}),
    ],
)
def test_the_built_in_classes_are_found(package: str, base: type, some: set[str]) -> None:
    names = discover(package, base)
    assert some <= names.keys()
    assert list(names) == sorted(names)
    assert all(issubclass(cls, base) and cls.__name__ == name for name, cls in names.items())


@pytest.mark.parametrize(
    "package, base",
    [
        ("zoviz.problems", Problem),
        ("zoviz.estimators", GradientEstimator),
        ("zoviz.solvers", Solver),
        ("zoviz.papers", Experiment),
        ("zoviz.views.plots.catalogue", PlotView),
    ],
)
def test_no_two_classes_of_the_package_share_a_name(package: str, base: type) -> None:
    """One of them would be lost without a word: a notebook that defines a class again wants the later of two."""
    classes = {cls for cls in every(package, base) if cls.__module__.startswith("zoviz.")}
    shared = [name for name, count in Counter(cls.__name__ for cls in classes).items() if count > 1]
    assert not shared and len(classes) > 4


def test_abstract_classes_are_not_found() -> None:
    assert "GradientEstimator" not in discover("zoviz.estimators", GradientEstimator)
    assert "DirectionalEstimator" not in discover("zoviz.estimators", GradientEstimator)
    assert "Problem" not in discover("zoviz.problems", Problem)
    assert not {"Solver", "ExtraGradient"} & discover("zoviz.solvers", Solver).keys()


def test_a_class_defined_elsewhere_is_found_but_not_exported(made_here: type[GradientEstimator]) -> None:
    assert discover("zoviz.estimators", GradientEstimator)["MadeInATest"] is made_here
    namespace: dict = {"GradientEstimator": GradientEstimator}
    exports = LazyExports("zoviz.estimators", namespace, GradientEstimator)
    assert exports("Sphere") is Sphere
    assert "MadeInATest" not in exports.names()
    assert exports.names() == sorted(namespace.keys() - {"__all__"})


def test_a_package_imports_its_modules_when_a_class_is_used() -> None:
    code = (
        "import sys, zoviz.solvers; before = 'zoviz.solvers.bilevel.sogd' in sys.modules; zoviz.solvers.SOGD; "
        "print(before, 'zoviz.solvers.bilevel.sogd' in sys.modules, 'ZOSPLM' in dir(zoviz.solvers))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True"]


def test_a_name_that_no_class_has_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'zoviz.solvers' has no attribute 'ZOSPLN'"):
        _ = zoviz.solvers.ZOSPLN  # type: ignore[attr-defined]


def test_an_abstract_class_defined_elsewhere_is_not_found() -> None:
    class HelperInATest(Sphere):
        __abstract = True

    names = discover("zoviz.estimators", GradientEstimator)
    assert "HelperInATest" not in names
    del HelperInATest
    gc.collect()


def test_a_class_defined_again_replaces_the_earlier_one() -> None:
    def define() -> type[GradientEstimator]:
        class TwiceInATest(Sphere):
            pass

        return TwiceInATest

    old, new = define(), define()
    assert discover("zoviz.estimators", GradientEstimator)["TwiceInATest"] is new
    del old, new
    gc.collect()


@pytest.mark.parametrize("package", [zoviz.problems, zoviz.estimators, zoviz.solvers])
def test_everything_in_all_is_there(package: object) -> None:
    names = package.__all__  # type: ignore[attr-defined]
    assert names and [name for name in names if not hasattr(package, name)] == []


@pytest.mark.parametrize(
    "package, base, name, near",
    [
        ("zoviz.problems", Problem, "load-trackin", "did you mean LoadTracking"),
        ("zoviz.papers", Experiment, "sogd-fig-22", "did you mean sogd Fig. 2"),
        ("zoviz.estimators", GradientEstimator, "?", "the things are "),
    ],
)
def test_an_unknown_name_brings_up_the_near_ones_as_people_write_them(
    package: str, base: type, name: str, near: str
) -> None:
    with pytest.raises(ValueError, match=rf"got '{re.escape(name)}': {near}"):
        named(package, base, name, "thing")
