"""The command ``zoviz export-script``: a Python script that repeats a stored run."""

from __future__ import annotations

import argparse
from pathlib import Path

from zoviz.cli.build import load, open_store
from zoviz.cli.command import FINE, Command, say
from zoviz.cli.help import CommandParser
from zoviz.cli.options import store_option, trust_option
from zoviz.runs.script import script


class _ExportScript(Command):
    name, order, help = "export-script", 40, "write a Python script that repeats a stored run, including its steering"
    operands = "ID [FILE] "
    examples = "  zoviz export-script 3f2a                print it\n  zoviz export-script 3f2a again.py"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", metavar="ID", help="as listed by zoviz runs; any unique beginning")
        parser.add_argument("file", nargs="?", metavar="FILE", help="file of the script (default: print it)")
        trust_option(parser)
        store_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        source = script(load(open_store(args), args.id))
        if args.file is None:
            print(source, end="")
        else:
            Path(args.file).write_text(source, encoding="utf-8")
            say(f"Written to {args.file}: python {args.file} repeats the run.")
        return FINE


COMMAND = _ExportScript()
