"""The command ``zoviz serve``: the dashboard in a browser."""

from __future__ import annotations

import argparse

from zoviz.cli.build import find_problem, open_store
from zoviz.cli.command import FINE, Command, UsageError
from zoviz.cli.options import store_option


class _Serve(Command):
    name, order, help = "serve", 15, "open the dashboard in a browser"
    examples = """  zoviz serve
  zoviz serve --problem my_module:problem --port 5010
  zoviz serve --store postgresql://user@host/zoviz --address 0.0.0.0 --basic-auth users.json --allow-origin lab:5006
The server listens on this machine only, unless --address says otherwise; then it wants --basic-auth."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's options."""
        parser.add_argument("--problem", metavar="MODULE:OBJECT", help="a problem of yours, first in the list")
        parser.add_argument("--port", type=int, default=5006, help="%(default)s; 0: any that is free")
        parser.add_argument("--address", default="127.0.0.1", help="to listen on (%(default)s)")
        parser.add_argument(
            "--allow-origin", action="append", default=[], metavar="HOST:PORT", help="of other pages' names"
        )
        parser.add_argument(
            "--basic-auth", metavar="PASSWORD|FILE", help="one for all, or a JSON file of user: password"
        )
        parser.add_argument("--cookie-secret", help="for --basic-auth; made anew at each start where it is not given")
        parser.add_argument("--no-show", action="store_true", help="do not open a browser")
        store_option(parser)
        parser.add_argument("--no-store", action="store_true", help="keep nothing")

    def run(self, args: argparse.Namespace) -> int:
        """Serve until Ctrl-C."""
        here = args.address in ("127.0.0.1", "localhost", "::1")
        if not here and not args.basic_auth:
            raise UsageError(
                f"Expected --basic-auth with --address {args.address}, got none: anybody could use this machine."
            )
        from zoviz.views.app.server import serve

        args.words = [args.problem] if args.problem else []
        problem = find_problem(args.problem) if args.problem else None
        serve(
            problem,
            # Who comes from elsewhere may not launch what this user once did.
            None if args.no_store else open_store(args, create=True, own=here),
            port=args.port,
            address=args.address,
            origins=args.allow_origin,
            basic_auth=args.basic_auth,
            cookie_secret=args.cookie_secret,
            show=not args.no_show,
        )
        return FINE


COMMAND = _Serve()
