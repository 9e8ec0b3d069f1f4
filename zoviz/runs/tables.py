"""The tables of a store; what is listed stands apart from what is large."""

from __future__ import annotations

import hashlib

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

VERSION = 1
"""Version of these tables; ``migrations`` brings older ones here."""

METADATA = MetaData()

VERSIONS = Table("zoviz_schema", METADATA, Column("version", Integer, primary_key=True), Column("since", Double))

RUNS = Table(
    "runs",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("label", Text, nullable=False, default=""),
    Column("problem", String(200), nullable=False),
    Column("solver", String(200), nullable=False),
    Column("status", String(16), nullable=False),
    Column("created", Double, nullable=False),
    Column("updated", Double, nullable=False),
    Column("host", String(255), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("process_started", Double, nullable=False),
    Column("iterations", BigInteger, nullable=False, default=0),
    Column("calls", BigInteger, nullable=False, default=0),
    Column("seconds", Double, nullable=False, default=0.0),
    Column("objective", Double),
    Column("violation", Double),
    Column("best_value", Double),
    Column("seed", BigInteger, nullable=False),
    Column("replicas", Integer, nullable=False),
    Column("notes", Text, nullable=False, default=""),
    Column("tags", Text, nullable=False, default=""),
    Column("study", String(200), nullable=False, default=""),
    Column("message", Text, nullable=False, default=""),
    Column("parent", String(32), nullable=False, default=""),
    Column("deleted", Double),
    # By what is listed first: those that are not deleted, the latest of them.
    Index("runs_created", "deleted", "created", "id"),
    Index("runs_status", "status", "created"),
    Index("runs_problem", "problem", "created"),
    Index("runs_solver", "solver", "created"),
    Index("runs_study", "study", "created"),
)


def _run() -> Column:
    return Column("run", String(32), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


RECIPES = Table(
    "recipes",
    METADATA,
    _run(),
    Column("problem", Text, nullable=False),
    Column("solver", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("script", Text, nullable=False),
    Column("versions", Text, nullable=False),
    Column("resolved", Text, nullable=False),
)
"""What a run is made of, as JSON; ``script`` holds the changes that it was told to make by itself."""

JOURNAL = Table(
    "journal",
    METADATA,
    _run(),
    Column("number", Integer, primary_key=True),
    Column("iteration", BigInteger, nullable=False),
    Column("calls", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("name", String(200), nullable=False),
    Column("old", Text, nullable=False),
    Column("new", Text, nullable=False),
)

SEGMENTS = Table(
    "segments",
    METADATA,
    _run(),
    Column("kind", String(8), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("rows", Integer, nullable=False),
    Column("stride", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("checksum", String(32), nullable=False),
)
"""Rows of the trace and of the path in the order of writing; rows that thinning has dropped since are told by the
last segment's stride."""

SNAPSHOTS = Table(
    "snapshots",
    METADATA,
    _run(),
    Column("kind", String(16), primary_key=True),
    Column("iteration", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("checksum", String(32), nullable=False),
)
"""The last of each kind: "outcome" is what a reader is shown, "checkpoint" what resuming needs."""

EVALUATIONS = Table(
    "evaluations",
    METADATA,
    _run(),
    Column("ordinal", BigInteger, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    Column("checksum", String(32), nullable=False),
)

PARTS = (RECIPES, JOURNAL, SEGMENTS, SNAPSHOTS, EVALUATIONS)
"""Tables of which every row belongs to a run."""

BLOBS = (SEGMENTS, SNAPSHOTS, EVALUATIONS)
"""Tables with ``data`` and its ``checksum``."""


def sealed(data: bytes) -> dict[str, object]:
    """The columns ``data`` and ``checksum`` (BLAKE2b, 16 bytes in hexadecimal) of a row."""
    return {"data": data, "checksum": hashlib.blake2b(data, digest_size=16).hexdigest()}
