"""Paper salm, §6.3: losses that are not convex are said to be robust to outliers, and to generalise better.

A fair classifier is trained by Algorithm 1 on people some of whose labels are wrong, under each of the three losses,
and judged on people who were left out, whose labels are right. Splits are the seeds. Steps are those of ``cases``, long
enough that the losses, and not their training, are compared; how far the training came is told by SciPy's SLSQP, which
goes on from its end on all data: by how much it lowers the loss, and how its solution does on the test. What is printed
is the test accuracy beside what parity there is: the p%-rule and the difference of both groups' shares.

    python -m zoviz.papers.salm.outliers                       # breast cancer: minutes
    python -m zoviz.papers.salm.outliers --source arrests      # people; needs the extra people
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.papers.salm.cases import WEIGHTS, long_steps, slsqp
from zoviz.papers.zoeg.figure_1 import figure
from zoviz.problems import FairClassification
from zoviz.problems.learning.tables import SOURCES
from zoviz.problems.margin_losses import LOSSES, Loss
from zoviz.runs.engine.columns import OBJECTIVE, VIOLATION
from zoviz.solvers import SmoothedALM

NOISES = (0.0, 0.1, 0.2, 0.3)
"""Shares of wrong labels in the training."""
TEST, BOUND = 0.3, 0.2
"""Share of the people left out, and the bound c."""


class Judged(NamedTuple):
    """The measures on people left out, one for every split, (splits,).

    Attributes
    ----------
    accuracy, p_rule, parity, violation : Array
        Of the method's last iterate.
    excess : Array
        By which part of itself the training loss there exceeds that of SLSQP's solution from there.
    solved_accuracy : Array
        Of SLSQP's solution.
    """

    accuracy: Array
    p_rule: Array
    parity: Array
    violation: Array
    excess: Array
    solved_accuracy: Array


def judged(source: str, loss: Loss, noise: float, splits: int, iterations: int) -> Judged:
    """Train a classifier on each split by Algorithm 1 with long steps, and return its measures on the test."""
    rows = []
    for split in range(splits):
        data: dict[str, Any] = {"source": source, "test_share": TEST, "label_noise": noise, "split_seed": split}
        problem = FairClassification(**data, loss=loss, bound=BOUND)
        steps: dict[str, Any] = {**long_steps(problem, WEIGHTS.get(loss))}
        solver = SmoothedALM(**steps, batch_size=2)
        streams = Streams(split, 1)
        oracle = Oracle(problem, streams)
        state = solver.init(problem.initial(streams), oracle, streams)
        for _ in range(iterations):
            state, _ = solver.step(state, oracle, streams)
        x = solver.output(state)
        lowest, solution = slsqp(problem, x[0])
        measured, solved = problem.metrics(x, None, None), problem.metrics(solution[None], None, None)
        figures = [measured[name] for name in ("test_accuracy", "p_rule", "parity_difference", VIOLATION)]
        figures += [measured[OBJECTIVE] / lowest - 1.0, solved["test_accuracy"]]
        rows.append([float(one[0]) for one in figures])
    return Judged(*np.array(rows).T)


def verdicts(table: dict[Loss, dict[float, Judged]], measure: str = "accuracy") -> dict[str, bool | None]:
    """Return for each loss that is not convex whether it does better than the logistic one, for each share of noise.

    By ``accuracy``, or ``solved_accuracy``. None where the paired difference over the splits is less than two standard
    errors.
    """
    first, *others = LOSSES
    out: dict[str, bool | None] = {}
    for loss in others:
        for noise in table[loss]:
            gain = getattr(table[loss][noise], measure) - getattr(table[first][noise], measure)
            error = gain.std(ddof=1) / np.sqrt(gain.size)
            clear = abs(gain.mean()) > 2.0 * error
            out[f"{loss} above {first}, {noise:.0%} wrong"] = bool(gain.mean() > 0.0) if clear else None
    return out


def report(source: str, splits: int, iterations: int) -> None:
    """Print the table in Markdown, and the verdicts."""
    print(f"{source}, {splits} splits, {iterations} iterations, c = {BOUND}: on the test, means ± standard errors")
    heads = ["Loss", "Wrong labels", "Test accuracy in %", "p%-rule", "Difference of shares", "Violation"]
    heads += ["Loss above SLSQP's from there in %", "Test accuracy there in %"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    table: dict[Loss, dict[float, Judged]] = {}
    for loss in LOSSES:
        table[loss] = {}
        for noise in NOISES:
            one = table[loss][noise] = judged(source, loss, noise, splits, iterations)
            cells = [figure(100.0 * one.accuracy), figure(one.p_rule), figure(one.parity), f"{one.violation.max():.1g}"]
            cells += [figure(100.0 * one.excess), figure(100.0 * one.solved_accuracy)]
            print(f"| {loss} | {noise:.0%} | {' | '.join(cells)} |", flush=True)
    for measure, where in (("accuracy", "the method's end"), ("solved_accuracy", "SLSQP's end")):
        for claim, answer in verdicts(table, measure).items():
            print(f"{claim}, at {where}: {'undecided' if answer is None else 'yes' if answer else 'no'}")


def main() -> None:
    """Print the table for the data that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", default=SOURCES[0], choices=SOURCES)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=2000)
    options = parser.parse_args()
    report(options.source, options.splits, options.iterations)


if __name__ == "__main__":
    main()
