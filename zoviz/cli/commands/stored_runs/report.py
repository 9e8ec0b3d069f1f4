"""The command ``zoviz report``: stored runs as one file that can be sent."""

from __future__ import annotations

import argparse

from zoviz.cli.build import load, open_store
from zoviz.cli.command import FINE, Command, say
from zoviz.cli.help import CommandParser
from zoviz.cli.options import store_option, trust_option


class _Report(Command):
    name, order, help = "report", 36, "write stored runs as one file to be sent: best design, verdict, plots, script"
    operands = "ID [ID ...] "
    examples = """  zoviz report 3f2a -o run.html       a page that needs nothing else, with the run's forks beside it
  zoviz report 3f2a 77b1 -o both.md   two runs compared, as Markdown"""

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ids", nargs="+", metavar="ID", help="as listed by zoviz runs; any unique beginning")
        files = "FILE.html (default: run.html), FILE.md or FILE.pdf"
        parser.add_argument("-o", "--output", metavar="FILE", default="run.html", help=files)
        trust_option(parser)
        store_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        store = open_store(args)
        stored = [load(store, one) for one in args.ids]
        from zoviz.views.report.files import write_report  # with Panel: seconds that no other command waits for

        write_report(stored, args.output)
        say(f"Written to {args.output}.")
        return FINE


COMMAND = _Report()
