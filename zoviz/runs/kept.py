"""What a store keeps of a run for one that goes on with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from zoviz.runs.evaluations import Entry
from zoviz.runs.journal import Journal
from zoviz.runs.trace import Trace


class Kept(NamedTuple):
    """All that going on needs beside problem, solver and settings.

    Attributes
    ----------
    checkpoint : bytes or None
        The worker between two steps; None: it begins anew, with the evaluations that are kept.
    trace, path : Trace
    journal : Journal
        All steering, that after the checkpoint too.
    entries : mapping of int to Entry
        Evaluations after the checkpoint, by ordinal; of a run that failed, up to the last that has a value.
    asked : int
        Points that the run has asked for so far: all ordinals are lower.
    """

    checkpoint: bytes | None
    trace: Trace
    path: Trace
    journal: Journal
    entries: Mapping[int, Entry]
    asked: int
