"""The command ``zoviz doctor``: whether this installation works."""

from __future__ import annotations

import argparse

from zoviz.cli.command import FAILED, FINE, Command, show, table
from zoviz.cli.help import CommandParser
from zoviz.cli.options import json_option, store_option


class _Doctor(Command):
    name, order, help = "doctor", 3, "check this installation: versions, extras, browser, store, permissions"
    examples = """  zoviz doctor
  zoviz doctor --json
OK: works. missing: optional, install it if you need it. broken: the exit code is 1."""

    def arguments(self, parser: CommandParser) -> None:
        store_option(parser)
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        from zoviz.cli.checkup import BROKEN, checkup

        findings = list(checkup(args.store))
        if args.json:
            show([one._asdict() for one in findings])
        else:
            table(("CHECK", "", ""), findings)
        return FAILED if any(one.state == BROKEN for one in findings) else FINE


COMMAND = _Doctor()
