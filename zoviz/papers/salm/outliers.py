"""Paper salm, §6.3: losses that are not convex are said to be robust to outliers, and to generalise better.

A fair classifier is trained by Algorithm 1 on people some of whose labels are wrong, under each of the three losses,
and judged on people who were left out, whose labels are right. Splits are the seeds. Steps are those of ``cases``, long
enough that the losses, and not their training, are compared; how far the training came is told by SciPy's SLSQP, which
goes on from its end on all data: by how much it lowers the loss, and how its solution does on the test. Beside the test
accuracy stands what parity there is: the p%-rule and the difference of both groups' shares.

Robust is what does better than the logistic loss where labels are wrong, and not where they are right, which is the
ablation: there it would be better for another reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.papers.salm.cases import WEIGHTS, long_steps, slsqp
from zoviz.problems import FairClassification
from zoviz.problems.margin_losses import LOSSES, Loss
from zoviz.runs.engine.columns import OBJECTIVE, VIOLATION
from zoviz.solvers import SmoothedALM
from zoviz.studies.experiment import Claim, Experiment, Figures, Measured, Panel, Table, array, mean_text, plain
from zoviz.studies.verdict import Evidence

TEST, BOUND = 0.3, 0.2
"""Share of the people left out, and the bound c."""
CONVEX, *OTHERS = LOSSES
RIGHT = "0 % wrong"
"""Where all labels are right."""
OWN = "accuracy"
ENDS = {"the method's end": OWN, "SLSQP's end": "solved_accuracy"}
"""Measures of accuracy by where the training is left."""


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


def judged(source: str, loss: Loss, noise: float, splits: Sequence[int], iterations: int) -> Judged:
    """Train a classifier on each split by Algorithm 1 with long steps, and return its measures on the test."""
    rows = []
    for split in splits:
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


def apart(gaps: Array) -> Array:
    r"""Return differences (J,) over random splits of the same people, farther from their mean than they are.

    So that the standard error of their mean is that of splits that overlap,

    .. math:: s \sqrt{1 / J + n_{test} / n_{train}}

    with s the deviation of the differences; s / sqrt(J) would be too small.

    References
    ----------
    Nadeau and Bengio (2003), Inference for the Generalization Error, Machine Learning 52.
    """
    return np.asarray(gaps.mean() + (gaps - gaps.mean()) * np.sqrt(1.0 + gaps.size * TEST / (1.0 - TEST)))


class Outliers(Experiment):
    """Wrong labels in the training under three losses, on the breast cancer data."""

    title = "salm outliers"
    subject = "Fair classification with wrong labels in the training: accuracy on people who were left out"
    printed = "Losses that are not convex are robust to outliers and generalise better; no figures."
    protocol = (
        "FairClassification, c = 0.2, Algorithm 1 with long steps and mini-batches of 2; 30 % of the people are left "
        "out, whose labels are right. Paired differences over splits, with Nadeau and Bengio's standard errors."
    )
    sizes = {
        "quick": {"source": "breast cancer", "wrong": [0, 30], "splits": 3, "iterations": 100},
        "full": {"source": "breast cancer", "wrong": [0, 10, 20, 30], "splits": 10, "iterations": 10_000},
    }

    def shares(self) -> list[str]:
        """Return the shares of wrong labels in words, that of right labels first."""
        return [f"{share} % wrong" for share in self.settings["wrong"]]

    def parts(self) -> list[str]:
        return [f"{loss} / {share}" for loss in LOSSES for share in self.shares()]

    def measure(self, part: str) -> Figures:
        name, share = part.split(" / ")
        loss, noise = LOSSES[LOSSES.index(name)], int(share.split()[0]) / 100.0
        one = judged(self.settings["source"], loss, noise, self.seeds(part), self.settings["iterations"])
        return {name: plain(values) for name, values in one._asdict().items()}

    def claims(self) -> list[Claim]:
        source, out = self.settings["source"], []
        for loss in OTHERS:
            says = f"{loss} generalises better than {CONVEX}: {source}"
            out.append(Claim("§6.3, outliers", says, partial(accuracy_is_higher, self, loss), RIGHT))
            for share in self.shares()[1:]:
                says = f"{loss} is more robust than {CONVEX}, {share}: {source}"
                out.append(Claim("§6.3, outliers", says, partial(accuracy_is_higher, self, loss), share, RIGHT))
        return out

    def tables(self, measured: Measured) -> list[Table]:
        heads = (
            *("Loss", "Labels", "Test accuracy in %", "p%-rule", "Difference of shares", "Largest violation"),
            *("Loss above SLSQP's from there in %", "Test accuracy there in %"),
        )
        rows = []
        for part in self.parts():
            one = {name: array(values) for name, values in measured[part].items()}
            cells = [mean_text(100.0 * one["accuracy"]), mean_text(one["p_rule"]), mean_text(one["parity"])]
            cells += [f"{one['violation'].max():.1g}", mean_text(100.0 * one["excess"])]
            rows.append((*part.split(" / "), *cells, mean_text(100.0 * one["solved_accuracy"])))
        gaps = [
            (f"{loss}, at {end}", *(difference(measured, loss, share, name) for share in self.shares()))
            for loss in OTHERS
            for end, name in ENDS.items()
        ]
        heading = f"Points of test accuracy above {CONVEX}, with standard errors for splits that overlap"
        return [
            Table("On people who were left out, means over splits", heads, rows),
            Table(heading, ("Loss", *self.shares()), gaps),
        ]

    def panels(self, measured: Measured) -> list[Panel]:
        xs, out = [float(share) for share in self.settings["wrong"]], []
        for end, name in ENDS.items():
            lines: dict[str, tuple[list[float], list[float]]] = {}
            for loss in LOSSES:
                means = [array(measured[f"{loss} / {share}"][name]).mean() for share in self.shares()]
                lines[loss] = (xs, [100.0 * float(mean) for mean in means])
            heading = f"{self.settings['source']}, at {end}"
            parts: dict[str, list[str]] = {loss: [f"{loss} / {share}" for share in self.shares()] for loss in LOSSES}
            out.append(Panel(heading, "wrong labels in %", "test accuracy in %", lines, parts=parts))
        return out

    def seeds(self, part: str) -> tuple[int, ...]:
        return tuple(self.seed(split) for split in range(self.settings["splits"]))


class OutliersOfArrests(Outliers):
    """The same on people: 5226 arrests, whose attribute is colour."""

    title = "salm outliers arrests"
    sizes = {size: {**settings, "source": "arrests"} for size, settings in Outliers.sizes.items()}


def gaps_of(measured: Measured, loss: str, share: str, name: str) -> Array:
    """Return how much better a loss does than the convex one on every split, (J,), in points of accuracy."""
    mine, other = (array(measured[f"{one} / {share}"][name]) for one in (loss, CONVEX))
    return 100.0 * (mine - other)


def difference(measured: Measured, loss: str, share: str, name: str) -> str:
    """Return the mean of the differences and its standard error as text."""
    gaps = apart(gaps_of(measured, loss, share, name))
    return f"{gaps.mean():+.2f} ± {gaps.std(ddof=1) / np.sqrt(gaps.size):.2f}"


def accuracy_is_higher(experiment: Experiment, loss: str, measured: Measured, share: str) -> Evidence:
    """Test that a loss has a higher test accuracy than the convex one, with a share of wrong labels."""
    figures = f"{difference(measured, loss, share, OWN)} points, {share}"
    budgets = {share: float(experiment.settings["iterations"])}
    return Evidence(apart(gaps_of(measured, loss, share, OWN))[None], figures, budgets)
