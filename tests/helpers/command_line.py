"""What the tests of the command line say to it, and what they are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from zoviz.runs.store import Store

SMALL = ["LoadTracking", "ZOCEG", "n=5", "curtailment=40", "--iterations", "20", "--replicas", "2", "--quiet"]


class Told(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def store(folder: Path, **options: Any) -> Store:
    return Store(f"sqlite:///{folder / 'zoviz.db'}", **options)
