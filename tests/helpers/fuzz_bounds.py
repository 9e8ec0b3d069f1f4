"""Random boxes that a black box is not defined outside of, for every method on every road; what must hold of each.

``python -m helpers.fuzz_bounds --cases 2000`` (from tests/) prints a table of what was found, and the cases.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from helpers.every_solver import BAYESIAN
from helpers.guarded_box import GuardedBox, OutsideError, affordable, methods
from helpers.odd_black_boxes import is_sentence
from zoviz import AskTell, Run, minimize
from zoviz.cli.main import main as command_line
from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.problems import Executable
from zoviz.solvers import Solver

ROADS = (*["minimize"] * 12, *["Run"] * 4, *["AskTell"] * 3, "Executable", "CLI")
FAULTS = ("outside", "overspent", "late", "false success", "bare exception", "worse than the best seen")
PROGRAM = """
import json, sys
case = json.load(open(sys.argv[1]))
x = [float(word) for word in sys.stdin.read().split()]
inside = all(l <= a <= u for a, l, u in zip(x, case["lower"], case["upper"]))
open(sys.argv[2], "a").write("i" if inside else "o")
if not inside:
    sys.exit(3)
share = [(a - b) / w for a, b, w in zip(x, case["base"], case["width"])]
print(sum((s - o) ** 2 for s, o in zip(share, case["optimum"])))
for i in range(case["m"]):
    print(sum(share) / len(share) - 0.9 + 0.1 * i)
