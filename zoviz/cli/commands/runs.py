"""``zoviz runs``."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from zoviz.cli.build import open_store
from zoviz.cli.command import FINE, Command, UsageError, number, say, show, table
from zoviz.cli.options import json_option, store_option
from zoviz.runs.store import Store

ACTIONS = ("list", "show", "note", "delete", "restore", "export", "check")


class _Runs(Command):
    name, order, help = "runs", 20, "list, show, note, delete and export stored runs"
    examples = """  zoviz runs                                     the newest 20
  zoviz runs list --status failed --solver ZOSPLM --sort objective --limit 100
  zoviz runs show 3f2a                           any beginning of an id that no other run shares
  zoviz runs note 3f2a --label "narrow box" --tag paper --notes "see the second figure"
  zoviz runs delete 3f2a 77b1                    zoviz runs restore 3f2a brings it back
  zoviz runs export 3f2a course.csv              .csv, .parquet or .nc
  zoviz runs check                               is everything in the store whole?"""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare options."""
        parser.add_argument(
            "action", nargs="?", choices=ACTIONS, default="list", metavar="ACTION", help=", ".join(ACTIONS)
        )
        parser.add_argument("ids", nargs="*", metavar="ID", help="and for export a file")
        for name in ("status", "problem", "solver", "study", "text"):
            parser.add_argument(f"--{name}", help="list those only" if name == "status" else argparse.SUPPRESS)
        parser.add_argument("--tag", action="append", help="list those only; for note: the tags")
        parser.add_argument("--sort", default="-created", help='a column, after "-" from large to small (%(default)s)')
        parser.add_argument("--limit", type=_count, default=20, help="lines (%(default)s)")
        parser.add_argument("--deleted", action="store_true", help="list the deleted ones")
        parser.add_argument("--label", help="for note")
        parser.add_argument("--notes", help="for note")
        store_option(parser)
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Do what is asked."""
        least = {"list": 0, "check": 0, "note": 1, "show": 1, "export": 2, "delete": 1, "restore": 1}[args.action]
        most = {"list": 0, "check": 0, "note": 1, "show": 1, "export": 2}.get(args.action, 10**6)
        if not least <= len(args.ids) <= most:
            operands = {0: "no id", 1: "the id of a run", 2: "the id of a run and a file"}[least]
            raise UsageError(f"Expected {operands} after {args.action}, got {' '.join(args.ids) or 'nothing'}.")
        return getattr(self, f"_{args.action}")(open_store(args), args)

    def _list(self, store: Store, args: argparse.Namespace) -> int:
        which = {name: getattr(args, name) for name in ("status", "problem", "solver", "study", "text", "deleted")}
        which["tag"] = args.tag[0] if args.tag else None
        records = store.runs(**which, sort=args.sort, limit=args.limit)
        if args.json:
            show([record._asdict() for record in records])
            return FINE
        rows = [
            (
                one.id[:8],
                time.strftime("%Y-%m-%d %H:%M", time.localtime(one.created)),
                one.status,
                one.problem,
                one.solver,
                f"{one.calls:,}",
                number(one.objective),
                number(one.violation, 2),
                one.label,
                " ".join(one.tags),
            )
            for one in records
        ]
        table(
            ("ID", "BEGUN", "STATUS", "PROBLEM", "SOLVER", "CALLS", "OBJECTIVE", "VIOLATION", "LABEL", "TAGS"),
            rows,
            "lllllrrr",
        )
        total = store.count(**which)
        if total > len(records):
            say(f"{len(records)} of {total:,} runs: --limit shows more.")
        return FINE

    def _show(self, store: Store, args: argparse.Namespace) -> int:
        stored = store.load(args.ids[0])
        whole: dict[str, Any] = stored.record._asdict() | {
            "parameters": {kind: json.loads(stored.recipe[kind]) for kind in ("problem", "solver")},
            "settings": stored.settings,
            "resolved": stored.resolved,
            "versions": stored.versions,
            "steering": [change._asdict() for change in stored.journal],
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
        say(f"Deleted; zoviz runs restore {' '.join(args.ids)} brings back.")
        return FINE

    def _restore(self, store: Store, args: argparse.Namespace) -> int:
        store.restore(args.ids)
        return FINE

    def _export(self, store: Store, args: argparse.Namespace) -> int:
        store.load(args.ids[0]).export(args.ids[1])
        say(f"Written to {args.ids[1]}.")
        return FINE

    def _check(self, store: Store, args: argparse.Namespace) -> int:
        wrong = store.check()
        if args.json:
            show(wrong)
        else:
            print("\n".join(wrong) or "All is well.")
        return 1 if wrong else FINE


def _count(text: str) -> int:
    """A number of lines; its name is what argparse calls it."""
    if int(text) < 0:
        raise ValueError
    return int(text)


_count.__name__ = "number of lines"

COMMAND = _Runs()
