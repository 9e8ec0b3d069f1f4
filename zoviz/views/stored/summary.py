"""What a list says of a stored run beyond its line in the store: gap, verdict, and the parameters that differ."""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.parameters import value_words
from zoviz.core.ranking import quartile
from zoviz.core.registry import discover
from zoviz.core.threads.background_work import in_background
from zoviz.diagnosis.verdict import verdict_of
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import GAP
from zoviz.runs.storage.queries import Record
from zoviz.runs.storage.recipe import describe
from zoviz.runs.store import Store
from zoviz.runs.stored_run import StoredRun
from zoviz.solvers.base import Solver

LONGEST = 24
"""Letters of a value in a list: arrays and programs are longer."""


class Summary(NamedTuple):
    """The gap (median over replicas, NaN where no optimum is known), verdict and differing parameters of a run."""

    gap: float
    verdict: str
    parameters: str


def differing(recipe: Any, usual: Any) -> list[str]:
    """Return ``name=value`` for each value of a recipe that differs from that of an object or a class, parts included.

    Parameters
    ----------
    recipe : dict
        Class and values, as stores have them.
    usual : Parameterized, its class, or None
        What has the defaults; None for a class that is not known here, of which all is named.
    """
    out: list[str] = []
    for name, value in recipe["values"].items():
        default = getattr(usual, name, None)
        if isinstance(value, dict) and "class" in value:
            kind = value["class"].rpartition(":")[2]
            same = type(default).__name__ == kind
            out += differing(value, default) if same else [f"{name}={kind}"]
        elif value is not None and value != describe(default):
            text = _words(value)
            out.append(f"{name}={text if len(text) <= LONGEST else f'{text[: LONGEST - 1]}…'}")
    return out


def _words(value: Any) -> str:
    """Return a value of a recipe as a person would write it."""
    match value:
        case {"tuple": items} | {"array": items}:
            return _words(items)
        case [*items]:
            return f"[{', '.join(map(_words, items))}]"
        case {"dict": pairs}:
            return ", ".join(f"{_words(key)}: {_words(item)}" for key, item in pairs)
        case {"float": text} | {"program": text} | {"omitted": text}:
            return str(text)
        case {"function": text} | {"unnamed": text} | {"class": text}:
            return str(text).rpartition(":")[2]
    return value_words(value)


def summary_of(run: StoredRun) -> Summary:
    """Return the summary of a stored run for a list."""
    kinds: dict[str, type[Any]] = {**discover("zoviz.problems", Problem), **discover("zoviz.solvers", Solver)}
    recipes = (json.loads(run.recipe["problem"]), json.loads(run.recipe["solver"]))
    words = [word for one in recipes for word in differing(one, kinds.get(one["class"].rpartition(":")[2]))]
    columns = run.trace.snapshot().columns
    last = columns[GAP][-1] if GAP in columns and len(columns[GAP]) else np.full(1, np.nan)
    verdict = str(verdict_of(run).word) if len(run.trace) > 1 else ""
    return Summary(quartile(np.abs(last)), verdict, ", ".join(words))


class Summaries:
    """The summaries of a store's runs, read by a thread: each run must be loaded, which a page does not wait for.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[float, Summary]] = {}  # by run: as of when, and what
        self._work: Future[dict[str, tuple[float, Summary]]] | None = None

    def get(self, record: Record) -> Summary | None:
        """Return the latest summary of a run that is read; None before the first."""
        return self._known[record.id][1] if record.id in self._known else None

    def ask(self, records: Iterable[Record]) -> None:
        """Have a thread read the summaries that are not up to date, unless it is at work; ``collect`` takes them up."""
        missing = [one for one in records if one.id not in self._known or self._known[one.id][0] != one.updated]
        if missing and self._work is None:
            self._work = in_background(lambda: self._read(missing))

    def collect(self) -> bool:
        """Take up what the thread has read; return whether there is anything new."""
        if self._work is None or not self._work.done():
            return False
        work, self._work = self._work, None
        self._known |= work.result()
        return True

    def _read(self, records: Iterable[Record]) -> dict[str, tuple[float, Summary]]:
        out = {}
        for one in records:
            try:
                summary = summary_of(self._store.load(one.id))
            except (ValueError, KeyError):  # removed meanwhile, or of a class that is not here: its line stays as it is
                summary = Summary(np.nan, "", "")
            out[one.id] = (one.updated, summary)
        return out
