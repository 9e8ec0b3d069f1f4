"""The arrows between files: one way only, and no circle; imports for type checkers and in functions count, too."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

import pytest

from helpers.project import ROOT
from helpers.sources import FOR_EACH_FILE, SOURCES, for_each, parse

PACKAGE = "zoviz"
MOST_MODULES = 20
"""In one folder, ``__init__.py`` counted."""

# From left to right: a file imports from its own room and from rooms of layers to the left of it. A room is a folder,
# "/*" stands for the files that lie directly in it, "/**/" for each of its folders.
LAYERS = (
    ("core",),
    ("evaluation",),
    ("problems/*",),
    ("problems/**/", "oracle"),
    ("estimators",),
    ("solvers/*",),
    ("solvers/**/",),
    ("solvers/portfolio",),
    ("certainty",),
    ("runs/engine",),
    ("runs/storage",),
    ("runs/*",),
    ("diagnosis",),
    ("studies", "ask_tell", "minimize"),
    ("adapters", "benchmark"),
    ("papers",),
    ("views/*", "views/common", "views/upstream"),
    ("views/**/",),
    ("views/report",),
    ("views/app",),
    ("views/notebook",),
    ("views/server",),
    ("cli",),
)
# Solvers, and what they are run by, know kinds of problem and no problem.
LEFT_OF_PROBLEMS = ("oracle", "estimators", "solvers", "runs")
# What a kind of solver shares with another, although both are of one layer.
BASES = {
    "solvers/single_level": {"solvers/bilevel/base.py"},
    "views/benchmark": {"views/compare/paired_sentences.py", "views/plots/paper_figure.py"},
    "views/experiments": {"views/plots/base.py"},
}


def place(module: str) -> str | None:
    """The file of a module, from zoviz/ on; None for another package's."""
    path = Path(*module.split("."))
    if path.parts[0] != PACKAGE:
        return None
    for file in (path / "__init__.py", path.with_suffix(".py")):
        if (ROOT / file).exists():
            return file.relative_to(PACKAGE).as_posix()
    return None


def targets(path: Path) -> Iterator[str]:
    """Every file of zoviz that a file imports, wherever the import stands."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level and node.module, f"{path}: imports are absolute."
            names = [
                f"{node.module}.{alias.name}" if place(f"{node.module}.{alias.name}") else node.module
                for alias in node.names
            ]
        else:
            continue
        yield from (file for file in map(place, names) if file is not None)


@functools.cache
def graph() -> Mapping[str, Set[str]]:
    """The files that each file of zoviz imports."""
    own = [path for path in SOURCES if path.is_relative_to(ROOT / PACKAGE)]
    return {path.relative_to(ROOT / PACKAGE).as_posix(): frozenset(targets(path)) for path in own}


def circles(arrows: Mapping[str, Set[str]]) -> list[list[str]]:
    """Sets of files each of which leads to all others: strongly connected components of several files."""
    reach: dict[str, set[str]] = {}
    for start in arrows:
        visited, waiting = set(), [start]
        while waiting:
            for file in arrows.get(waiting.pop(), ()):
                if file not in visited:
                    visited.add(file)
                    waiting.append(file)
        reach[start] = visited
    groups = {frozenset(b for b in reach[a] if a in reach.get(b, ())) for a in arrows if a in reach[a]}
    return sorted(sorted(group) for group in groups)


def room(file: str) -> tuple[int, str]:
    """Layer and room of a file, e.g. "problems/power/feeder.py"."""
    *folders, _ = file.split("/")
    names = ["/".join(folders[:2]), f"{folders[0]}/*" if len(folders) == 1 else f"{folders[0]}/**/", folders[0]]
    for name in names:
        for layer, rooms in enumerate(LAYERS):
            if name in rooms:
                return layer, "/".join(folders[:2]) if name.endswith("/**/") else name
    raise AssertionError(f"Give {file} its place in LAYERS, from left to right.")


def allowed(here: str, there: str) -> bool:
    """Whether a file may import another."""
    (layer, own), (other_layer, other) = room(here), room(there)
    if here.split("/")[0] in LEFT_OF_PROBLEMS and other.startswith("problems/") and other != "problems/*":
        return False
    return own == other or other_layer < layer or there in BASES.get(own, ())


def wrong(arrows: Mapping[str, Set[str]]) -> list[str]:
    """The arrows that are not allowed; files directly in zoviz/ may import everything."""
    inside = {file: ends for file, ends in arrows.items() if "/" in file}
    return [
        f"{here} -> {there}"
        for here, ends in sorted(inside.items())
        for there in sorted(ends)
        if "/" not in there or not allowed(here, there)
    ]


def test_arrows_point_one_way() -> None:
    assert wrong(graph()) == []


@pytest.mark.parametrize("leaf", ["adapters/", "papers/"])
def test_a_leaf_is_imported_by_nobody_else(leaf: str) -> None:
    """What the page and the command line show of papers is found by the name of the package, as solvers are."""
    into = {f"{here} -> {there}" for here, ends in graph().items() for there in ends if there.startswith(leaf)}
    assert {arrow for arrow in into if not arrow.startswith(leaf)} == set()
    assert any(file.startswith(leaf) for file in graph())


def test_no_circle_of_files() -> None:
    assert circles(graph()) == []


def test_circles_and_wrong_arrows_are_found() -> None:
    arrows = {"core/a.py": {"core/b.py"}, "core/b.py": {"core/c.py"}, "core/c.py": {"core/b.py"}}
    assert circles(arrows) == [["core/b.py", "core/c.py"]]
    assert wrong({"problems/power/feeder.py": {"problems/user/base.py", "problems/base.py"}}) == [
        "problems/power/feeder.py -> problems/user/base.py"
    ]
    assert wrong({"solvers/linear/base.py": {"problems/power/feeder.py", "problems/linear.py"}}) == [
        "solvers/linear/base.py -> problems/power/feeder.py"
    ]
    assert wrong({"runs/storage/rows.py": {"runs/run.py"}, "runs/engine/worker.py": {"runs/storage/rows.py"}}) == [
        "runs/engine/worker.py -> runs/storage/rows.py",
        "runs/storage/rows.py -> runs/run.py",
    ]
    assert wrong({"views/plots/base.py": {"views/app/server.py", "views/common/style.py"}}) == [
        "views/plots/base.py -> views/app/server.py"
    ]


def test_the_engine_knows_no_database() -> None:
    engine = [path for path in SOURCES if path.is_relative_to(ROOT / PACKAGE / "runs" / "engine")]
    imported = {
        alias.name if isinstance(node, ast.Import) else str(node.module)
        for path in engine
        for node in ast.walk(parse(path))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert len(engine) > 5 and not [name for name in imported if name.split(".")[0] == "sqlalchemy"]


@FOR_EACH_FILE
def test_a_file_may_be_found_by_its_room(path: Path) -> None:
    if path.is_relative_to(ROOT / PACKAGE) and path.parent != ROOT / PACKAGE:
        assert room(path.relative_to(ROOT / PACKAGE).as_posix())
    else:
        assert path.suffix == ".py"


FOLDERS = sorted({path.parent for path in SOURCES if path.is_relative_to(ROOT / PACKAGE)})


@for_each(FOLDERS)
def test_a_folder_is_surveyed_at_a_glance(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= MOST_MODULES
