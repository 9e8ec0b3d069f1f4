"""The suite itself, read off its source: every test asserts something, and leaves what is private alone."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.assertions import Function, Suite, called
from helpers.project import ROOT


@functools.cache
def suite() -> Suite:
    """The suite, read when the first test asks: collection need not wait for it."""
    return Suite(ROOT / "tests")


MOST_PRIVATE_USES = 36
"""A maintainer may rename what begins with an underscore; each use of it here is a test that fails then for nothing."""


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT).as_posix()}:{line}"


def test_every_test_asserts_something_on_every_way_through_it() -> None:
    """An early return, a loop over what may be empty, or an assertion under a condition is a case that cannot fail."""
    tests = list(suite().tests())
    silent = [f"{place(path, test.lineno)} {test.name}" for path, test in tests if not suite().asserts(test)]
    assert len(tests) > 1000 and not silent, "\n".join(silent)


def test_helpers_that_are_called_assertions_assert() -> None:
    silent = [name for name, helper in suite().helpers.items() if not suite().asserts(helper)]
    assert suite().helpers and not silent, silent


def sleeps(node: ast.AST) -> Iterator[int]:
    """Lines that let time pass and nothing else; not those of a loop that looks again, nor of a function inside."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*Function.__args__, ast.Lambda, ast.While)):
            continue
        if isinstance(child, ast.Call) and called(child) in ("sleep", "wait_for_timeout"):
            yield child.lineno
        yield from sleeps(child)


def test_nothing_sleeps_where_an_event_can_be_waited_for() -> None:
    """What is there after a second on one machine is not yet there on another, or no longer: one test in 11,000."""
    slow = {path for path, tree in suite().trees.items() if any(map(is_slow, marks_of(tree)))}
    tests = [
        (path, one) for path, one in suite().tests() if path not in slow and not any(map(is_slow, one.decorator_list))
    ]
    asleep = [f"{place(path, line)} {test.name}" for path, test in tests for line in sleeps(test)]
    assert len(tests) > 1000 and not asleep, "\n".join(asleep)


def marks_of(tree: ast.Module) -> list[ast.expr]:
    """What a file assigns to ``pytestmark``."""
    assigned = [one for one in tree.body if isinstance(one, ast.Assign)]
    return [one.value for one in assigned if ast.unparse(one.targets[0]) == "pytestmark"]


def is_slow(mark: ast.AST) -> bool:
    """Whether a mark leaves a test out unless it is asked for: some of these let time pass, and measure meanwhile."""
    return any(isinstance(one, ast.Attribute) and one.attr == "slow" for one in ast.walk(mark))


PATIENCE = 60
"""Seconds at least that a test waits for a thread or a process before it fails: it costs none where all is well."""


def impatient(tree: ast.AST) -> Iterator[int]:
    """Lines that wait for another thread or process for less; below a second they see that it is given up."""
    for node in ast.walk(tree):
        method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if method and called(node) in ("wait", "join", "communicate", "result"):
            limits = [*node.args[:1], *(one.value for one in node.keywords if one.arg == "timeout")]
            values = [one.value for one in limits if isinstance(one, ast.Constant)]
            yield from (node.lineno for one in values if isinstance(one, (int, float)) and 1 <= one < PATIENCE)


def test_whoever_waits_has_patience() -> None:
    hasty = [place(path, line) for path, tree in suite().trees.items() for line in impatient(tree)]
    assert not hasty, hasty


def test_what_goes_in_pairs_is_equally_long() -> None:
    """``zip(..., strict=False)`` compares as much as the shorter one has; neighbours are ``itertools.pairwise``."""
    places = [
        place(path, node.lineno)
        for path, tree in suite().trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "strict" and ast.unparse(node.value) == "False"
    ]
    assert not places, places


@pytest.mark.parametrize(
    "body, sure",
    [
        ("assert x", True),
        ("assert_close(x)", True),
        ("np.testing.assert_allclose(x, y)", True),
        ("with pytest.raises(ValueError):\n    f(x)", True),
        ("f(x)", False),
        ("if x is None:\n    return\nassert x", False),
        ("if x is not None:\n    assert x", False),
        ("if x:\n    assert x\nelse:\n    assert y", True),
        ("for x in found:\n    assert x", False),
        ("for x in (1, 2):\n    assert x", True),
        ("cases = [i for i in range(3)]\nfor x in cases:\n    assert x", True),
        ("for x in [i for i in range(3) if f(i)]:\n    assert x", False),
        ("for x in NAMES:\n    if x:\n        continue\n    assert x", False),
        ("for x, y in zip(found, (1, 2), strict=True):\n    assert x == y", True),
        ("def inner():\n    assert x\n", False),
        ("try:\n    f(x)\nexcept ValueError:\n    assert x", False),
    ],
)
def test_the_walk_tells_sure_assertions_from_others(body: str, sure: bool, tmp_path: Path) -> None:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    helper = "def assert_close(x):\n    assert x\n\n\n"
    (tmp_path / "test_it.py").write_text(f"{helper}def test_it():\n{lines}\n")
    suite = Suite(tmp_path)
    ((_, test),) = suite.tests()
    assert suite.asserts(test) == sure


def private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name != "_"


PUBLIC = ("_asdict", "_fields", "_replace", "_exit")
"""Documented members of the standard library: NamedTuple's, and the end of a forked process."""


def private_uses(tree: ast.AST) -> Iterator[int]:
    """Lines that use another object's underscored member, by attribute, by import or by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and private(node.attr) and node.attr not in PUBLIC:
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield node.lineno
        elif isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".")
            yield from (node.lineno for name in (*parts, *(alias.name for alias in node.names)) if private(name))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("setattr", "getattr"):
            words = [part.value for part in node.args[1:2] if isinstance(part, ast.Constant)]
            yield from (node.lineno for word in words if isinstance(word, str) and private(word))


def test_what_is_private_is_left_alone() -> None:
    # What tells when private parts of a library change has to name them.
    trees = {path: tree for path, tree in suite().trees.items() if "_internals" not in path.name}
    uses = [place(path, line) for path, tree in trees.items() for line in sorted(private_uses(tree))]
    assert len(uses) <= MOST_PRIVATE_USES, f"{len(uses)} uses of underscored members:\n" + "\n".join(uses)
