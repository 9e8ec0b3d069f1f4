"""Paper salm, §6.3: fair classification by default parameters under bounds from loose to tight, and three losses.

Beside SciPy's SLSQP on all data from the same starts. On the breast cancer data, whose attribute is made up.
"""

from __future__ import annotations

import itertools

from zoviz.core.types import Array
from zoviz.papers.salm.applications import ABOVE, Application
from zoviz.papers.salm.cases import fair_figures
from zoviz.papers.salm.table_1 import KNOWN_ROWS
from zoviz.problems import FairClassification
from zoviz.problems.margin_losses import LOSSES
from zoviz.runs.engine.columns import SAMPLES
from zoviz.runs.run import Run
from zoviz.studies.experiment import Measured, Panel, array
from zoviz.studies.live import Live

OBJECTIVE = "f over SLSQP's, less 1"
COVARIANCE = "covariance over c, less 1"
ACCURACY = "points of accuracy below SLSQP's"


class FairFrontier(Application):
    """Fair classification under several bounds c."""

    title = "salm fair classification"
    subject = "Fair classification by default parameters: losses and covariances beside SLSQP's"
    printed = "Problem (6.6) with the losses of (6.7) and (6.8); no figures."
    protocol = (
        "FairClassification on the breast cancer data, every parameter the method's own, one sample an iteration, at "
        "equal samples; SLSQP on all data from the same starts. Nothing is tuned."
    )
    sizes = {
        "quick": {"cases": ["logistic, c = 0.5"], "samples": 200, "replicas": 2},
        "full": {
            "cases": [f"{loss}, c = {bound:g}" for loss, bound in itertools.product(LOSSES, (2.0, 0.5, 0.2, 0.05))],
            "samples": 20_000,
            "replicas": 4,
        },
    }
    place = "§6.3"
    says = "comes within a tenth of SLSQP's f and to a covariance of at most 1.02 c"
    methods = {
        name: KNOWN_ROWS[name]
        for name in (
            "salm, Algorithm 1",
            "salm, Algorithm 3",
            "Alacaoglu-Wright, ALM",
            "linearised ALM",
            "penalty SGD",
        )
    }
    limits = {OBJECTIVE: ABOVE, COVARIANCE: 0.02}

    def problem(self, case: str, method: str) -> FairClassification:
        loss, bound = case.split(", c = ")
        return FairClassification(loss=LOSSES[LOSSES.index(loss)], bound=float(bound))

    def outcome(self, problem: FairClassification, run: Run) -> dict[str, Array]:
        """Return how far f, the covariance and the accuracy are from where SLSQP comes and from the bound."""
        one = fair_figures(problem, run)
        return {
            OBJECTIVE: one.objective / one.general - 1.0,
            COVARIANCE: one.covariance / problem.bound - 1.0,
            ACCURACY: 100.0 * (one.general_accuracy - one.accuracy),
        }

    def panels(self, measured: Measured) -> list[Panel]:
        lines: dict[str, dict[str, tuple[list[float], list[float]]]] = {}
        parts: dict[str, dict[str, list[str]]] = {}
        for case, name in itertools.product(self.settings["cases"], self.methods):
            loss, bound = case.split(", c = ")
            parts.setdefault(loss, {}).setdefault(name, []).append(f"{case} / {name}")
            xs, ys = lines.setdefault(loss, {}).setdefault(name, ([], []))
            xs.append(float(bound))
            ys.append(1.0 + float(array(measured[f"{case} / {name}"][OBJECTIVE]).max()))
        return [
            Panel(f"{loss}: the largest of the replicas", "c", "f over SLSQP's", own, log_x=True, parts=parts[loss])
            for loss, own in lines.items()
        ]

    def live(self, measured: Measured) -> list[Live]:
        """Return every method on the first loss under a middle bound; the paper prints no number for a line."""
        case = self.settings["cases"][min(1, len(self.settings["cases"]) - 1)]
        settings = {"replicas": self.settings["replicas"], "samples": self.settings["samples"]}
        note = "The paper has no figures of this: no line of it is drawn. The bound c is the problem's."
        return [
            Live(
                f"{name}: {case}",
                self.problem(case, name),
                method.cls(**method.options),
                settings,
                (f"{case} / {name}",),
                axis=SAMPLES,
                note=note,
            )
            for name, method in self.methods.items()
        ]
