"""The command ``zoviz compare``: stored runs side by side as a table."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from zoviz.cli.build import load, open_store
from zoviz.cli.command import FINE, Command, UsageError, number, show, table
from zoviz.cli.help import CommandParser
from zoviz.cli.options import json_option, store_option, trust_option
from zoviz.runs.engine import columns as trace_columns
from zoviz.runs.stored_run import StoredRun


class _Compare(Command):
    name, order, help = "compare", 35, "compare stored runs in a table"
    operands = "ID [ID ...] "
    examples = "  zoviz compare 3f2a 77b1 90cc\n  zoviz compare 3f2a 77b1 --column best_gap"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ids", nargs="+", metavar="ID", help="as listed by zoviz runs; any unique beginning")
        parser.add_argument(
            "--column", metavar="NAME", help="gap, objective, violation, ... (default: gap where it is known)"
        )
        trust_option(parser)
        store_option(parser)
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        store = open_store(args)
        stored = [load(store, one) for one in args.ids]
        empty = [one.id[:8] for one in stored if not len(one.trace)]
        if empty:
            raise UsageError(f"Expected runs with an iterate, got {empty[0]}, which has none yet.")
        shared = set.intersection(*(set(one.trace.snapshot().columns) for one in stored))
        column = args.column or (trace_columns.GAP if trace_columns.GAP in shared else trace_columns.OBJECTIVE)
        if column not in shared:
            raise UsageError(f"Expected a column of every run, one of {', '.join(sorted(shared))}, got {column!r}.")
        lines = [_line(one, column) for one in stored]
        if args.json:
            show(lines)
        else:
            rows = [[number(v) if isinstance(v, float) else str(v) for v in line.values()] for line in lines]
            table([name.replace("_", " ").upper() for name in lines[0]], rows, "llllrrrrrr")
        return FINE


def _line(stored: StoredRun, column: str) -> dict[str, Any]:
    """One row of the table: the last of the course, mean and standard error over the replicas."""
    columns = stored.trace.snapshot().columns
    violation, best = trace_columns.VIOLATION, trace_columns.BEST_OBJECTIVE
    last = {name: columns[name][-1] for name in (column, violation, best, trace_columns.CALLS) if name in columns}
    values = last[column][np.isfinite(last[column])]
    spread = float(values.std(ddof=1) / values.size**0.5) if values.size > 1 else float("nan")
    return {
        "id": stored.id[:8],
        "problem": stored.record.problem,
        "solver": stored.record.solver,
        "status": stored.status,
        "replicas": stored.replicas,
        "calls": int(np.nanmax(last[trace_columns.CALLS])),
        column: float(values.mean()) if values.size else float("nan"),
        "s_e": spread,
        "violation": float(np.nanmax(last[violation])) if violation in last else float("nan"),
        "best": float(np.nanmin(last[best], initial=np.inf)) if best in last else float("nan"),
    }


COMMAND = _Compare()
