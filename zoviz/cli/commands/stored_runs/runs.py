"""The command ``zoviz runs``: list, show, note, delete, purge and export stored runs."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from zoviz.cli.build import load, open_store
from zoviz.cli.command import FINE, Command, UsageError, number, say, show, table
from zoviz.cli.help import CommandParser
from zoviz.cli.options import json_option, store_option
from zoviz.evaluation.worker_log import WorkerTable
from zoviz.oracle.samples import COUNTED
from zoviz.runs.engine.result import Result
from zoviz.runs.storage.queries import Record
from zoviz.runs.store import Store

MANY = 10**6
COUNTS = {
    "list": (0, 0),
    "show": (1, 1),
    "note": (1, 1),
    "delete": (1, MANY),
    "restore": (1, MANY),
    "purge": (0, MANY),
    "export": (2, 2),
    "check": (0, 0),
}
"""What may be done, each by a method of its name, and the least and the largest number of words after it."""


class _Runs(Command):
    name, order, help = "runs", 20, "list, show, note, delete, purge and export stored runs"
    operands = "[ACTION] [ID ...] "
    examples = """  zoviz runs                                     the newest 20
  zoviz runs list --status failed --solver ZOSPLM --sort objective --limit 100
  zoviz runs show 3f2a                           any unique beginning of an id
  zoviz runs show 3f2a --ledger                  its calls by purpose
  zoviz runs note 3f2a --label "narrow box" --tag paper --notes "see the second figure"
  zoviz runs delete 3f2a 77b1                    zoviz runs restore 3f2a brings it back
  zoviz runs purge --older-than 30               remove permanently what was deleted 30 days ago
  zoviz runs export 3f2a course.csv              .csv, .parquet or .nc
  zoviz runs check                               check the store for damage"""

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "action", nargs="?", choices=COUNTS, default="list", metavar="ACTION", help=", ".join(COUNTS)
        )
        parser.add_argument(
            "ids", nargs="*", metavar="ID", help="any unique beginning of an id; for export also a file"
        )
        rare = parser.add_rare_group("filters")
        for name in ("status", "problem", "solver", "study", "text"):
            rare.add_argument(f"--{name}", metavar="TEXT", help=f"list only runs of this {name}")
        parser.add_argument("--tag", action="append", metavar="TAG", help="list only these; for note: the tags")
        parser.add_argument(
            "--sort",
            default="-created",
            metavar="COLUMN",
            help='column to sort by; "-" before it: from large to small (%(default)s)',
        )
        parser.add_argument("--limit", type=_count, default=20, metavar="N", help="most lines (%(default)s)")
        parser.add_argument("--deleted", action="store_true", help="list deleted runs")
        parser.add_argument("--older-than", type=_days, metavar="DAYS", help="for purge: minimum age of the deletion")
        parser.add_argument("--yes", action="store_true", help="for purge: do not ask for confirmation")
        parser.add_argument("--ledger", action="store_true", help="for show: only the calls by purpose")
        parser.add_argument("--label", metavar="NAME", help="for note: name of the run")
        parser.add_argument("--notes", metavar="TEXT", help="for note: what you want to remember")
        store_option(parser)
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        least, most = COUNTS[args.action]
        if not least <= len(args.ids) <= most:
            operands = {0: "no id", 1: "the id of a run", 2: "the id of a run and a file"}[least]
            raise UsageError(f"Expected {operands} after {args.action}, got {' '.join(args.ids) or 'nothing'}.")
        code: int = getattr(self, f"_{args.action}")(open_store(args), args)
        return code

    def _list(self, store: Store, args: argparse.Namespace) -> int:
        which = {name: getattr(args, name) for name in ("status", "problem", "solver", "study", "text", "deleted")}
        which["tag"] = args.tag[0] if args.tag else None
        records = store.runs(**which, sort=args.sort, limit=args.limit)
        if args.json:
            show([record._asdict() for record in records])
            return FINE
        _lines(records)
        total = store.count(**which)
        if total > len(records):
            say(f"{len(records)} of {total:,} runs: --limit shows more.")
        return FINE

    def _show(self, store: Store, args: argparse.Namespace) -> int:
        stored = load(store, args.ids[0])
        if args.ledger:
            return _print_ledger(stored.result, stored.workers, args.json)
        whole: dict[str, Any] = stored.record._asdict() | {
            "parameters": {kind: json.loads(stored.recipe[kind]) for kind in ("problem", "solver")},
            "settings": stored.settings,
            "resolved": stored.resolved,
            "versions": stored.versions,
            "steering": [change._asdict() for change in stored.journal],
            "workers": [row._asdict() for row in stored.workers.rows],
        }
        if args.json:
            show(whole)
        else:
            for name, value in whole.items():
                print(f"{name:>12}  {value}")
        return FINE

    def _note(self, store: Store, args: argparse.Namespace) -> int:
        store.annotate(args.ids[0], label=args.label, notes=args.notes, tags=args.tag)
        return FINE

    def _delete(self, store: Store, args: argparse.Namespace) -> int:
        store.delete(args.ids)
        say(f"Deleted; zoviz runs restore {' '.join(args.ids)} restores, zoviz runs purge removes permanently.")
        return FINE

    def _restore(self, store: Store, args: argparse.Namespace) -> int:
        store.restore(args.ids)
        return FINE

    def _purge(self, store: Store, args: argparse.Namespace) -> int:
        """Ask, then remove: what was shown, and nothing that was deleted meanwhile."""
        records = store.purgeable(args.ids or None, args.older_than)
        what = _runs(len(records))
        if records and not args.yes:
            if not sys.stdin.isatty():
                raise UsageError(f"Expected --yes without a terminal, got {what} to remove permanently.")
            _lines(records)
            if input(f"Permanently remove {what}? [y/N] ").strip().casefold() not in ("y", "yes"):
                say("Nothing was removed.")
                return FINE
        removed = store.purge([one.id for one in records]) if records else []
        if args.json:
            show([record._asdict() for record in removed])
        elif args.yes:
            _lines(removed)
        say(f"Removed {_runs(len(removed))} permanently.")
        return FINE

    def _export(self, store: Store, args: argparse.Namespace) -> int:
        load(store, args.ids[0]).export(args.ids[1])
        say(f"Written to {args.ids[1]}.")
        return FINE

    def _check(self, store: Store, args: argparse.Namespace) -> int:
        wrong = store.check()
        if args.json:
            show(wrong)
        else:
            print("\n".join(wrong) or "No faults found.")
        return 1 if wrong else FINE


def _print_ledger(result: Result, workers: WorkerTable, as_json: bool) -> int:
    """Print a run's calls by purpose: means over the replicas, and their shares of all; and by worker."""
    calls, failed = result.ledger
    if as_json:
        show({purpose: {"calls": count, "failed": failed.get(purpose, 0 * count)} for purpose, count in calls.items()})
        return FINE
    total = result.calls.mean()
    rows = [
        (
            purpose,
            f"{count.mean():,.1f}",
            f"{count.mean() / total:.1%}",
            f"{failed.get(purpose, 0 * count).mean():,.1f}",
        )
        for purpose, count in sorted(calls.items(), key=lambda item: -item[1].sum())
    ]
    table(("PURPOSE", "CALLS", "SHARE", "FAILED"), [*rows, ("all", f"{total:,.1f}", "", "")], "lrrr")
    if workers.rows:
        print()
        table(("WORKER", "CALLS", "SECONDS"), [cells[:3] for cells in workers.cells()], "lrr")
    return FINE


