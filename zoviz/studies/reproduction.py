"""Measures an experiment part by part, keeps what is measured in a file, and judges its claims.

The file is JSON and has every part's figures with the commit, the day, the seconds, and beside them those of the piece
of work that machines are compared by (``zoviz.studies.pace``). Seconds of a busy machine that were not measured again
are ``scaled`` by those of parts that were. The file is written anew as each part ends, so that what was interrupted
goes on where it was, on as many processes as one likes. Recorded results, which the documentation shows, are such files
in ``zoviz/papers/recorded``.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, as_completed
from contextlib import nullcontext
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from zoviz.core.errors import ZovizError
from zoviz.core.registry import discover, named
from zoviz.studies.experiment import Experiment, Measured
from zoviz.studies.pace import reference_seconds
from zoviz.studies.process_pool import process_pool
from zoviz.studies.trials import Trials
from zoviz.studies.verdict import judge, row_of

PACKAGE = "zoviz.papers"


def experiments() -> dict[str, type[Experiment]]:
    """Return the papers' experiments by their names on the command line, in the order of papers and places."""
    return _named(lambda cls: not issubclass(cls, Trials))


def trials() -> dict[str, type[Experiment]]:
    """Return the studies that no paper prints, by their names on the command line."""
    return _named(lambda cls: issubclass(cls, Trials))


def _named(wanted: Callable[[type[Experiment]], bool]) -> dict[str, type[Experiment]]:
    return dict(sorted((cls.slug(), cls) for cls in discover(PACKAGE, Experiment).values() if wanted(cls)))


def experiment_named(name: str) -> type[Experiment]:
    """Return the experiment with this name.

    Raises
    ------
    ValueError
        For an unknown name, with those that are near.
    """
    return named(PACKAGE, Experiment, name, "paper's experiment")


class Reproduction:
    """An experiment of one size, and the file that its figures are kept in.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
        Of the file, which has the experiment's name and size, and its draw where that is not 0.
    is_record : bool
        Whether a file with other settings, which the experiment had when it was recorded, counts as none.

    Attributes
    ----------
    parts : dict
        Of each part that is measured its figures, and the date, the commit, the seconds and the reference's.
    judged : list of dict
        The judgements that the file has, as ``judgements`` returned them when it was written; empty before that.
    """

    def __init__(self, experiment: Experiment, folder: Path, is_record: bool = False) -> None:
        self.experiment = experiment
        draw = f"-draw-{experiment.draw}" if experiment.draw else ""
        self.path = folder / f"{experiment.slug()}-{experiment.size}{draw}.json"
        self.parts: dict[str, dict[str, Any]] = {}
        self.judged: list[dict[str, Any]] = []
        content = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else None
        own = json.loads(json.dumps(experiment.settings))
        if content is not None and content["settings"] == own:
            self.parts, self.judged = content["parts"], content.get("claims", [])
        elif content is not None and not is_record:
            raise ZovizError(
                f"Expected results with the settings {own} in {self.path}, got {content['settings']}: "
                "move the file away, or choose another folder."
            )

    @classmethod
    def recorded(cls, experiment: Experiment) -> Self:
        """Return the recorded results of an experiment, of draw 0; they may lack parts, or have none."""
        with resources.as_file(resources.files(PACKAGE) / "recorded") as folder:
            return cls(type(experiment)(size=experiment.size) if experiment.draw else experiment, folder, True)

    @property
    def command(self) -> str:
        """The command that measures the experiment."""
        draw = f" --draw {self.experiment.draw}" if self.experiment.draw else ""
        return f"zoviz reproduce {self.experiment.slug()} --{self.experiment.size}{draw}"

    @property
    def missing(self) -> list[str]:
        """The parts that have not been measured yet."""
        return [part for part in self.experiment.parts() if part not in self.parts]

    @property
    def seconds(self) -> float:
        """The time that the measured parts took, one after another, on an otherwise idle machine."""
        return float(sum(self.parts[part]["seconds"] for part in self.experiment.parts() if part in self.parts))

    @property
    def measured(self) -> Measured:
        """The figures of the parts that have been measured."""
        return {part: self.parts[part]["figures"] for part in self.experiment.parts() if part in self.parts}

    def run(
        self, workers: int = 1, executor: Executor | None = None, say: Callable[[str], None] = lambda text: None
    ) -> Self:
        """Measure the missing parts; each part's figures are written to the file as soon as they are there.

        A file that is whole already, but whose claims were judged by other tests or by none, is judged anew.

        Parameters
        ----------
        workers : int
            Processes of this machine.
        executor : Executor, optional
            Who does the parts instead, e.g. that of a Dask cluster.
        say : callable
            Told of every part that has ended.
        """
        for part, entry in self._results(workers, executor):
            self.parts[part] = entry
            self._write()
            say(f"{self.experiment.slug()}: {part}, {entry['seconds']:.1f} s; {len(self.missing)} to go")
        if self.judged != self.judgements():
            self._write()
        return self

    def _results(self, workers: int, executor: Executor | None) -> Iterator[tuple[str, dict[str, Any]]]:
        if executor is None and workers == 1:
            for part in self.missing:
                yield part, performed(self.experiment, part, self._needed(part))
            return
        one, needed = self.experiment, self._needed
        with process_pool(workers) if executor is None else nullcontext(executor) as pool:
            futures: dict[Future[dict[str, Any]], str] = {}
            waiting = self.missing
            try:
                while waiting or futures:
                    for part in [one for one in waiting if self.parts.keys() >= set(self.experiment.needs(one))]:
                        waiting.remove(part)
                        futures[pool.submit(perform_elsewhere, type(one), one.size, one.draw, part, needed(part))] = (
                            part
                        )
                    done = next(as_completed(futures))
                    yield futures.pop(done), done.result()
            finally:
                for future in futures:
                    future.cancel()

    def _needed(self, part: str) -> Measured:
        return {one: self.parts[one]["figures"] for one in self.experiment.needs(part)}

    def judgements(self) -> list[dict[str, Any]]:
        """Return, for every claim, the verdict with its figures, and the same test's on the ablation.

        The rules are those of ``zoviz.studies.verdict``.

        Raises
        ------
        ZovizError
            Where parts are missing.
        """
        if self.missing:
            raise ZovizError(
                f"Expected all parts of {self.experiment.title}, got {len(self.parts)}: "
                f"{', '.join(self.missing)} missing; zoviz reproduce measures them."
            )
        measured, claims = self.measured, self.experiment.claims()
        evidence = [
            (one.evidence(measured, one.method), one.evidence(measured, one.ablation) if one.ablation else None)
            for one in claims
        ]
        return [
            {"place": one.place, "says": one.says, "method": one.method, **row_of(*judged, one.ablation)}
            for one, judged in zip(claims, judge(evidence), strict=True)
        ]

    def content(self) -> dict[str, Any]:
        """Return the content of the file of results."""
        out: dict[str, Any] = {
            "experiment": self.experiment.title,
            "size": self.experiment.size,
            "command": self.command,
            "settings": dict(self.experiment.settings),
        }
        if not self.missing:
            out["claims"] = self.judgements()
        order = dict.fromkeys([*self.experiment.parts(), *self.parts])  # with what others than these trials gave
        return out | {"parts": {part: self.parts[part] for part in order if part in self.parts}}

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new, content = self.path.with_suffix(".new"), self.content()
        self.judged = content.get("claims", [])
        new.write_text(text_of(content), encoding="utf-8")
        os.replace(new, self.path)  # a reader, or the next start, never meets half a file


