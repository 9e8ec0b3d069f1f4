"""A fuzz of ``minimize``: thousands of odd black boxes, bounds, starts and budgets, each judged by what must hold.

    python -m helpers.fuzz_minimize --cases 10000          # from tests/; two processes, prints what failed and a table
    python -m helpers.fuzz_minimize --only 4711            # one case, in this process, with its traceback

A case is drawn from its number alone. Bad is: no end (a child is killed when a case prints nothing for --limit
seconds), an exception that is neither a sentence of zoviz nor the function's own, more calls than the budget or others
than were counted, an answer outside the bounds, a value that is not the function's, and a success whose point violates
or is not finite.
"""

from __future__ import annotations

import argparse
import json
import queue
import subprocess
import sys
import threading
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from zoviz import minimize
from zoviz.core.errors import ZovizError
from zoviz.core.registry import discover
from zoviz.problems import BlackBox
from zoviz.solvers import Solver

KINDS = (
    "good", "noisy", "nan sometimes", "nan always", "inf", "huge", "raising sometimes", "raising always", "wrong shape",
    "changing shape", "complex", "text", "none", "mutating", "infeasible", "unconstrained", "integer", "changing rows",
)  # fmt: skip
BOUNDS = ("both", "both", "both", "missing", "half", "some equal", "all equal", "reversed", "nan", "wrong length")
STARTS = ("inside", "inside", "inside", "missing", "outside", "nan", "wrong length")
SIZES = (1, 1, 2, 2, 3, 5, 8, 13, 30)
NOISE, TOLERANCE = 1e-2, 1e-6


class OwnError(Exception):
    """What the black boxes raise."""


