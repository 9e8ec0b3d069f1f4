"""The commands that begin with a stored run: resume, replay, fork."""

from __future__ import annotations

import argparse

from zoviz.cli.build import load, open_store
from zoviz.cli.command import Command, UsageError
from zoviz.cli.help import CommandParser
from zoviz.cli.options import budget_options, json_option, store_option, trust_option
from zoviz.cli.parse import read, split
from zoviz.cli.progress import Watch, report
from zoviz.runs.engine.stopping import BUDGETS
from zoviz.runs.run import Run
from zoviz.runs.stored_run import StoredRun
from zoviz.solvers.parameter_lookup import owner

COUNTS = tuple(name for name in BUDGETS if name != "seconds")
"""Budgets that a fork may have others of."""


class RepeatCommand(Command):
    """A command that resumes, replays or forks a stored run.

    Parameters
    ----------
    name : str
        resume, replay or fork: a method of ``StoredRun``.
    line, examples : str
        Its help.
    """

    def __init__(self, name: str, line: str, examples: str) -> None:
        self.name, self.order, self.help, self.examples = name, 30, line, examples
        self.operands = "ID [NAME=VALUE ...] " if name == "fork" else "ID "

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", metavar="ID", help="as listed by zoviz runs; any unique beginning")
        if self.name == "fork":
            parser.add_argument("words", nargs="*", metavar="NAME=VALUE", help="live parameters and their new values")
            parser.add_argument("--at", type=int, metavar="N", help="iteration to change them at (default: the last)")
            budget_options(parser, COUNTS, " (default: as before)")
        trust_option(parser)
        parser.add_argument("--quiet", action="store_true", help="no progress bar")
        store_option(parser)
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        store = open_store(args)
        stored = load(store, args.id)
        run = self._make(stored, args)
        watch = Watch(run, args.quiet)
        watch.follow()
        return report(run, args.json, watch.interrupted, store.database.name)

    def _make(self, stored: StoredRun, args: argparse.Namespace) -> Run:
        """Return the run to be followed, not started."""
        if self.name == "fork":
            return self._fork(stored, args)
        return stored.resume() if self.name == "resume" else stored.replay()

    def _fork(self, stored: StoredRun, args: argparse.Namespace) -> Run:
        plain, pairs = split(args.words)
        if plain:
            raise UsageError(f"Expected name=value, got {plain[0]!r}.")
        changes = {}
        for name, text in pairs:
            holder, own = owner(stored.problem, stored.solver, f"solver.{name}")
            changes[name] = read(holder.param[own], text, name)
        budgets = {name: getattr(args, name) for name in COUNTS if getattr(args, name) is not None}
        return stored.fork(args.at, changes, **budgets)
