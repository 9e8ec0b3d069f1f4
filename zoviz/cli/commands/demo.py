"""The command ``zoviz demo``: a first run in a terminal, explained."""

from __future__ import annotations

import argparse

from zoviz.cli.command import FAILED, Command, say
from zoviz.cli.help import CommandParser
from zoviz.cli.progress import Watch, report
from zoviz.runs.run import Run

_BEFORE = """The cheapest welded beam that holds its load: 4 variables, 7 constraints. The solver sees neither formulas
nor derivatives: it evaluates 200 points from each of four random starts. Nothing is stored. The same by hand:

  zoviz run WeldedBeam ZOSQP --calls 200 --replicas 4
"""

_AFTER = """The best published value is {known:.6f}. {repeated}

  zoviz serve                     the same in a browser: watch it converge, and change parameters meanwhile
  zoviz run my_module:problem     your own function; see zoviz run --help for programs in other languages
  zoviz problems, zoviz solvers   lists of both"""


class _Demo(Command):
    name, order, help = "demo", 2, "solve a first problem in a few seconds; nothing is stored"
    examples = "  zoviz demo"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--quiet", action="store_true", help="no progress bar")

    def run(self, args: argparse.Namespace) -> int:
        from zoviz.problems import WeldedBeam
        from zoviz.solvers import ZOSQP

        say(_BEFORE)
        problem = WeldedBeam()
        run = Run(problem, ZOSQP(), replicas=4, calls=200)
        watch = Watch(run, args.quiet)
        watch.follow()
        code = report(run, False, watch.interrupted, None)
        if watch.interrupted or run.error is not None:
            return code
        same = bool((run.replay().run().x == run.result.x).all())
        repeated = "A second run with the same seed gave the same answer, bit for bit."
        if not same:
            repeated = "A second run with the same seed gave a DIFFERENT answer: see zoviz doctor."
        say("\n" + _AFTER.format(known=problem.published_value, repeated=repeated))
        return code if same else FAILED


COMMAND = _Demo()