def methods() -> list[str]:
    """Every method that takes some general black box, and ``auto`` once for every third of them."""
    problem = BlackBox(lambda x: (x @ x, x[:1]), joint=True, m=1, bounds=[(-1, 1)] * 2)
    names = [name for name, cls in discover("zoviz.solvers", Solver).items() if cls().accepts(problem) is None]
    return [*names, *["auto"] * (len(names) // 3)]


@dataclass
class Case:
    """One call of ``minimize``, drawn from its number."""

    number: int
    kind: str
    method: str
    n: int
    budget: int
    bounds: str
    start: str
    form: str
    on_error: str

    @classmethod
    def draw(cls, number: int, names: list[str]) -> Case:
        """The case of this number."""
        rng = np.random.default_rng([2026, number])

        def one(words: Any) -> Any:
            return words[int(rng.integers(len(words)))]

        budget = int(np.exp(rng.uniform(0.0, np.log(400.0))))
        form = one(("joint", "joint", "separate", "list"))
        return cls(
            number, one(KINDS), one(names), one(SIZES), budget, one(BOUNDS), one(STARTS), form, one(("raise", "fail"))
        )


class Box:
    """The black box of a case: counts its calls, and knows its values without noise."""

    def __init__(self, case: Case) -> None:
        rng = np.random.default_rng([7, case.number])
        self.case, self.calls, self.rng = case, 0, rng
        self.centre, self.weights = rng.normal(size=case.n), rng.uniform(0.5, 3.0, case.n)
        self.rows = 0 if case.kind == "unconstrained" else int(rng.integers(1, 4))
        self.slopes = rng.normal(size=(self.rows, case.n))
        self.offset = -0.5 if case.kind != "infeasible" else 1.0

    def values(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """f and h without noise."""
        f = float(self.weights @ np.square(x - self.centre))
        if self.case.kind == "infeasible":
            return f, 1.0 + np.square(self.slopes @ x)
        h = self.slopes @ (x - 0.3 * self.centre) + self.offset
        if self.case.kind == "integer":
            return float(round(f)), np.ceil(h)
        return f * 1e200 if self.case.kind == "huge" else f, h

    def joint(self, x: np.ndarray) -> Any:
        """One call as a user's function answers it."""
        self.calls += 1
        case, (f, h) = self.case, self.values(np.asarray(x, dtype=float))
        odd = self.calls % 4 == 0
        if case.kind == "noisy":
            return f + NOISE * self.rng.normal(), h + NOISE * self.rng.normal(size=h.shape)
        if case.kind == "nan always" or (case.kind == "nan sometimes" and odd):
            return (np.nan, h) if self.calls % 8 else (f, h * np.nan)
        if case.kind == "inf" and odd:
            return np.inf, h
        if case.kind == "raising always" or (case.kind == "raising sometimes" and odd):
            raise OwnError("the simulator has no licence")
        if case.kind == "wrong shape" or (case.kind == "changing shape" and odd):
            return np.array([f, f, f]), h
        if case.kind == "changing rows" and odd:
            return f, np.append(h, 0.0)
        if case.kind == "complex" and odd:
            return f + 1j, h
        if case.kind == "text" and odd:
            return "1.0", h
        if case.kind == "none" and odd:
            return None
        if case.kind == "mutating":
            x[...] = -7.0
        if case.kind == "integer":
            return int(f), h.astype(int)
        return f, h

    def objective(self, x: np.ndarray) -> Any:
        """f of a call, where the constraints are functions of their own."""
        value = self.joint(x)
        return None if value is None else value[0]

    def constraint(self, x: np.ndarray) -> Any:
        """h without a call being counted: one joint call asks for both."""
        h = self.values(np.asarray(x, dtype=float))[1]
        return np.append(h, 0.0) if self.case.kind == "changing rows" and self.calls % 4 == 0 else h


def bounds_of(case: Case) -> Any:
    """The bounds as they are passed."""
    low, high = np.full(case.n, -2.0), np.full(case.n, 3.0)
    if case.bounds == "missing":
        return None
    if case.bounds == "half":
        return [(-2.0, None) if i % 2 else (None, 3.0) for i in range(case.n)]
    if case.bounds == "some equal":
        high[::2] = low[::2]
    if case.bounds == "all equal":
        high = low.copy()
    if case.bounds == "reversed":
        low, high = high, low
    if case.bounds == "nan":
        low[0] = np.nan
    pairs = list(zip(low.tolist(), high.tolist(), strict=True))
    return pairs + pairs[:1] if case.bounds == "wrong length" else pairs


def start_of(case: Case) -> Any:
    """The start as it is passed."""
    if case.start == "missing":
        return None
    x0 = np.full(case.n + (case.start == "wrong length"), -2.0 if "equal" in case.bounds else 0.5)
    if case.start == "outside":
        x0[0] = 50.0
    if case.start == "nan":
        x0[-1] = np.nan
    return x0


def solve(case: Case, box: Box) -> Any:
    """The call."""
    common = {"bounds": bounds_of(case), "method": case.method, "on_error": case.on_error, "seed": case.number % 5}
    common["maxfev"] = case.budget
    if case.form == "joint":
        return minimize(box.joint, start_of(case), joint=True, **common)
    if case.form == "list":
        rows = [lambda x, i=i: box.constraint(x)[i] for i in range(box.rows)]
        return minimize(box.objective, start_of(case), constraints=rows, **common)
    return minimize(box.objective, start_of(case), constraints=box.constraint if box.rows else (), **common)


def verdict(case: Case) -> tuple[str, str]:
    """What came of a case: ("answer" | "refused" | "own error", "") or ("bad", why)."""
    box = Box(case)
    try:
        result = solve(case, box)
    except (ValueError, TypeError, ZovizError) as error:
        sentence = str(error)
        if not sentence or ("xpected" not in sentence and not isinstance(error, ZovizError)):
            return "bad", f"exception without a sentence: {type(error).__name__}: {sentence:.200}"
        if box.calls > case.budget:
            return "bad", f"overspent: {box.calls} calls of {case.budget}"
        return "refused", ""
    except OwnError:
        raising = case.kind.startswith("raising") and case.on_error == "raise"
        return ("own error", "") if raising else ("bad", "raised the function's error although on_error is fail")
    if box.calls > case.budget:
        return "bad", f"overspent: {box.calls} calls of {case.budget}"
    reason = judged(case, box, result)
    return ("bad", reason) if reason else ("answer", "")


def judged(case: Case, box: Box, result: Any) -> str:
    """What is wrong with an answer; empty where nothing is."""
    x = np.asarray(result.x)
    if result.calls != box.calls:
        return f"{result.calls} calls said, {box.calls} made"
    if x.shape != (case.n,) or not np.isfinite(x).all():
        return "false answer: x is not n finite numbers" if result.success else ""
    pairs = bounds_of(case) or []
    low = np.array([-np.inf if lower is None else lower for lower, _ in pairs] or [-np.inf] * case.n)
    high = np.array([np.inf if upper is None else upper for _, upper in pairs] or [np.inf] * case.n)
    if (x < low - 1e-9).any() or (x > high + 1e-9).any():
        return "x outside the bounds"
    f, h = box.values(x)
    slack = 5.0 * NOISE if case.kind == "noisy" else TOLERANCE
    if result.success and not (np.isfinite(result.fun) and h.max(initial=-np.inf) <= slack * (1.0 + 1e-6)):
        return f"false success: fun {result.fun!r}, largest h {h.max(initial=-np.inf):.3g}"
    if case.kind != "noisy" and np.isfinite(result.fun) and abs(result.fun - f) > 1e-9 * max(1.0, abs(f)):
        return f"fun {result.fun!r} is not the function's {f!r}"
    return ""


def run_here(numbers: Iterator[int] | range, tell: Callable[[dict[str, Any]], None]) -> None:
    """Judge cases one after the other."""
    names = methods()
    for number in numbers:
        case = Case.draw(number, names)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*torch.distributed.reduce_op")
            try:
                kind, reason = verdict(case)
            except Exception as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                kind, reason = (
                    "bad",
                    f"bare {type(error).__name__}: {error!s:.160} ({place.filename[-60:]}:{place.lineno})",
                )
        tell({"number": number, "kind": kind, "reason": reason, "case": vars(case)})


def _child(first: int, last: int) -> None:
    """Judge a range and print a line of JSON before and after each case."""

    def tell(line: dict[str, Any]) -> None:
        print(json.dumps(line), flush=True)

    run_here(range(first, last), tell)


def _watch(numbers: list[tuple[int, int]], limit: float, lines: list[dict[str, Any]]) -> None:
    """Work off ranges by children; one that says nothing for ``limit`` seconds is killed and begun behind the case."""
    while numbers:
        first, last = numbers.pop()
        while first < last:
            words = [sys.executable, "-m", "helpers.fuzz_minimize", "--child", str(first), str(last)]
            child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
            said: queue.Queue[str | None] = queue.Queue()
            reader = threading.Thread(target=_read, args=(child, said), daemon=True)
            reader.start()
            while True:
                try:
                    text = said.get(timeout=limit)
                except queue.Empty:
                    child.kill()
                    lines.append({"number": first, "kind": "bad", "reason": "hang", "case": {}})
                    first += 1
                    break
                if text is None:
                    if first < last:
                        lines.append({"number": first, "kind": "bad", "reason": "the process died", "case": {}})
                        first += 1
                    break
                line = json.loads(text)
                lines.append(line)
                first = line["number"] + 1
            child.wait()


def _read(child: subprocess.Popen[str], said: queue.Queue[str | None]) -> None:
    """Hand a child's lines over to the thread that watches it; None at their end."""
    assert child.stdout is not None
    for text in child.stdout:
        if text.startswith("{"):
            said.put(text)
    said.put(None)


def main() -> None:
    """Print every bad case and how many ended in which way."""
    whole = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    whole.add_argument("--cases", type=int, default=10_000)
    whole.add_argument("--first", type=int, default=0)
    whole.add_argument("--jobs", type=int, default=2)
    whole.add_argument("--limit", type=float, default=300.0, help="seconds without a word that are taken for a hang")
    whole.add_argument("--only", type=int, help="one case, in this process")
    whole.add_argument("--child", type=int, nargs=2, help=argparse.SUPPRESS)
    args = whole.parse_args()
    if args.child:
        return _child(*args.child)
    if args.only is not None:
        case = Case.draw(args.only, methods())
        print(case)
        print(solve(case, Box(case)))
        return None
    lines: list[dict[str, Any]] = []
    last = args.first + args.cases
    numbers = [(i, min(i + 50, last)) for i in range(args.first, last, 50)][::-1]
    threads = [threading.Thread(target=_watch, args=(numbers, args.limit, lines)) for _ in range(args.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for line in sorted(lines, key=lambda line: line["number"]):
        if line["kind"] == "bad":
            print(line["number"], line["reason"], line["case"])
    print(f"{len(lines)} cases: {dict(Counter(line['kind'] for line in lines))}")
    return None


if __name__ == "__main__":
    main()
