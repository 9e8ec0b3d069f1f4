"""A file of outcomes, from which an interrupted study goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Key = tuple[str | float | int, ...]


class ResultsFile:
    """Outcomes by key, each a line of a file: the key and the outcome as JSON.

    Parameters
    ----------
    path : Path or None
        None: the outcomes are written to no file.
    """

    def __init__(self, path: Path | None) -> None:
        self._path, self.outcomes = path, dict[Key, Any]()
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                key, outcome = json.loads(line)
                self.outcomes[tuple(key)] = outcome

    def of(self, key: Sequence[str | float | int], make: Callable[[], Any]) -> Any:
        """Return the outcome of a key, which is made, of lists and numbers, unless the file has it."""
        whole = tuple(key)
        if whole not in self.outcomes:
            self.outcomes[whole] = make()
            if self._path is not None:
                with open(self._path, "a", encoding="utf-8") as file:
                    file.write(json.dumps([whole, self.outcomes[whole]]) + "\n")
        return self.outcomes[whole]
