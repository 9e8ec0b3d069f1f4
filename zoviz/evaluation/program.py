"""A program that is launched once for every point, with retries and a time limit."""

from __future__ import annotations

import os
import shlex
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from zoviz.core.errors import OracleError, described
from zoviz.core.types import Evaluation, Printed
from zoviz.evaluation.function_call import Failure, Task, parted
from zoviz.evaluation.launch import PLACE, Launch, signal_name
from zoviz.evaluation.process_group import Ended, ProcessGroup
from zoviz.evaluation.program_io import BarrierViolated, Outputs

SEED = "{seed}"
"""Where the seed stands in a command."""


class LaunchOutcome(NamedTuple):
    """The outcome of a point: a value or a failure, and what its launches printed."""

    outcome: Evaluation | Failure
    printed: tuple[Printed, ...]


@dataclass
class Program:
    """A command that is launched once for every point; it can be pickled and sent to other processes.

    Attributes
    ----------
    words : tuple of str
        The program and its arguments, with placeholders ``{input}`` and ``{output}``, which may have a suffix, and
        ``{seed}``.
    form : str
        "text", "json" or "nomad".
    outputs : Outputs
        What its numbers mean.
    timeout : float or None
        Seconds of one launch.
    retries : int
        Further launches after one that failed.
    folder : str or None
        Working folder; None: a fresh one for each launch.
    log_folder : str or None
        Where what it prints is kept in files.
    """

    words: tuple[str, ...]
    form: str
    outputs: Outputs
    timeout: float | None
    retries: int
    folder: str | None
    log_folder: str | None
    _groups: set[ProcessGroup] = field(default_factory=set, repr=False)
    _ends: int = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_groups": set()}

    def end(self) -> None:
        """End all launches that are under way in this process."""
        self._ends += 1
        for group in self._groups.copy():
            group.end()

    def __call__(self, numbered: tuple[int, Task]) -> LaunchOutcome:
        """Launch the command for a point (n,) with the number of its call, again as often as ``retries`` says."""
        number, task = numbered
        printed: list[Printed] = []
        ends, attempt = self._ends, 0
        while True:
            attempt += 1
            outcome = self._attempt(number, attempt, task, printed)
            settled = isinstance(outcome, Evaluation) or isinstance(outcome.error, BarrierViolated)
            if settled or attempt > self.retries or self._ends != ends:
                return LaunchOutcome(outcome, tuple(printed))

    def _attempt(self, number: int, attempt: int, task: Task, printed: list[Printed]) -> Evaluation | Failure:
        with tempfile.TemporaryDirectory(prefix="zoviz-", ignore_cleanup_errors=True) as place:
            status, launch, begun = "not started", None, time.perf_counter()
            try:
                x, seed = parted(task)
                words = tuple(word.replace(SEED, str(seed[0])) for word in self.words) if seed else self.words
                call = (number, attempt)
                launch = Launch(words, self.form, self.folder, self.log_folder, Path(place), call)
                launch.start_from(x)
                code = self._run(launch)
                status = _spelt(code)
                if code is None:
                    raise TimeoutError(f"Expected a value within {self.timeout:g} s, got none: the program was ended.")
                if code:
                    raise OracleError(f"Expected a program with exit status 0, got {status}{launch.last_words()}.")
                return launch.value(self.outputs)
            except Ended:
                status = "ended with the run"
                return Failure(OracleError("Expected a value, got the end of the run."))
            except OSError as error:
                if isinstance(error, TimeoutError):
                    return Failure(error, counted=True)
                sentence = f"Expected a program that can be started, got {described(error)}."
                return Failure(OracleError(sentence))
            except OracleError as error:
                return Failure(error, counted=True)
            finally:
                if launch is not None:
                    printed.append(launch.printed(status, time.perf_counter() - begun))

    def _run(self, launch: Launch) -> int | None:
        """Run one launch: its exit status, or None where it took too long."""
        with ProcessGroup() as group:
            self._groups.add(group)
            try:
                with launch.stdin() as stdin, open(launch.stdout, "wb") as out, open(launch.stderr, "wb") as errors:
                    streams = (stdin, out, errors)
                    return group.run(launch.words, launch.folder, launch.environment, streams, self.timeout)
            finally:
                self._groups.discard(group)


def _spelt(code: int | None) -> str:
    if code is None:
        return "given up"
    return f"exit status {code}" if code >= 0 else f"the end by {signal_name(-code)}"


def words(command: str | Sequence[str], form: str) -> tuple[str, ...]:
    """Split a command into words; make absolute those that name something that exists here.

    Raises
    ------
    ValueError
        Where there are none.
    """
    try:
        parts = shlex.split(command) if isinstance(command, str) else [os.fspath(word) for word in command]
    except (TypeError, ValueError) as error:
        raise ValueError(f"Expected a command, or a list of words, got {command!r:.100}: {error}.") from None
    if not parts:
        raise ValueError('Expected a command such as "./sim {input} {output}", got none.')
    # The first word is looked for in PATH unless it has a slash, as everywhere.
    paths = [os.path.abspath(p) if (i or os.sep in p) and os.path.exists(p) else p for i, p in enumerate(parts)]
    if form == "nomad" and not any(PLACE.search(part) for part in paths):
        paths.append("{input}")
    return tuple(paths)
