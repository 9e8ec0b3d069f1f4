"""One launch of a program: the files that it reads and writes, and the value that is read from them."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import IO

from zoviz.core.errors import OracleError
from zoviz.core.types import Array, Evaluation, Printed
from zoviz.evaluation.program_io import Outputs, decoded, read, written

TAIL = 10_000
"""Largest number of bytes of each of a launch's two streams that are held in memory."""

_MOST = 1 << 24
"""Bytes that are read for numbers."""

PLACE = re.compile(r"\{(input|output)(\.\w+)?\}")
"""Where the names of the files stand in a command."""


class Launch:
    """The files and streams of one launch of a program.

    Parameters
    ----------
    words, form, folder, log_folder
        Of the program.
    place : Path
        A fresh folder for the files, which the caller removes.
    task : tuple of int
        Number of the call, and of the attempt.
    """

    def __init__(
        self,
        words: tuple[str, ...],
        form: str,
        folder: str | None,
        log_folder: str | None,
        place: Path,
        task: tuple[int, int],
    ) -> None:
        self._form, self._task = form, task
        self._files: dict[str, Path] = {}
        self.words = [PLACE.sub(lambda match: self._name(place, match), word) for word in words]
        self._reads, self._writes = "input" in self._files, "output" in self._files
        self._input = self._files.setdefault("input", place / "input")
        work, log = place / "work", place if log_folder is None else Path(log_folder)
        for each in (work, log):
            each.mkdir(parents=True, exist_ok=True)
        self.folder = folder or str(work)
        number, attempt = task
        stem = f"{number:06d}" + (f"-{attempt}" if attempt > 1 else "")
        self.stdout, self.stderr = log / f"{stem}.out", log / f"{stem}.err"
        names = {f"ZOVIZ_{kind.upper()}": str(path) for kind, path in self._files.items()}
        self.environment = {**os.environ, "ZOVIZ_CALL": str(number), "ZOVIZ_ATTEMPT": str(attempt), **names}

    def _name(self, place: Path, match: re.Match[str]) -> str:
        path = self._files.setdefault(match[1], place / f"{match[1]}{match[2] or ''}")
        return str(path)

    def _form_of(self, path: Path) -> str:
        return "json" if path.suffix == ".json" else self._form

    def start_from(self, x: Array) -> None:
        """Write the point (n,) to the launch's input file."""
        self._input.write_text(written(x, self._form_of(self._input)), encoding="utf-8")

    def stdin(self) -> IO[bytes]:
        """Return the point as bytes for standard input, where no input file is named in the command."""
        return open(os.devnull if self._reads else self._input, "rb")

    def value(self, outputs: Outputs) -> Evaluation:
        """Read the value that the program wrote.

        Raises
        ------
        OracleError
            Where there is none.
        """
        source = self._files["output"] if self._writes else self.stdout
        where = "in the output file" if self._writes else "on standard output"
        if not source.exists():
            raise OracleError(f"Expected the program to write {{output}}, got no file{self.last_words()}.")
        with open(source, "rb") as file:
            text = decoded(file.read(_MOST))
        return read(text, self._form_of(source), outputs, where)

    def last_words(self) -> str:
        """Return the last line that the program printed, for sentences."""
        lines = (_tail(self.stderr).strip() or _tail(self.stdout).strip()).splitlines()
        return f" (it printed {lines[-1].strip()[:200]!r})" if lines else ""

    def printed(self, status: str, seconds: float) -> Printed:
        """Return what the program printed, at most the last 10,000 bytes of each stream; remove empty log files."""
        texts = [_tail(path) for path in (self.stdout, self.stderr)]
        for path, text in zip((self.stdout, self.stderr), texts, strict=True):
            if not text:
                path.unlink(missing_ok=True)
        return Printed(*self._task, status, seconds, *texts)


def _tail(path: Path) -> str:
    """Return the last bytes of a file; nothing where there is no file."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL))
            return decoded(file.read())
    except FileNotFoundError:
        return ""


def signal_name(number: int) -> str:
    """Return the name of a signal by its number, such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
