"""The base class of commands, and how they print."""

from __future__ import annotations

import argparse
import json
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from zoviz.cli.help import CommandParser

FINE, FAILED, MISUSED, INFEASIBLE, CHANGED, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit codes: all went well; a run or the store failed; bad arguments; no feasible point was found; a paper's verdict
is not the recorded one; ended by Ctrl-C."""


class UsageError(ValueError):
    """Raised when the command line names something that does not exist: one sentence, exit code 2."""


class Command(ABC):
    """A command of the command line: one word after ``zoviz``.

    A module in ``zoviz.cli.commands`` holds one instance, ``COMMAND``.
    """

    name: str
    order: int = 50
    """Place in the help."""
    help: str
    """One line."""
    operands: str = ""
    """The words before the options in the line of usage, each followed by a space."""
    examples: str = ""
    """Command lines and what holds for all of them, shown above the options."""

    @abstractmethod
    def arguments(self, parser: CommandParser) -> None:
        """Declare the command's options."""

    @abstractmethod
    def run(self, args: argparse.Namespace) -> int:
        """Run the command and return its exit code."""


def agreed(calls: int) -> bool:
    """Ask the user whether to launch a program ``calls`` times.

    Raises
    ------
    UsageError
        Where nobody can answer.
    """
    if not sys.stdin.isatty():
        raise UsageError(f"Expected --yes without a terminal, got a program and {calls:,} calls of it.")
    yes = input("Continue? [y/N] ").strip().casefold() in ("y", "yes")
    if not yes:
        say("No calls were made.")
    return yes


def say(sentence: str) -> None:
    """Print a sentence for the user to standard error: standard output holds results only."""
    print(sentence, file=sys.stderr, flush=True)


def show(value: Any) -> None:
    """Print JSON; values that are not finite are null, as JSON has no other form for them."""
    print(json.dumps(_plain(value), indent=2, ensure_ascii=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: str = "") -> None:
    """Print columns as wide as their contents.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequence of str
    right : str
        One letter a column, "r" where it stands right.
    """
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[j]) for line in lines) for j in range(len(header))]
    sides = right.ljust(len(header), "l")
    for line in lines:
        cells = [
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, width, side in zip(line, widths, sides, strict=False)
        ]
        print("  ".join(cells).rstrip())


def number(value: float | None, digits: int = 6) -> str:
    """Format a number for reading; "-" if there is none."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"
