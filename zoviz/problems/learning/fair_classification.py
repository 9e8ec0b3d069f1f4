"""Fair classification: a linear classifier whose decisions must hardly covary with a sensitive attribute."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, ExactValues, Optimum, Sample
from zoviz.problems.learning.tables import SOURCES, Table, table
from zoviz.problems.linear import LinearlyConstrained
from zoviz.problems.margin_losses import LOSSES, MarginLoss, logistic_optimum, margin_loss


class _Data(NamedTuple):
    table: Table
    test: Table
    signed: Array
    direction: Array
    loss: MarginLoss
    constants: Constants
    optimum: Optimum | None
    domain: Box


class FairClassification(LinearlyConstrained):
    r"""The least mean loss of a linear classifier under a bound on its covariance with a sensitive attribute.

    .. math:: \min_{\theta \in X} \frac1N \sum_i V(y_i \theta^\top x_i) + \tfrac{\text{ridge}}{2} \|\theta\|^2
              \quad\text{s.t.}\quad \Big|\frac1N \sum_i (z_i - \bar z)\,\theta^\top x_i\Big| \le c

    V is the logistic loss, or one of two that are not convex: the logistic difference (6.7), and a smoothed 0-1 loss
    (6.8). The rows are a'theta <= c and -a'theta <= c. A sample is ``people`` of the N, drawn with replacement.
    ``metrics`` adds ``accuracy``, the share of the N that are classified rightly (+1 where theta'x >= 0),
    ``covariance``, the left side of the bound, and, with P the shares of each group that are classified as +1,
    ``p_rule``, the lesser of P(+|z=0) / P(+|z=1) and its inverse, and ``parity_difference``, |P(+|z=1) - P(+|z=0)|.

    With ``test_share``, that share of the N people is left out, by a split that ``split_seed`` draws; ``test_accuracy``
    is theirs then, and so are P. With ``label_noise``, that share of the N, and nobody left out, has the wrong label.

    Notes
    -----
    Data: see ``zoviz.problems.learning.tables.table``. The features are standardised, with a column of ones for the
    intercept, which has no covariance with anything. The ridge and the box X are ours: the data are close to
    separable, and the loss alone then has its infimum far out. The known optimum, of the logistic loss, is Newton's
    method's on the face of the bound that is active; none is claimed for the other losses, or where it leaves the box.

    References
    ----------
    Paper salm, §6.3; Zafar et al. (2017).
    """

    title = "Fair classification"
    order = 10
    domain: Box
    equations = False

    source: param.Selector[str] = param.Selector(
        default=SOURCES[0],
        objects=list(SOURCES),
        label="Data",
        doc="breast cancer: inside scikit-learn; arrests: inside scikit-lego; adult and german credit: from OpenML.",
    )
    loss: param.Selector[str] = param.Selector(
        default=LOSSES[0], objects=list(LOSSES), label="Loss V", doc="Loss as a function of margins."
    )
    shift = Scale(
        3.0,
        bounds=(1e-3, 1e3),
        softbounds=(0.1, 10.0),
        label="Loss shift μ",
        doc="Shift of the logistic loss difference.",
    )
    bound = Scale(
        0.2, bounds=(1e-6, 1e3), softbounds=(1e-2, 2.0), label="Covariance bound c", doc="Largest covariance allowed."
    )
    ridge = param.Number(
        default=1e-2, bounds=(0, 1e3), softbounds=(0, 1), label="Ridge", doc="Weight of ||θ||²/2, which is ours."
    )
    people = param.Integer(
        default=32,
        bounds=(1, 100_000),
        softbounds=(1, 512),
        label="People in a sample",
        doc="Rows of the table in one sample ξ, drawn with replacement; a solver's batch size multiplies it.",
    )
    half_width = param.Number(
        default=10.0, bounds=(1e-3, 1e6), label="Box half-width", doc="Half-width of the box around 0."
    )
    start_radius = param.Number(
        default=1.0, bounds=(0, 1e6), label="Start radius", doc="θ0 is uniform in [-start_radius, start_radius]^n."
    )

    test_share = param.Number(
        default=0.0, bounds=(0, 0.9), label="Test share", doc="Share of the people who are kept for the test."
    )
    label_noise = param.Number(
        default=0.0, bounds=(0, 0.5), label="Label noise", doc="Share of those in the training with the wrong label."
    )
    split_seed = param.Integer(
        default=0, bounds=(0, 2**31), label="Split seed", doc="Seed of the split and of the wrong labels."
    )

    rows = 2

    def build(self) -> _Data:
        data, test = self._split(table(self.source))
        features, count, n = data.features, len(data.labels), data.features.shape[1]
        signed = data.labels[:, None] * features
        direction = (data.sensitive - data.sensitive.mean()) @ features / count
        loss, largest = margin_loss(self.loss, self.shift), float(np.linalg.eigvalsh(signed.T @ signed / count)[-1])
        radius = self.half_width * np.sqrt(n)
        constants = Constants(
            curvature=loss.bend * largest + self.ridge,
            constraint_curvature=0.0,
            slope=float(loss.steepest * np.sqrt(largest) + self.ridge * radius),
            constraint_slope=float(np.sqrt(2.0) * np.linalg.norm(direction)),
            start_slope=float(np.sqrt(2.0) * np.linalg.norm(direction)),
            weak_convexity=max(0.0, loss.concavity * largest - self.ridge),
        )
        optimum = self._optimum(signed, direction) if self.loss == "logistic" else None
        box = Box(np.full(n, -self.half_width), np.full(n, self.half_width))
        return _Data(data, test, signed, direction, loss, constants, optimum, box)

    def _split(self, whole: Table) -> tuple[Table, Table]:
        """Return the people of the training, some of them with wrong labels, and of the test: all without a split."""
        rng, count = np.random.default_rng(self.split_seed), len(whole.labels)
        order = rng.permutation(count)
        left_out = round(self.test_share * count)
        data = whole if not left_out else whole.people(np.sort(order[left_out:]))
        wrong = rng.permutation(len(data.labels))[: round(self.label_noise * len(data.labels))]
        labels = data.labels.copy()
        labels[wrong] *= -1.0
        return data._replace(labels=labels), whole.people(np.sort(order[:left_out])) if left_out else whole

    def _optimum(self, signed: Array, direction: Array) -> Optimum | None:
        solution = logistic_optimum(signed, self.ridge, direction, self.bound)
        if solution is None or np.abs(solution[0]).max() > self.half_width:
            return None
        theta, multiplier = solution
        value = float(np.logaddexp(0.0, -signed @ theta).mean() + 0.5 * self.ridge * (theta @ theta))
        source = "Newton's method on the face of the covariance bound that is active"
        return Optimum(value, theta, np.maximum([multiplier, -multiplier], 0.0), source)

    def draw(
        self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: int | tuple[int, ...] = 1
    ) -> Sample:
        """Draw rows of the table with replacement, indices (R, *shape, people size)."""
        picked = streams.uniform("xi", *shape, self.people * int(np.prod(size)))
        return Sample(person=(picked * len(self.data.signed)).astype(np.intp))

    def evaluate(self, x: Array, xi: Sample | None = None) -> Evaluation:
        """Return the mean loss (...), over the mini-batch or over all, and both sides of the bound (..., 2)."""
        data = self.data
        margins = self._margins(x, xi)[0]
        f = data.loss.value(margins).mean(axis=-1) + 0.5 * self.ridge * np.square(x).sum(axis=-1)
        return Evaluation(f, self.residual(x))

    def stochastic_gradient(self, x: Array, xi: Sample | None = None) -> Array:
        """Return the mean of V'(y_i theta'x_i) y_i x_i plus the ridge's gradient, (..., n)."""
        margins, signed = self._margins(x, xi)
        slopes = self.data.loss.slope(margins) / margins.shape[-1]
        part = slopes @ signed if signed.ndim == 2 else _apply(slopes, signed)
        return part + self.ridge * x

    def residual(self, x: Array, xi: object = None, copy: int = 0) -> Array:
        """Return the rows a'theta - c and -a'theta - c, (..., 2), at theta (..., n)."""
        covariance = x @ self.data.direction
        return np.stack([covariance - self.bound, -covariance - self.bound], axis=-1)

    def adjoint(self, y: Array, xi: object = None, copy: int = 0) -> Array:
        """Return (y_1 - y_2) a, (..., n), for multipliers y (..., 2)."""
        return (y[..., 0] - y[..., 1])[..., None] * self.data.direction

    def metrics(
        self, x: Array, y: Array | None, value: Evaluation | None, exact: ExactValues | None = None
    ) -> dict[str, Array]:
        """Measure what every problem does, accuracies, the covariance and both groups' shares, (R,)."""
        return super().metrics(x, y, value, exact) | self.fairness(x)

    def fairness(self, x: Array) -> dict[str, Array]:
        """Return accuracies, the covariance |a'theta| and measures of both groups' shares, (...) each, of x (..., n).

        A group that nobody is of, or of which nobody is classified as +1, leaves its ratio 0 or, if both are so, 1.
        """
        data, test = self.data, self.data.test
        right = (x @ data.table.features.T >= 0.0) == (data.table.labels > 0.0)
        positive, marked = x @ test.features.T >= 0.0, test.sensitive > 0.0
        one, other = ((positive & group).sum(axis=-1) / max(int(group.sum()), 1) for group in (marked, ~marked))
        larger = np.maximum(one, other)
        out = {
            "accuracy": right.mean(axis=-1),
            "covariance": np.abs(x @ data.direction),
            "p_rule": np.where(larger > 0.0, np.minimum(one, other) / np.where(larger > 0.0, larger, 1.0), 1.0),
            "parity_difference": np.abs(one - other),
        }
        if self.test_share:
            out["test_accuracy"] = (positive == (test.labels > 0.0)).mean(axis=-1)
        return out

    def _margins(self, x: Array, xi: Sample | None) -> tuple[Array, Array]:
        """Return y_i theta'x_i (..., B), and the y_i x_i of which it is made."""
        if xi is None:
            return x @ self.data.signed.T, self.data.signed
        signed = self.data.signed[xi.person]
        if x.ndim == signed.ndim - 1:
            return np.matmul(signed, x[..., None])[..., 0], signed
        return x @ np.swapaxes(signed, -1, -2), signed  # probes of one replica share its mini-batch


def _apply(slopes: Array, signed: Array) -> Array:
    """Sum rows with weights, (..., B) and (..., B, n) to (..., n), or (R, q, B) and (R, B, n) to (R, q, n)."""
    if slopes.ndim == signed.ndim - 1:
        return np.matmul(slopes[..., None, :], signed)[..., 0, :]
    return slopes @ signed
