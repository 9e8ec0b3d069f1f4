"""The tables of a store: what lists need is in small tables, apart from large blobs."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

from zoviz.runs.engine.stopping import BUDGETS

VERSION = 1
"""Version of these tables. From 0.1.0 on, what changes them raises it, and brings older stores here."""

METADATA = MetaData()

VERSIONS = Table("zoviz_schema", METADATA, Column("version", Integer, primary_key=True), Column("since", Double))


def _filled(name: str, kind: Any, **options: Any) -> Column[Any]:
    """Return a column that is never empty."""
    return Column(name, kind, nullable=False, **options)


def _of_runs(name: str, *columns: Column[Any]) -> Table:
    """Return a table of which every row belongs to a run."""
    run = Column("run", String(32), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    return Table(name, METADATA, run, *columns)


def _key(name: str, kind: Any) -> Column[Any]:
    """Return a column that tells the rows of a run apart."""
    return Column(name, kind, primary_key=True)


def _whereabouts() -> list[Column[Any]]:
    """Return the columns that tell how something stands, and which process is or was at work on it."""
    return [
        _filled("status", String(16)),
        _filled("created", Double),
        _filled("updated", Double),
        _filled("host", String(255)),
        _filled("pid", Integer),
        _filled("process_started", Double),
    ]


def _blob() -> tuple[Column[Any], Column[Any]]:
    """Return the columns that ``sealed`` fills."""
    return _filled("data", LargeBinary), _filled("checksum", String(32))


RUNS = Table(
    "runs",
    METADATA,
    Column("id", String(32), primary_key=True),
    _filled("label", Text, default=""),
    _filled("problem", String(200)),
    _filled("solver", String(200)),
    *_whereabouts(),
    *(_filled(name, Double if name == "seconds" else BigInteger, default=0) for name in BUDGETS),
    Column("objective", Double),
    Column("violation", Double),
    Column("best_value", Double),
    _filled("seed", BigInteger),
    _filled("replicas", Integer),
    _filled("notes", Text, default=""),
    _filled("tags", Text, default=""),
    _filled("study", String(200), default=""),
    _filled("message", Text, default=""),
    _filled("parent", String(32), default=""),
    Column("deleted", Double),
    _filled("owner", String(200), default=""),
    # By what is listed first: those that are not deleted, the latest of them.
    Index("runs_created", "deleted", "created", "id"),
    *(Index(f"runs_{name}", name, "created") for name in ("status", "problem", "solver", "study", "owner")),
)

RECIPES = _of_runs(
    "recipes",
    *(_filled(name, Text) for name in ("problem", "solver", "settings", "schedule", "versions", "resolved")),
    _filled("signature", Text, default=""),
)
"""What a run is made of, as JSON; ``schedule`` holds the changes that it was told to make by itself, ``signature`` is
that of the user who began it (``signature.sign``), empty where nothing is to be trusted."""

JOURNAL = _of_runs(
    "journal",
    _key("number", Integer),
    _filled("iteration", BigInteger),
    _filled("calls", BigInteger),
    _filled("seconds", Double),
    _filled("name", String(200)),
    _filled("old", Text),
    _filled("new", Text),
)

SEGMENTS = _of_runs(
    "segments",
    _key("kind", String(8)),
    _key("number", Integer),
    _filled("rows", Integer),
    _filled("stride", BigInteger),
    *_blob(),
)
"""Rows of the trace and of the path in the order of writing; rows that thinning has dropped since are told by the
last segment's stride."""

SNAPSHOTS = _of_runs("snapshots", _key("kind", String(16)), _filled("iteration", BigInteger), *_blob())
"""The last of each kind: "outcome" is what a reader is shown, "answer" the point that was chosen and judged,
"examination" what the first calls found, "checkpoint" what resuming needs, and "last step" what a fork of a run that
has ended needs: the state before the calls that its answer took, or before a step that a budget cut off."""

EVALUATIONS = _of_runs("evaluations", _key("ordinal", BigInteger), *_blob())

STUDIES = Table(
    "studies",
    METADATA,
    Column("owner", String(200), primary_key=True),
    Column("name", String(200), primary_key=True),
    _filled("definition", Text),
    *_whereabouts(),
)
"""What studies consist of, as JSON, and the process that is or was at work on each; their runs carry their names."""

SESSIONS = Table(
    "sessions",
    METADATA,
    Column("id", String(32), primary_key=True),
    _filled("owner", String(200)),
    _filled("created", Double),
    _filled("settings", Text),
    _filled("cancelled", Double),
)
"""Sessions of ask and tell: what each is made of, as JSON, and when it was cancelled, 0 where it was not."""

TELLS = Table(
    "tells",
    METADATA,
    Column("session", String(32), ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    _key("number", Integer),
    _filled("time", Double),
    *_blob(),
)
"""What was told in sessions, in order: points with their ids, and the values there."""

PARTS = (RECIPES, JOURNAL, SEGMENTS, SNAPSHOTS, EVALUATIONS)
"""Tables of which every row belongs to a run."""

BLOBS = (SEGMENTS, SNAPSHOTS, EVALUATIONS)
"""Tables with ``data`` and its ``checksum``."""


def sealed(data: bytes) -> dict[str, object]:
    """Return the columns ``data`` and ``checksum`` (BLAKE2b, 16 bytes in hexadecimal) of a row."""
    return {"data": data, "checksum": hashlib.blake2b(data, digest_size=16).hexdigest()}
