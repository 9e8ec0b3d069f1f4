"""docs/papers/errata.md: every citation has its entry, and every entry its test."""

from __future__ import annotations

import ast
import re

from helpers.project import ROOT

TEXT = (ROOT / "docs" / "papers" / "errata.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"^\| (\d+) \|.*\| `(test_\w+)` \|$", re.MULTILINE)
CITATION = re.compile(r"\berrata?(?:um)? (\d+(?:(?:, | and )\d+)*)")


def names_of_all_tests() -> set[str]:
    """Names of all test functions, methods included."""
    names: set[str] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        functions = (n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.FunctionDef))
        names |= {function.name for function in functions if function.name.startswith("test_")}
    return names


def test_entries_are_numbered_from_one_without_gaps() -> None:
    rows = [line for line in TEXT.splitlines() if re.match(r"^\| \d", line)]
    numbers = [int(number) for number, _ in ENTRY.findall(TEXT)]
    assert len(rows) == len(numbers), "Expected every row to end with the name of a test in backquotes."
    assert numbers == list(range(1, len(numbers) + 1))


def test_every_entry_names_a_test_that_exists() -> None:
    missing = {name for _, name in ENTRY.findall(TEXT)} - names_of_all_tests()
    assert not missing, f"Expected tests of these names: {sorted(missing)}."


def test_every_citation_has_an_entry() -> None:
    last = len(ENTRY.findall(TEXT))
    cited = 0
    for folder in ("zoviz", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            for numbers in CITATION.findall(path.read_text(encoding="utf-8")):
                for number in re.findall(r"\d+", numbers):
                    cited += 1
                    assert 1 <= int(number) <= last, (
                        f"{path.relative_to(ROOT)} cites errata {number}: not in docs/papers/errata.md."
                    )
    assert cited > 20
