"""The command ``zoviz run``: a solver on a problem, with a progress bar, stored."""

from __future__ import annotations

import argparse
from pathlib import Path

from zoviz.cli.build import load, make, open_store, spec
from zoviz.cli.command import Command, say
from zoviz.cli.help import CommandParser
from zoviz.cli.options import json_option, run_options, store_option
from zoviz.cli.progress import Watch, best_replica, report
from zoviz.diagnosis.certificate import certificate_of
from zoviz.problems.user.base import Simulation
from zoviz.runs.run import Run
from zoviz.runs.storage.database import StoreError
from zoviz.runs.store import Store


class _Run(Command):
    name, order, help = "run", 10, "solve a problem with a progress bar, and store the run"
    operands = "PROBLEM [SOLVER] [NAME=VALUE ...] "
    examples = """  zoviz run LoadTracking ZOCEG --calls 20000
  zoviz run NonconvexQCQP n=50 estimator.batch_size=100 --replicas 20 --target gap=1e-2
  zoviz run LoadTracking ZOSQP noise=independent --calls 5000 --certify
  zoviz run my_module:problem             a problem of yours; a solver is chosen
  zoviz run --exe "./sim {input} {output}" --bounds 0:1*4 --constraints 2 --calls 500
  zoviz run --exe ./bb.exe --format nomad --output-types "OBJ PB" --bounds -5:5*2 NOMAD
zoviz problems NAME and zoviz solvers NAME list the parameters.
Without a limit, a run makes 1000 (n + 1) evaluations per replica, n being the number of variables.
Ctrl-C stops after the step in progress and keeps everything; a second Ctrl-C stops at once."""

    def arguments(self, parser: CommandParser) -> None:
        run_options(parser)
        store_option(parser)
        parser.add_argument("--no-store", action="store_true", help="store nothing")
        parser.add_argument("--tag", action="append", default=[], metavar="TAG", help="tag of the run; may be repeated")
        parser.add_argument("--quiet", action="store_true", help="no progress bar")
        parser.add_argument(
            "--past", metavar="FILE", help="points with known values: a table, NOMAD's cache, or the id of a run"
        )
        parser.add_argument(
            "--certify", action="store_true", help="measure by further calls how sure the answer is (zoviz certify)"
        )
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        problem, solver = make(args)
        store = None if args.no_store else open_store(args, create=True)
        if args.past is not None and not Path(args.past).exists():
            args.past = load(open_store(args), args.past)
        run = Run.of(spec(args, problem, solver).replaced(judged=isinstance(problem, Simulation)), store=store)
        watch = Watch(run, args.quiet)
        watch.follow(None if store is None or not args.tag else lambda: _tag(store, run.id, args.tag))
        made = certificate_of(run, best_replica(run)) if args.certify and run.has_result and run.error is None else None
        return report(run, args.json, watch.interrupted, None if store is None else store.database.name, made)


def _tag(store: Store, run: str, tags: list[str]) -> None:
    try:
        store.annotate(run, tags=tags)
    except StoreError as error:  # the run itself goes on, as with all else that it cannot store
        say(f"Not tagged: {error}")


COMMAND = _Run()
