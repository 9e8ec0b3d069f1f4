"""The command ``zoviz certify``: how sure a stored run's answer is, and how nearly it is a minimum."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from zoviz.cli.build import load, open_store
from zoviz.cli.command import FINE, Command, UsageError, agreed, say, show
from zoviz.cli.help import CommandParser
from zoviz.cli.options import json_option, store_option, trust_option
from zoviz.diagnosis.certificate import Certifier, certificate_of, known_certainty


class _Certify(Command):
    name, order, help = "certify", 25, "measure by further calls how sure a stored run's answer is"
    operands = "ID "
    examples = """  zoviz certify 3f2a                      intervals for f, each constraint and their multipliers
  zoviz certify 3f2a --repeats 16         under noise: more calls at each point, narrower intervals
  zoviz certify 3f2a --tolerance 1e-3     constraints this close to 0 count as active
The calls are not charged to the run; you are asked before a program is launched."""

    def arguments(self, parser: CommandParser) -> None:
        default = Certifier()
        parser.add_argument("id", metavar="ID", help="as listed by zoviz runs; any unique beginning")
        parser.add_argument("--replica", type=int, default=0, help="replica to certify (%(default)s)")
        parser.add_argument("--repeats", type=int, default=default.repeats, help="calls at each point under noise")
        parser.add_argument("--tolerance", type=float, default=default.tolerance, help="largest |h| that counts as 0")
        parser.add_argument("--yes", action="store_true", help="do not ask before an expensive certificate")
        trust_option(parser)
        store_option(parser)
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        stored = load(open_store(args), args.id)
        if not 0 <= args.replica < stored.replicas:
            raise UsageError(f"Expected a replica from 0 to {stored.replicas - 1}, got {args.replica}.")
        certifier = Certifier(repeats=args.repeats, tolerance=args.tolerance)
        least, most = certifier.cost(stored.problem, known_certainty(stored, args.replica, certifier))
        say(f"This takes {least:,} to {most:,} extra calls, not charged to the run; Ctrl-C stops it.")
        if stored.problem.costly and not args.yes and not agreed(most):
            return FINE
        certificate = certificate_of(stored, args.replica, certifier)
        if args.json:
            show(asdict(certificate) | {"sentence": certificate.sentence})
        else:
            print(certificate.sentence)
            print(certificate.certainty.listed(*stored.problem.labels))
        return FINE


COMMAND = _Certify()