def _lines(records: list[Record]) -> None:
    """Print runs as a table; samples of xi and of zeta have columns where some run has any."""
    counts = {name: [getattr(one, name) for one in records] for name in COUNTED if name != "calls"}
    counts = {name: samples for name, samples in counts.items() if any(samples)}
    rows = [
        (
            one.id[:8],
            time.strftime("%Y-%m-%d %H:%M", time.localtime(one.created)),
            one.status,
            one.problem,
            one.solver,
            f"{one.calls:,}",
            *("-" if samples[i] is None else f"{samples[i]:,}" for samples in counts.values()),
            number(one.objective),
            number(one.violation, 2),
            one.label,
            " ".join(one.tags),
        )
        for i, one in enumerate(records)
    ]
    numbers = ("CALLS", *(name.replace("_", " ").upper() for name in counts), "OBJECTIVE", "VIOLATION")
    header = ("ID", "BEGUN", "STATUS", "PROBLEM", "SOLVER", *numbers, "LABEL", "TAGS")
    table(header, rows, "lllll" + "r" * len(numbers))


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _days(text: str) -> float:
    """Return a number of days; its name is what argparse calls it."""
    days = float(text)
    if not days >= 0:
        raise ValueError
    return days


_days.__name__ = "number of days"


def _count(text: str) -> int:
    """Return a number of lines; its name is what argparse calls it."""
    if int(text) < 0:
        raise ValueError
    return int(text)


_count.__name__ = "number of lines"

COMMAND = _Runs()
