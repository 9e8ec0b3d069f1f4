"""``zoviz run``."""

from __future__ import annotations

import argparse

from zoviz.cli.command import Command
from zoviz.cli.making import json_option, make, open_store, run_of, run_options, settings, store_option
from zoviz.cli.watching import Watch, report
from zoviz.runs.recording import EVERY_CALL


class _Run(Command):
    name, order, help = "run", 10, "solve a problem, with a live progress bar; everything is kept in the store"
    examples = """  zoviz run LoadTracking ZOCEG --calls 20000
  zoviz run NonconvexQCQP n=50 primal_step=0.01 estimator.batch_size=100 --replicas 20 --target gap=1e-2
  zoviz run my_module:problem SLSQP             an object of yours; the solver may be left out and is then chosen
  zoviz run --exe "./sim {input} {output}" --bounds 0:1*4 --constraints 2 --calls 500
  zoviz run --exe ./bb.exe --format nomad --output-types "OBJ PB" --bounds=-5:5*2 NOMAD
A name=value is a parameter of the problem or of the solver; zoviz problems NAME and zoviz solvers NAME list them.
Ctrl-C once stops after the step in progress and keeps everything; twice, at once."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare options."""
        run_options(parser)
        store_option(parser)
        parser.add_argument("--no-store", action="store_true", help="keep nothing")
        parser.add_argument(
            "--checkpoint",
            metavar="S",
            help='seconds between two checkpoints (1), or "every call": the default for a program of yours',
        )
        parser.add_argument("--quiet", action="store_true", help="no progress bar")
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Solve."""
        problem, solver = make(args)
        store = None if args.no_store else open_store(args)
        checkpoint = args.checkpoint or (EVERY_CALL if args.exe else "1")
        kept = {} if store is None else {"checkpoint": EVERY_CALL if checkpoint == EVERY_CALL else float(checkpoint)}
        run = run_of(problem, solver, store, **settings(args, problem), **kept)
        watch = Watch(run, args.quiet)
        watch.follow()
        if store is not None and args.tag:
            store.annotate(run.id, tags=args.tag)
        return report(run, args.json, watch.interrupted, "" if store is None else repr(store)[7:-1])


COMMAND = _Run()