def changes(new: Reproduction, recorded: Reproduction) -> list[str]:
    """Return a sentence for every verdict that is not the recorded one; none where nothing is recorded."""
    if recorded.missing:
        return []
    before = {(row["place"], row["says"]): row["verdict"] for row in recorded.judgements()}
    return [
        f"{new.experiment.title}, {row['place']}, {row['says']}: {row['verdict']}, recorded as {before[key]}."
        for row in new.judgements()
        if (key := (row["place"], row["says"])) in before and before[key] != row["verdict"]
    ]


def text_of(content: dict[str, Any]) -> str:
    """Return the content of a results file as JSON, one line per claim and per part."""

    def compact(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    lines = {name: compact(value) for name, value in content.items()}
    if "claims" in content:
        lines["claims"] = "[\n  " + ",\n  ".join(map(compact, content["claims"])) + "\n ]"
    entries = (f"{compact(name)}: {compact(part)}" for name, part in content["parts"].items())
    lines["parts"] = "{\n  " + ",\n  ".join(entries) + "\n }"
    return "{\n " + ",\n ".join(f"{compact(name)}: {line}" for name, line in lines.items()) + "\n}\n"


def performed(experiment: Experiment, part: str, needed: Measured) -> dict[str, Any]:
    """Return the figures of one part with the place, date and duration of their measurement."""
    reference, started, worked = reference_seconds(), time.perf_counter(), _processor_seconds()
    figures = experiment.measure_after(part, needed)
    # Of a quiet machine: a busy one takes longer than it works, and several threads work for longer than they take.
    seconds = min(time.perf_counter() - started, _processor_seconds() - worked)
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": commit(),
        "seconds": round(seconds, 3),
        "reference": round(reference, 4),
        # Through JSON, so that what is judged now and what is read again later are the same numbers.
        "figures": json.loads(json.dumps(figures)),
    }


def _processor_seconds() -> float:
    """Return the processor's time of this process and of those that it has begun and that have ended."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


def perform_elsewhere(cls: type[Experiment], size: str, draw: int, part: str, needed: Measured) -> dict[str, Any]:
    """Measure one part in another process."""
    return performed(cls(size=size, draw=draw), part, needed)


def commit() -> str:
    """Return the commit of the checkout that this package is in, or its version where there is none."""
    words = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=7", "HEAD"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return version("zoviz")
