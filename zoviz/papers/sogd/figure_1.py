"""Paper sogd, Fig. 1: a window makes the regret look small where the stream is rapid, not the leader good.

Every method plays the toy's smooth and rapid stream; its regret is measured twice, as it is (w = 1) and of the mean of
the last five rounds' functions (w = 5). The paper's point: where the functions change from round to round the two part,
so that a small windowed regret says little about what was played. f_t is ours, as the paper prints none.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from zoviz.core.types import Array
from zoviz.problems import ToyBilevel
from zoviz.runs.engine.columns import AVERAGE_REGRET, AVERAGE_WINDOWED_REGRET, ITERATION
from zoviz.runs.run import Run
from zoviz.solvers import SOBOW, SOGD, Solver
from zoviz.solvers.published_form import FAR
from zoviz.studies.experiment import (
    Claim,
    Experiment,
    Figures,
    Measured,
    Panel,
    Table,
    array,
    mean_text,
    plain,
    rounded,
)
from zoviz.studies.live import Live
from zoviz.studies.verdict import Evidence

WINDOW = 5
"""Rounds of the window, of the measure and of the method that has one."""
Stream = Literal["smooth", "rapid"]
STREAMS: tuple[Stream, ...] = ("smooth", "rapid")
MEASURES = {"w = 1": AVERAGE_REGRET, f"w = {WINDOW}": AVERAGE_WINDOWED_REGRET}
"""Windows of the measure, and the column of the trace."""
PLAIN, WINDOWED = MEASURES


def methods() -> dict[str, Solver]:
    """Return the methods, by name: no window, and a method's own window of 1 and 5."""
    windows = {f"SOBOW w = {window}": SOBOW(window=window, system_radius=FAR) for window in (1, WINDOW)}
    return {"SOGD": SOGD(), **windows}


def course(variant: Stream, method: str, rounds: int, replicas: int, seed: int) -> Run:
    """Return the run of a method on one stream, at its end, with both regrets in its trace."""
    problem = ToyBilevel(variant=variant, regret_window=WINDOW)
    solver = methods()[method]
    run = Run(problem=problem, solver=solver, replicas=replicas, iterations=rounds, seed=seed, label=method)
    run.run()
    return run


class Windows(Experiment):
    """Fig. 1: regrets with and without a window, of methods with and without one, on both streams."""

    title = "sogd Fig. 1"
    subject = "Average regret and windowed regret of SOGD and SOBOW on the smooth and the rapid toy stream"
    printed = (
        "Curves of F_t and of its windowed mean on a smooth and a rapid stream, g_t = (y - cos x)^2; f_t is not "
        "printed. Claim: under rapid change a window misleads."
    )
    protocol = "ToyBilevel with an f_t of ours, default steps; average regrets after all rounds; nothing is tuned."
    sizes = {"quick": {"rounds": 120, "replicas": 4}, "full": {"rounds": 1000, "replicas": 20}}

    def parts(self) -> list[str]:
        return [f"{stream} / {method}" for stream in STREAMS for method in methods()]

    def measure(self, part: str) -> Figures:
        """Return both regrets at the end, and their courses."""
        name, method = part.split(" / ")
        stream = next(one for one in STREAMS if one == name)
        run = course(stream, method, self.settings["rounds"], self.settings["replicas"], self.seed())
        rows = np.unique(np.geomspace(1, len(run.trace[ITERATION]) - 1, 60).astype(int))
        drawn = {window: rounded(run.trace[column][rows].mean(axis=1)) for window, column in MEASURES.items()}
        ends: Figures = {window: plain(run.trace[column][-1]) for window, column in MEASURES.items()}
        return ends | {"course": {"round": plain(run.trace[ITERATION][rows]), **drawn}}

    def claims(self) -> list[Claim]:
        words = {False: "in size", True: "in proportion"}
        return [
            Claim(
                "Fig. 1",
                f"the window hides more of {method}'s regret on the rapid stream, {said}",
                partial(hides_more_regret, self, method, share),
                "rapid",
                "smooth",
                ("smooth",),
            )
            for method in methods()
            for share, said in words.items()
        ]

    def tables(self, measured: Measured) -> list[Table]:
        rows = []
        for part, one in measured.items():
            both = [array(one[window]) for window in MEASURES]
            rows.append((*part.split(" / "), *map(mean_text, both), f"{both[0].mean() / both[1].mean():.2f}"))
        rounds = self.settings["rounds"]
        return [Table(f"Average regrets after {rounds} rounds", ("Stream", "Method", *MEASURES, "ratio"), rows)]

    def panels(self, measured: Measured) -> list[Panel]:
        out = []
        for stream in STREAMS:
            for window in MEASURES:
                own = {method: measured[f"{stream} / {method}"]["course"] for method in methods()}
                lines = {method: (one["round"], one[window]) for method, one in own.items()}
                heading, parts = f"{stream} stream, {window}", {name: [f"{stream} / {name}"] for name in own}
                out.append(Panel(heading, "round", "average regret", lines, log_y=True, parts=parts))
        return out

    def live(self, measured: Measured) -> list[Live]:
        """Return every method on the rapid and on the smooth stream; the paper prints no number for a line."""
        settings = {"replicas": self.settings["replicas"], "iterations": self.settings["rounds"]}
        note = "The paper's curves have no numbers, and its f_t is not printed: no line of it is drawn."
        return [
            Live(
                f"{name}, {stream} stream",
                ToyBilevel(variant=stream, regret_window=WINDOW),
                solver,
                settings,
                (f"{stream} / {name}",),
                axis=ITERATION,
                note=note,
            )
            for stream in reversed(STREAMS)
            for name, solver in methods().items()
        ]


def hides_more_regret(
    experiment: Experiment, method: str, share: bool, measured: Measured, stream: str, rival: str
) -> Evidence:
    """Test that a measure's window hides more regret on one stream, by size or as a share of the plain one."""
    gains: dict[str, Array] = {}
    for name in (stream, rival):
        one = measured[f"{name} / {method}"]
        whole = array(one[PLAIN])
        gains[name] = (whole - array(one[WINDOWED])) / (whole if share else 1.0)
    figures = ", ".join(f"{mean_text(values)} of the {name}" for name, values in gains.items())
    budgets = dict.fromkeys(gains, float(experiment.settings["rounds"]))
    return Evidence((gains[stream] - gains[rival])[None], figures, budgets)