"""


class Verdict(NamedTuple):
    """What came of a case: an answer, a refusal in a sentence, or faults with a word on each."""

    kind: str
    faults: tuple[tuple[str, str], ...] = ()


class Answer(NamedTuple):
    """The point that a road returned, whether it says that it is one, and the tolerance (m,) that it says."""

    x: Array
    success: bool
    tolerance: Array


class Recorded(GuardedBox):
    """A guarded box that keeps what was asked."""

    def __init__(self, *arguments: Any, pause: float = 0.0, **params: Any) -> None:
        super().__init__(*arguments, **params)
        self.outside: list[str] = []
        self.seen: list[tuple[Array, float]] = []
        self._pause = pause

    def joint(self, x: Array) -> tuple[float, Array]:
        """One call; what is seen without noise is kept: h and f."""
        time.sleep(self._pause)
        try:
            value = super().joint(x)
        except OutsideError as error:
            self.outside.append(str(error))
            raise
        f, h = self.values(x)
        self.seen.append((h, f))
        return value


@dataclass(frozen=True)
class Case:
    """A box, a method, a road and a budget, drawn from a number."""

    number: int
    road: str
    method: str
    lower: list[float]
    upper: list[float]
    optimum: list[float]
    start: list[float] | None
    m: int
    sigma: float
    declared: bool
    scaled: bool
    budget: int
    seconds: float | None

    @classmethod
    def draw(cls, number: int, quick: bool = False) -> Case:
        """The case of this number; quick ones have no program, and no budget in seconds."""
        rng = np.random.default_rng([54, number])
        names = methods()
        names = ["auto"] * (len(names) // 4) + [one for one in names if not quick or one not in {"NOMAD", *BAYESIAN}]
        road, method = str(rng.choice(ROADS[:-2] if quick else ROADS)), str(rng.choice(names))
        n, m = int(rng.integers(1, 9)), int(rng.integers(0, 4))
        width = 10.0 ** rng.uniform(-6.0, 6.0, n)
        lower = np.where(rng.random(n) < 0.5, 0.0, rng.normal(size=n) * width * 10.0 ** rng.uniform(0.0, 3.0, n))
        upper = lower + width
        fixed, half = rng.random(n) < 0.1, rng.random(n) < (0.0 if method in BAYESIAN else 0.15)
        upper[fixed] = lower[fixed]
        upper[half & ~fixed & (np.arange(n) % 2 == 0)] = np.inf
        lower[half & ~fixed & (np.arange(n) % 2 == 1)] = -np.inf
        kind = rng.integers(0, 4)
        start = None if kind == 0 else (rng.integers(0, 2, n) if kind == 1 else rng.uniform(size=n)).astype(float)
        budget = int(np.exp(rng.uniform(0.0, np.log(301.0))))
        budget = min(affordable(method, budget), {"Executable": 8, "CLI": 8}.get(road, 300))
        sigma = float(rng.choice([0.0, 0.0, 1e-2]))
        seconds = 0.3 if not quick and road == "minimize" and rng.random() < 0.1 else None
        return cls(
            number=number,
            road=road,
            method=method,
            lower=lower.tolist(),
            upper=upper.tolist(),
            optimum=rng.uniform(-0.3, 1.3, n).tolist(),
            start=None if start is None else start.tolist(),
            m=m,
            sigma=0.0 if road in ("Executable", "CLI") else sigma,
            declared=bool(rng.random() < 0.5),
            scaled=bool(rng.random() < 0.75),
            budget=1000 if seconds else budget,
            seconds=seconds,
        )

    @property
    def noise(self) -> str | None:
        """The contract as it is said; None where it is left to be found out."""
        return None if not self.declared else "independent" if self.sigma else "deterministic"


def judged(case: Case) -> Verdict:
    """Run a case and return what came of it."""
    box = Recorded(case.lower, case.upper, case.optimum, m=case.m, sigma=case.sigma, pause=0.01 if case.seconds else 0)
    faults: list[tuple[str, str]] = []
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = ROAD[case.road](case, box)
    except OutsideError:
        answer = None
    except Exception as error:
        answer = None
        if not is_sentence(error):
            faults.append(("bare exception", f"{type(error).__name__}: {error!s:.150}"))
    elapsed = time.perf_counter() - began
    if box.outside:
        faults.append(("outside", box.outside[0]))
    if box.calls > case.budget:
        faults.append(("overspent", f"{box.calls} calls of {case.budget}"))
    if case.seconds is not None and elapsed > case.seconds + 3.0:
        faults.append(("late", f"{elapsed:.1f} s of {case.seconds} s"))
    if answer is not None:
        faults += _faults_of(case, box, answer)
    return Verdict("faulty" if faults else "refused" if answer is None else "answer", tuple(faults))


def _faults_of(case: Case, box: Recorded, answer: Answer) -> list[tuple[str, str]]:
    """Return what is wrong with an answer, whose values repeat."""
    if case.sigma or not np.isfinite(answer.x).all():
        return []

    def rank(h: Array, f: float) -> tuple[float, float]:
        return 0.0 if (h <= answer.tolerance).all() else float(h.max()), f

    try:
        f, h = box.values(answer.x)
    except OutsideError as error:
        return [("outside", f"the answer: {error}")]
    faults = []
    if answer.success and (h > answer.tolerance * (1.0 + 1e-6)).any():
        faults.append(("false success", f"h = {h} where {answer.tolerance} is allowed"))
    own, best = rank(h, f), min((rank(*one) for one in box.seen), default=(np.inf, np.inf))
    if own[0] > best[0] + 1e-12 or (own[1] > best[1] + 1e-9 and own[0] >= best[0]):
        faults.append(("worse than the best seen", f"{own} where {best} was seen"))
    return faults


def _minimize(case: Case, box: Recorded) -> Answer:
    start = None if case.start is None else box.at(case.start)
    result = minimize(
        box.joint,
        start,
        bounds=[(None if low == -np.inf else low, None if high == np.inf else high) for low, high in box.bounds],
        joint=True,
        method=case.method,
        max_calls=case.budget,
        seconds=case.seconds,
        noise=case.noise,
        scaled=case.scaled,
    )
    return Answer(result.x, bool(result.feasible), result.tolerance)


def _solver(case: Case) -> Any:
    return discover("zoviz.solvers", Solver)["Portfolio" if case.method == "auto" else case.method]()


def _best(result: Any) -> Answer:
    """The best point of a run of one replica, where it has one: else nothing is claimed of it."""
    return Answer(result.best_x[0], bool(np.isfinite(result.best_fun[0])), result.tolerance)


def _run(case: Case, box: Recorded) -> Answer:
    problem = box.problem([0.5] * len(case.lower) if case.start is None else case.start, scaled=case.scaled)
    problem.noise = case.noise or "deterministic"
    run = Run(problem=problem, solver=_solver(case), replicas=1, calls=case.budget)
    run.run()
    return _best(run.result)


def _ask_tell(case: Case, box: Recorded) -> Answer:
    start = box.at([0.5] * len(case.lower) if case.start is None else case.start)
    noise = case.noise or "deterministic"
    session = AskTell(
        solver=case.method, bounds=box.bounds, x0=start, m=case.m, noise=noise, replicas=1, calls=case.budget
    )
    while not session.done:
        batch = session.ask()
        values = [box.joint(x) for x in batch.x]
        session.tell(batch, [f for f, _ in values], np.array([h for _, h in values]).reshape(len(values), case.m))
    return _best(session.result)


def _program(case: Case, box: Recorded, folder: Path) -> tuple[list[str], Path]:
    """Write the program's data, and return its command, and where it tells its calls."""
    tally, data, script = folder / "tally", folder / "case.json", folder / "program.py"
    told = {"lower": case.lower, "upper": case.upper, "optimum": case.optimum, "m": case.m}
    data.write_text(json.dumps(told | {"base": box.at([0.0] * len(case.lower)).tolist(), "width": box.width.tolist()}))
    script.write_text(PROGRAM)
    tally.touch()
    return [sys.executable, "-I", "-S", str(script), str(data), str(tally)], tally


