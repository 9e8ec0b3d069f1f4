"""The command ``zoviz serve``: the dashboard in a browser."""

from __future__ import annotations

import argparse
from typing import Any

import param

from zoviz.cli.build import open_store
from zoviz.cli.command import FINE, Command
from zoviz.cli.help import CommandParser, RareGroup
from zoviz.cli.options import store_option
from zoviz.problems.find import find_problem
from zoviz.views.server.settings import ServerSettings, option_of

_USUAL = ("port", "address", "allow_origin", "basic_auth")
"""Settings of the server that the help shows first."""


class _Serve(Command):
    name, order, help = "serve", 15, "open the dashboard in a browser"
    examples = """  zoviz serve
  zoviz serve --problem my_module:problem --port 5010
  zoviz serve --address 0.0.0.0 --basic-auth users.json --allow-origin lab:5006
Only this machine can reach the server, unless --address and users are given.
Ctrl-C stops the runs after their step; they can be resumed. /healthz says whether the server is up."""

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--problem", metavar="MODULE:OBJECT", help="your own problem, first in the list")
        parser.add_argument("--no-show", action="store_true", help="do not open a browser")
        store_option(parser)
        parser.add_argument("--no-store", action="store_true", help="store nothing")
        usual = parser.add_argument_group("server (each option also by a variable: ZOVIZ_PORT for --port)")
        rare = parser.add_rare_group("proxies, people and limits")
        for name in ServerSettings.names():
            _add(usual if name in _USUAL else rare, name, ServerSettings.param[name])

    def run(self, args: argparse.Namespace) -> int:
        settings = ServerSettings.read(vars(args))
        from zoviz.views.server.serve import serve

        args.words = [args.problem] if args.problem else []
        problem = find_problem(args.problem) if args.problem else None
        # Who comes from elsewhere may not launch what this user once did.
        store = None if args.no_store else open_store(args, create=True, own=settings.here)
        serve(problem, store, settings, show=not args.no_show)
        return FINE


def _add(group: argparse._ArgumentGroup | RareGroup, name: str, parameter: param.Parameter) -> None:
    """Declare the option of a setting; its text is read with the environment's."""
    default = "" if parameter.default in (None, False, []) else f" ({parameter.default})"
    options: dict[str, Any] = {"default": None, "dest": name, "help": f"{parameter.doc}{default}"}
    if isinstance(parameter, param.Boolean):
        options |= {"action": argparse.BooleanOptionalAction}
    else:
        kind = "N" if isinstance(parameter, param.Integer) else name.upper()
        options |= {"metavar": parameter.label if parameter.label and parameter.label.isupper() else kind}
        options |= {"action": "append"} if isinstance(parameter, param.List) else {}
    group.add_argument(option_of(name), **options)


COMMAND = _Serve()
