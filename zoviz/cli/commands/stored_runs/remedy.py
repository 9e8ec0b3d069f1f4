"""The command ``zoviz remedy``: possible remedies for a stored run, tried on forks of it."""

from __future__ import annotations

import argparse
from typing import Any

from zoviz.cli.build import load, open_store
from zoviz.cli.command import FINE, Command, UsageError, agreed, say, show
from zoviz.cli.help import CommandParser
from zoviz.cli.options import json_option, store_option, trust_option
from zoviz.diagnosis.remedies import Remedy, advice, remedies, trial_calls
from zoviz.diagnosis.trial import Trial, try_remedies
from zoviz.diagnosis.verdict import verdict_of


class _Remedy(Command):
    name, order, help = "remedy", 32, "name what may mend a stored run, and try it by forks of the run"
    operands = "ID "
    examples = """  zoviz remedy 3f2a                 fork it for each remedy and once without, and say what is better
  zoviz remedy 3f2a --name          only name the remedies, with the calls that trying them takes
  zoviz remedy 3f2a --calls 5000    follow each fork for 5000 calls per replica
The forks are stored: continue the best one with zoviz fork."""

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", metavar="ID", help="as listed by zoviz runs; any unique beginning")
        parser.add_argument("--calls", type=int, metavar="N", help="calls of each replica and fork (half of the run's)")
        parser.add_argument("--name", action="store_true", help="only name the remedies")
        parser.add_argument("--yes", action="store_true", help="do not ask before a program is launched")
        trust_option(parser)
        store_option(parser)
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        if args.calls is not None and args.calls < 1:
            raise UsageError(f"Expected at least 1 call, got {args.calls}.")
        stored = load(open_store(args), args.id)
        judged = verdict_of(stored)
        named = remedies(stored, judged, args.calls)
        say(" ".join(filter(None, [judged.sentence, advice(named) or "It needs no remedy."])))
        if named and not args.name:
            most = trial_calls(stored, judged, named, args.calls)
            say(f"This takes up to {most:,} calls; Ctrl-C stops it.")
            if stored.problem.costly and not args.yes and not agreed(most):
                return FINE
            trial = try_remedies(stored, args.calls, named)
            if args.json:
                show([_plain(one, trial) for one in named])
            else:
                print(trial)
                best = trial.best
                say("" if best is None else f"Continue it: zoviz fork {best.run.id[:8]} --calls N")
        elif args.json:
            show([_plain(one) for one in named])
        return FINE


def _plain(remedy: Remedy, trial: Trial | None = None) -> dict[str, Any]:
    """Return a remedy and its outcome as JSON has them."""
    out: dict[str, Any] = {"remedy": remedy.words, "calls": remedy.calls}
    if trial is None:
        return out
    outcome = next(one for one in trial.outcomes if one.remedy == remedy)
    digits = dict(zip(("digits", "low", "high"), outcome.gain, strict=True))
    return out | digits | {"standard_error": outcome.error, "better": outcome.better, "run": outcome.run.id}


COMMAND = _Remedy()
