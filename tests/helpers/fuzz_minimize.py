"""A fuzz of ``minimize``: thousands of odd black boxes, bounds, starts and budgets, each judged by what must hold.

    python -m helpers.fuzz_minimize --cases 10000          # from tests/; two processes, prints what failed and a table
    python -m helpers.fuzz_minimize --only 4711            # one case, in this process, with its traceback

A case is drawn from its number alone. Bad is: no end (a child is killed when a case prints nothing for --limit
seconds), an exception that is neither a sentence of zoviz nor the function's own, more calls than the budget or others
than were counted, an answer outside the bounds, a value or violation that is not the function's, and a success whose
point violates or is not finite.
"""

from __future__ import annotations

import argparse
import json
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from helpers.odd_black_boxes import Box, Case, methods, solve, verdict

SHARE = 200
"""Cases that a child works off before another is begun."""


def judged(numbers: range) -> Iterator[dict[str, Any]]:
    """One line per case: its number, kind of end, reason and seconds."""
    names = methods()
    for number in numbers:
        case = Case.draw(number, names)
        started = time.perf_counter()
        kind, reason = verdict(case)
        seconds = time.perf_counter() - started
        yield {"number": number, "kind": kind, "reason": reason, "seconds": seconds, "case": vars(case)}


def _watch(numbers: list[tuple[int, int]], limit: float, lines: list[dict[str, Any]]) -> None:
    """Work off ranges by children; one that says nothing for ``limit`` seconds is killed and begun behind the case."""
    while numbers:
        first, last = numbers.pop()
        while first < last:
            words = [sys.executable, "-m", "helpers.fuzz_minimize", "--child", str(first), str(last)]
            child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
            outbox: queue.Queue[str | None] = queue.Queue()
            threading.Thread(target=_read, args=(child, outbox), daemon=True).start()
            reason = _heard(outbox, limit, lines)
            child.kill()
            child.wait()
            first = max([first, *(line["number"] + 1 for line in lines if first <= line["number"] < last)])
            if first < last:
                case = vars(Case.draw(first, methods()))
                _note({"number": first, "kind": "bad", "reason": reason, "seconds": limit, "case": case}, lines)
                first += 1


def _heard(outbox: queue.Queue[str | None], limit: float, lines: list[dict[str, Any]]) -> str:
    """Take a child's lines until it ends or is silent; which of the two."""
    while True:
        try:
            text = outbox.get(timeout=limit)
        except queue.Empty:
            return "hang"
        if text is None:
            return "the process died"
        _note(json.loads(text), lines)


def _note(line: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    """Keep a case's line, and print a bad one at once."""
    lines.append(line)
    if line["kind"] == "bad":
        print(line["number"], line["reason"], line["case"], flush=True)


def _read(child: subprocess.Popen[str], outbox: queue.Queue[str | None]) -> None:
    """Hand a child's lines over to the thread that watches it; None at their end."""
    assert child.stdout is not None
    for text in child.stdout:
        if text.startswith("{"):
            outbox.put(text)
    outbox.put(None)


def main() -> None:
    """Print bad cases as they come, then the slowest ones and how many ended in which way."""
    whole = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    whole.add_argument("--cases", type=int, default=10_000)
    whole.add_argument("--first", type=int, default=0)
    whole.add_argument("--jobs", type=int, default=2)
    whole.add_argument("--limit", type=float, default=300.0, help="seconds without a word that are taken for a hang")
    whole.add_argument("--only", type=int, help="one case, in this process")
    whole.add_argument("--child", type=int, nargs=2, help=argparse.SUPPRESS)
    args = whole.parse_args()
    if args.child:
        for line in judged(range(*args.child)):
            print(json.dumps(line), flush=True)
        return
    if args.only is not None:
        case = Case.draw(args.only, methods())
        print(case, verdict(case), solve(case, Box(case, "")), sep="\n")
        return
    lines: list[dict[str, Any]] = []
    last = args.first + args.cases
    numbers = [(i, min(i + SHARE, last)) for i in range(args.first, last, SHARE)][::-1]
    threads = [threading.Thread(target=_watch, args=(numbers, args.limit, lines)) for _ in range(args.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for line in sorted(lines, key=lambda line: -line["seconds"])[:5]:
        print(f"{line['seconds']:.0f} s: {line['case']}")
    words = Counter(line["reason"] for line in lines if line["kind"] == "answer")
    print(f"{len(lines)} cases: {dict(Counter(line['kind'] for line in lines))}; answers: {dict(words)}")


if __name__ == "__main__":
    main()
