r"""A study of every method of ``minimize`` on problems of the CUTEst collection for which no method was tuned.

The problems are those of ``unseen_pool``, in two halves by a fixed seed: rules are made on the development half, and
the reporting half is run once at the end. Each is shown to ``minimize`` as values alone, from its own start, with a
budget in sweeps of n + 1 calls. Values are scaled for the criteria and for the noise by

.. math:: S_0 = 1 + |f^*|, \qquad S_i = \max(1, |h_i(x^0)|),

and a noisy value has sd ``noise`` S_j, independent at every call. A point solves a problem to tau where

.. math:: \max_i\,[h_i(x)]_+ / S_i \le 10^{-4}, \qquad f(x) - f^* \le \tau S_0, \qquad \tau = 10^{-1}, 10^{-2}, 10^{-3},

by its true values, off the books: once for the best point that the method evaluated ("queried"), and once for the one
that ``minimize`` gave back ("returned"). Every outcome is a line of ``--results``, so that a study that was interrupted
goes on where it stood; a trial that takes more than ``--seconds`` of computing ends there.

    python -m zoviz.papers.minimize.unseen --budgets 20 100 --most 15         # the first 15 of the development half
    python -m zoviz.papers.minimize.unseen --half reporting                   # all of the other half: days
    python -m zoviz.papers.minimize.unseen --half large --budgets 25 100      # own problems, n = 100 and 310
    python -m zoviz.papers.minimize.unseen --references                       # f* again

``--markdown`` runs nothing, and prints the outcomes of the file as tables in Markdown: by budget without noise, and
by level of noise at the largest budget. ``--record`` writes them to another file, as docs/performance/unseen.jsonl is.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.papers.minimize.classics import best_known, posed
from zoviz.papers.minimize.large_problems import LARGE, posed_large
from zoviz.papers.minimize.unseen_pool import halves, optima
from zoviz.papers.minimize.watched import Watched, ended
from zoviz.papers.results_file import ResultsFile
from zoviz.problems.base import Problem

FEASIBLE = 1e-4
LEVELS = (1e-1, 1e-2, 1e-3)
METHODS = ("auto", "ZOSQP", "ALSPG", "SLSQP", "COBYLA", "COBYQA", "TrustConstr", "NOMAD", "CMAES") + (
    "ZOSPLM", "ZOCEG", "ZOBCEG", "SZOConEX", "ZOALM",
)  # fmt: skip
BUDGETS, NOISES = (20, 100, 1000), (0.0, 1e-3, 1e-2)


class Trial(NamedTuple):
    """A trial: a method on a problem, with a budget in sweeps, a level of noise and the noise's seed."""

    problem: str
    method: str
    sweeps: int
    noise: float
    seed: int


class Outcome(NamedTuple):
    """The outcome of a trial, by values without noise.

    Attributes
    ----------
    queried : list of float
        Least gap over S_0 of a point that was evaluated and is feasible; empty where none is.
    returned : list of float
        That of the point given back; empty where it is not feasible.
    calls : int
    seconds : float
    used : str
        The method that ``minimize`` names, and what its message begins with.
    best : float
        The lowest f of a point feasible to 1e-6 that was evaluated; infinite where there is none.
    """

    queried: list[float]
    returned: list[float]
    calls: int
    seconds: float
    used: str
    best: float


def pose(name: str) -> tuple[Problem, Box, Array]:
    """Return a problem of a list by its name, with its box and its start (n,)."""
    if name in LARGE:
        return posed_large(name)
    problem, x0 = posed(name)
    return problem, problem.domain, x0


def known_values(names: Sequence[str]) -> dict[str, float]:
    """Return f* of those of these problems of which it is known."""
    best = optima()
    exact = {name: LARGE[name]().known_optimum for name in names if name in LARGE}
    return {name: best[name] for name in names if name in best} | {
        name: optimum.value for name, optimum in exact.items() if optimum is not None
    }


def watched(name: str, optimum: float, noise: float = 0.0, seed: int = 0) -> Watched:
    """Return a problem as a user's function, with noise in units of S."""
    problem, box, x0 = pose(name)
    with np.errstate(all="ignore"):
        start = problem.evaluate(x0)
    sizes = np.concatenate([[1.0 + abs(optimum)], np.maximum(1.0, np.abs(start.h))])
    return Watched(problem, box, x0, optimum, sizes, FEASIBLE, noise * sizes, seed)


