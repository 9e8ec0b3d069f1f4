"""Paper sogd, Fig. 1: a window makes the regret look small where the stream is rapid, not the leader good.

Every method plays the toy's smooth and rapid stream; its regret is measured twice, as it is (w = 1) and of the mean of
the last five rounds' functions (w = 5). The paper's point: where the functions change from round to round the two part,
so that a small windowed regret says little about what was played. f_t is ours, as the paper prints none.

    python -m zoviz.papers.sogd.figure_1
"""

from __future__ import annotations

import argparse
from typing import Literal, NamedTuple

from zoviz.core.types import Array
from zoviz.papers.sogd.regret import interval
from zoviz.problems import ToyBilevel
from zoviz.runs.engine.columns import AVERAGE_REGRET, AVERAGE_WINDOWED_REGRET
from zoviz.runs.run import Run
from zoviz.solvers import SOBOW, SOGD, Solver

WINDOW = 5
"""Rounds of the window, of the measure and of the method that has one."""
Stream = Literal["smooth", "rapid"]
STREAMS: tuple[Stream, ...] = ("smooth", "rapid")


class Entry(NamedTuple):
    """The average regrets (R,) of one method on one stream: as they are, and of a window's mean functions."""

    plain: Array
    windowed: Array

    @property
    def ratio(self) -> float:
        """How many times the plain regret is the windowed one, of means."""
        return float(self.plain.mean() / self.windowed.mean())

    @property
    def hidden(self) -> float:
        """The mean by which the plain regret exceeds the windowed one, which does not show that part."""
        return float((self.plain - self.windowed).mean())


def methods() -> dict[str, Solver]:
    """Return the methods, by name: no window, and a method's own window of 1 and 5."""
    return {"SOGD": SOGD(), "SOBOW w = 1": SOBOW(window=1), f"SOBOW w = {WINDOW}": SOBOW(window=WINDOW)}


def courses(variant: Stream, rounds: int, replicas: int, seed: int = 0) -> dict[str, Run]:
    """Return the runs of all methods on one stream, by name, each with both regrets in its trace."""
    problem = ToyBilevel(variant=variant, regret_window=WINDOW)
    runs = {
        name: Run(problem=problem, solver=solver, replicas=replicas, iterations=rounds, seed=seed, label=name)
        for name, solver in methods().items()
    }
    for run in runs.values():
        run.run()
    return runs


def entry(run: Run) -> Entry:
    """Return a run's regrets at its end."""
    return Entry(run.trace[AVERAGE_REGRET][-1], run.trace[AVERAGE_WINDOWED_REGRET][-1])


def misleads(smooth: dict[str, Entry], rapid: dict[str, Entry]) -> dict[str, tuple[bool, bool]]:
    """Return for each method whether the window hides more regret on the rapid stream: in size, and in proportion."""
    return {name: (rapid[name].hidden > smooth[name].hidden, rapid[name].ratio > smooth[name].ratio) for name in smooth}


def main() -> None:
    """Print both regrets of every method on both streams, and whether the window misleads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--replicas", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    runs = {one: courses(one, options.rounds, options.replicas, options.seed) for one in STREAMS}
    table = {one: {name: entry(run) for name, run in own.items()} for one, own in runs.items()}
    print(f"average regret after {options.rounds} rounds, {options.replicas} replicas (± 95 %), of F_t and of F_(t,5)")
    for one in STREAMS:
        for name, figures in table[one].items():
            cells = ["{:9.4g} ± {:<8.2g}".format(*interval(values)) for values in figures]
            print(f"{one:>7} {name:>12}  plain {cells[0]}  windowed {cells[1]}  ratio {figures.ratio:5.2f}")
    for name, answers in misleads(table["smooth"], table["rapid"]).items():
        size, share = ("yes" if answer else "no" for answer in answers)
        print(f"the window hides more of {name}'s regret on the rapid stream: {size} in size, {share} in proportion")


if __name__ == "__main__":
    main()
