"""The sources of the package and the apps, as syntax trees, and tests that look at each of them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable
from pathlib import Path

from helpers.project import ROOT

SOURCES = sorted(p for folder in ("zoviz", "apps") for p in (ROOT / folder).rglob("*.py"))


READERS = tuple(
    f"tests/project/test_{name}.py" for name in ("architecture", "packaging", "rules", "rules_of_randomness", "words")
)
"""Files of tests that look at every source: one worker has them all, so that it reads each once."""


@functools.cache
def parse(path: Path) -> ast.Module:
    """The tree of a file, which nobody may change; all are 250 MB, which ``READERS`` give up when they are done."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def for_each(paths: Iterable[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Make one test of a check of a file: it looks at all of them, and names those that fail.

    A test for each file of each rule would be thousands, whose making and reporting takes longer than the checks.
    """
    every = list(paths)
    assert every, "a test without files cannot fail"

    def decorate(check: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            wrong = []
            for path in every:
                try:
                    check(path)
                except AssertionError as error:
                    wrong.append(f"{path.relative_to(ROOT).as_posix()}: {error}")
            assert not wrong, "\n".join(wrong)

        test.__name__, test.__qualname__, test.__doc__ = check.__name__, check.__qualname__, check.__doc__
        test.__module__ = check.__module__
        return test

    return decorate


FOR_EACH_FILE = for_each(SOURCES)
