"""Tests mirror the rooms: a test file stands where its module does and begins with its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.project import ROOT
from helpers.sources import for_each

TESTS = ROOT / "tests"
BESIDE = {"apps", "conformance", "data", "helpers", "notebooks", "project"}
"""Folders of tests/ that are no room's: of the whole, or of what stands beside the package."""
TOPICS = {
    "estimators": {"bounds", "closed_forms", "loops_and_failures"},
    "problems/engineering": {"classics"},
    "solvers/bayesian": {"missing_library"},
    "solvers/bilevel": {"comparators", "paper_sogd"},
    "solvers/saddle": {"caps_and_convergence", "paper_conex", "paper_splm", "paper_zoeg"},
    "solvers/external": {"counts", "courses", "failures", "fixed_variables", "nothing_left", "rules"},
    "solvers/linear": {"assumptions", "paper_salm", "zeroth_order"},
    "solvers/single_level": {"written_out"},
    "views/pictures": {"linear_problems"},
    "views/plots/catalogue": {"special_plots"},
    "views/upstream": {"versions"},
}
"""What concerns several modules of a folder, and hence is named by its topic."""
FILES = sorted(path for path in TESTS.rglob("test_*.py") if path.relative_to(TESTS).parts[0] not in BESIDE)


def names(folder: str) -> set[str]:
    """The modules and rooms of a folder of the package."""
    inside = (ROOT / "zoviz" / folder).iterdir()
    return {path.stem for path in inside if path.suffix == ".py" or (path / "__init__.py").exists()}


def named(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


@for_each(FILES)
def test_a_test_file_is_named_after_its_module_or_a_declared_topic(path: Path) -> None:
    folder, topic = path.parent.relative_to(TESTS).as_posix(), path.stem.removeprefix("test_")
    assert (ROOT / "zoviz" / folder / "__init__.py").exists(), f"zoviz has no room {folder}: move {named(path)}."
    modules = [name for name in names(folder) if topic == name or topic.startswith(f"{name}_")]
    assert modules or topic in TOPICS.get(folder, ()), (
        f"Expected test_<module>.py or test_<module>_<topic>.py of a module of zoviz/{folder}, got {path.name}: rename "
        f"it, or declare the topic {topic!r} in {Path(__file__).name}."
    )


@pytest.mark.parametrize("folder", TOPICS)
def test_a_declared_topic_has_its_file_and_is_no_modules_name(folder: str) -> None:
    for topic in TOPICS[folder]:
        assert (TESTS / folder / f"test_{topic}.py").exists()
    assert not TOPICS[folder] & names(folder)


def test_nothing_but_fixtures_stands_at_the_top() -> None:
    files = {path.name for path in TESTS.iterdir() if path.is_file() and not path.name.startswith(".")}
    assert files == {"conftest.py"}
    assert {path.name for path in TESTS.iterdir() if path.is_dir() and path.name in BESIDE} == BESIDE