def _by_program(case: Case, box: Recorded, use: Callable[[list[str]], object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command, tally = _program(case, box, Path(folder))
        try:
            use(command)
        finally:
            told = tally.read_text()
            box.calls = len(told)
            box.outside += ["as the program saw it"] * told.count("o")


def _executable(case: Case, box: Recorded) -> Answer:
    start = box.at([0.5] * len(case.lower) if case.start is None else case.start)
    answers: list[Answer] = []

    def use(command: list[str]) -> None:
        problem = Executable(command, bounds=box.bounds, x0=start, m=case.m, scaled=case.scaled)
        run = Run(problem=problem, solver=_solver(case), replicas=1, calls=case.budget)
        run.run()
        answers.append(_best(run.result))

    _by_program(case, box, use)
    return answers[0]


def _command_line(case: Case, box: Recorded) -> Answer:
    ends = ",".join(f"{low!r}:{high!r}" for low, high in box.bounds)
    start = box.at([0.5] * len(case.lower) if case.start is None else case.start)

    def use(command: list[str]) -> None:
        words = ["run", "--exe", " ".join(command), f"--bounds={ends}", "--constraints", str(case.m)]
        words += ["--x0=" + ",".join(repr(one) for one in start.tolist()), "--replicas", "1"]
        words += ["--calls", str(case.budget), "--no-store", "--quiet"]
        words += [] if case.method == "auto" else [case.method]
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            command_line(words)

    _by_program(case, box, use)
    return Answer(np.full(len(case.lower), np.nan), False, np.zeros(case.m))


ROAD: dict[str, Callable[[Case, Recorded], Answer]] = {
    "minimize": _minimize,
    "Run": _run,
    "AskTell": _ask_tell,
    "Executable": _executable,
    "CLI": _command_line,
}


def _numbered(number: int) -> tuple[Case, Verdict]:
    case = Case.draw(number)
    return case, judged(case)


def main() -> None:
    """Judge many cases, print each fault as it is found, and then a table of them by road."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    with ProcessPoolExecutor(args.jobs) as pool:
        for case, verdict in pool.map(_numbered, range(args.first, args.first + args.cases), chunksize=4):
            counts[case.road, verdict.kind] += 1
            for fault, reason in verdict.faults:
                counts[case.road, fault] += 1
                print(f"{fault}: {case.number} {case.road} {case.method}, {case.budget} calls: {reason}", flush=True)
    columns, roads = ("answer", "refused", "faulty", *FAULTS), list(ROAD)
    print(f"{'':12}" + "".join(f"{column[:16]:>18}" for column in columns))
    for road in roads:
        print(f"{road:12}" + "".join(f"{counts[road, column]:18}" for column in columns))


if __name__ == "__main__":
    main()
