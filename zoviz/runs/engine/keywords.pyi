"""The settings of runs as keyword arguments, written by ``python -m zoviz.cli.stubs``."""

from collections.abc import Mapping
from typing import Any
from typing import Literal
from typing import TypedDict

class StudyKeywords(TypedDict, total=False):
    replicas: int
    iterations: int | None
    calls: int | None
    seconds: float | None
    samples: int | None
    zeta_samples: int | None
    targets: Mapping[str, Any]
    stop_at_targets: bool
    stop_when: Literal["confident", "budget", "first"]
    accuracy: float
    tolerance: float | None
    checkpoint: float | str
    curvature_scaling: Literal["always", "under noise", "never"]

class RunKeywords(StudyKeywords, total=False):
    seed: int
    unit_sizes: Mapping[str, Any] | None
    past: Any
    judged: bool
    label: str
    study: str
    parent: str