def outcome(trial: Trial, optimum: float, seconds: float | None) -> Outcome:
    """Run one trial and return its outcome; a method that raises has returned no point."""
    own = watched(trial.problem, optimum, trial.noise, trial.seed)
    end = ended(own, trial.method, trial.sweeps * (len(own.x0) + 1), trial.seed, seconds)
    query_gaps = [own.gap] if np.isfinite(own.gap) else []
    answer_gaps = [end.answer.gap] if end.answer.violation <= FEASIBLE else []
    return Outcome(query_gaps, answer_gaps, end.calls, end.seconds, end.words, own.best)


class Results:
    """The outcomes of a study by trial, each a line of a file from which an interrupted study goes on.

    Parameters
    ----------
    path : Path or None
        None: the outcomes are written to no file.
    """

    def __init__(self, path: Path | None) -> None:
        self._file = ResultsFile(path)
        self.outcomes = {Trial(*key): Outcome(*row) for key, row in self._file.outcomes.items()}  # type: ignore[arg-type]

    def of(self, trial: Trial, optimum: float, seconds: float | None) -> Outcome:
        """Return the outcome of a trial, which is run unless the file has it."""
        if trial not in self.outcomes:
            self.outcomes[trial] = Outcome(*self._file.of(trial, lambda: outcome(trial, optimum, seconds)))
        return self.outcomes[trial]

    def record(self, path: Path) -> None:
        """Write the outcomes to a file to be kept: by method, noise, budget and problem, and numbers to six digits."""
        lines = []
        for trial in sorted(self.outcomes, key=_place):
            one = self.outcomes[trial]
            gaps = [[_six_digits(gap) for gap in own] for own in (one.queried, one.returned)]
            lines.append(
                json.dumps([trial, [*gaps, one.calls, round(one.seconds, 1), one.used, _six_digits(one.best)]])
            )
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _place(trial: Trial) -> tuple[int, float, int, str, int]:
    """Return what trials of a record are sorted by."""
    return METHODS.index(trial.method), trial.noise, trial.sweeps, trial.problem, trial.seed


def _six_digits(number: float) -> float:
    return float(f"{number:.6g}")


def counts(outcomes: Sequence[Outcome], returned: bool) -> list[int]:
    """Return how many trials ended feasible and how many solved to each of ``LEVELS``."""
    gaps = [one.returned if returned else one.queried for one in outcomes]
    return [sum(bool(gap) for gap in gaps), *(sum(bool(gap) and gap[0] <= tau for gap in gaps) for tau in LEVELS)]


def errors(by_seed: Sequence[Sequence[Outcome]], returned: bool) -> list[float]:
    """Return the standard errors of ``counts`` over all seeds, from the outcomes of each of them, two at least."""
    each = np.array([counts(outcomes, returned) for outcomes in by_seed])
    return [float(error) for error in np.sqrt(len(each)) * each.std(axis=0, ddof=1)]


def table(results: Results, trials: Sequence[Trial], best: dict[str, float], seconds: float | None) -> None:
    """Print a line per method for trials of one budget and one level of noise.

    With several seeds a second line has the standard errors of its counts: the sample standard deviation over seeds of
    the number of problems that are feasible or solved, times the square root of the number of seeds.
    """
    methods = list(dict.fromkeys(trial.method for trial in trials))
    print(
        f"\nnoise {trials[0].noise:g}, {trials[0].sweeps} (n + 1) calls, {len(trials) // len(methods)} trials a method"
    )
    heading = "feas 1e-1 1e-2 1e-3"
    print(f"{'method':12}  queried: {heading}   returned: {heading}   median calls    s")
    for method in methods:
        own_trials = [trial for trial in trials if trial.method == method]
        own = [results.of(trial, best[trial.problem], seconds) for trial in own_trials]
        queries, answers = (" ".join(f"{count:4d}" for count in counts(own, kind)) for kind in (False, True))
        calls, total = float(np.median([one.calls for one in own])), sum(one.seconds for one in own)
        print(f"{method:12}           {queries}              {answers}{calls:15.0f}{total:7.0f}", flush=True)
        by_seed = [
            [one for one, trial in zip(own, own_trials, strict=True) if trial.seed == seed]
            for seed in dict.fromkeys(trial.seed for trial in own_trials)
        ]
        if len(by_seed) > 1:
            queries, answers = (" ".join(f"{e:4.1f}" for e in errors(by_seed, kind)) for kind in (False, True))
            print(f"{'+-':>12}           {queries}              {answers}", flush=True)


class Column(NamedTuple):
    """A column of a table: outcomes of one budget in sweeps and one level of noise, of queried or returned points."""

    heading: str
    sweeps: int
    noise: float
    returned: bool


def markdown_tables(budgets: Sequence[int], noises: Sequence[float]) -> dict[str, list[Column]]:
    """Return the columns of the tables, by words for each: without noise by budget, and with it at the largest one."""
    most = max(budgets)
    under_noise = [
        Column(f"{noise:g}, {'returned' if returned else 'evaluated'}", most, noise, returned)
        for noise in noises
        if noise
        for returned in (False, True)
    ]
    tables = {
        "without noise, returned point, by sweeps": [Column(str(sweeps), sweeps, 0.0, True) for sweeps in budgets],
        f"under noise, {most} sweeps, best point evaluated and returned point": under_noise,
    }
    return {words: own for words, own in tables.items() if own}


def page(results: Results, names: Sequence[str], columns: Sequence[Column]) -> str:
    """Return a Markdown table of the outcomes that there are of seed 0: a row per method with the counts of ``counts``.

    A cell is empty where an outcome of one of the problems is missing.
    """
    rows = []
    for method in METHODS:
        cells = []
        for column in columns:
            trials = [Trial(name, method, column.sweeps, column.noise, 0) for name in names]
            own = [results.outcomes[trial] for trial in trials if trial in results.outcomes]
            whole = len(own) == len(trials) > 0
            cells.append(" / ".join(str(count) for count in counts(own, column.returned)) if whole else "")
        if any(cells):
            rows.append(f"| `{method}` | {' | '.join(cells)} |")
    heading = f"| Method | {' | '.join(column.heading for column in columns)} |"
    return "\n".join([heading, "|---" * (len(columns) + 1) + "|", *rows])


def references(names: Sequence[str], results: Results, path: Path | None = None) -> dict[str, float]:
    """Find the best known values of these problems, and write them beside the pool or to ``path``."""
    path = Path(__file__).with_name("unseen_optima.json") if path is None else path
    best = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name in names:
        if name not in best:
            best[name] = best_known(name, starts=5).value
            best = {key: value for key, value in best.items() if np.isfinite(value)}
        for trial, one in results.outcomes.items():
            if trial.problem == name and not trial.noise and name in best:
                best[name] = min(best[name], one.best)
        path.write_text(json.dumps(dict(sorted(best.items())), indent=0) + "\n", encoding="utf-8")
    return {name: best[name] for name in names if name in best}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each level of noise and budget that the command line names, or find f* again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    lists = {**halves(), "large": [name for name in LARGE if name.endswith(("100", "310"))]}
    parser.add_argument("--half", choices=lists, default="development", help="or own problems of 100 and 310 variables")
    parser.add_argument("--most", type=int, help="the number of its problems, from the first; default: all")
    parser.add_argument("--every", type=int, default=1, help="take every Nth of these, 3 for the 3rd, 6th, ...")
    parser.add_argument("--problems", nargs="+", help="these instead")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--budgets", nargs="+", type=int, default=BUDGETS, help="in sweeps of n + 1 calls")
    parser.add_argument("--noises", nargs="+", type=float, default=NOISES)
    parser.add_argument("--seeds", nargs="+", type=int, default=(0,))
    parser.add_argument("--seconds", type=float, help="computing time of a trial")
    parser.add_argument("--results", type=Path, help="file of the outcomes, which is gone on with")
    parser.add_argument("--references", action="store_true", help="find f* again, and print no table")
    parser.add_argument("--record", type=Path, help="write the file's outcomes there, sorted and rounded, run none")
    parser.add_argument("--markdown", action="store_true", help="print the file's outcomes in Markdown, run none")
    options = parser.parse_args(arguments)
    names = (options.problems or lists[options.half][: options.most])[options.every - 1 :: options.every]
    results = Results(options.results)
    if options.record:
        results.record(options.record)
        return
    if options.references:
        print(references(names, results))
        return
    best = known_values(names)
    unknown = [name for name in names if name not in best]
    if unknown:
        print(f"left out, as f* is not known: {', '.join(unknown)}")
    names = [name for name in names if name in best]
    if options.markdown:
        for words, own in markdown_tables(options.budgets, options.noises).items():
            print(
                f"\nfeasible / solved to 1e-1 / 1e-2 / 1e-3, of {len(names)}, {words}:\n\n{page(results, names, own)}"
            )
        return
    for noise in options.noises:
        for sweeps in options.budgets:
            trials = [
                Trial(name, method, sweeps, noise, seed)
                for method in options.methods
                for name in names
                for seed in options.seeds
            ]
            table(results, trials, best, options.seconds)


if __name__ == "__main__":
    main()
