"""The black-box attack on an image classifier, as an online bilevel problem."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, ExactValues, Iterate, Sample
from zoviz.problems.base import Problem
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.problems.learning.images import (
    CLASSES,
    DATASETS,
    DATASETS_DOC,
    Images,
    Perceptron,
    aligned,
    classifier,
    images,
)

CLASSIFIER_SHARE, STREAM_END = 0.6, 0.8
"""Shares of the data: the network knows the first 60 %, the stream comes from the next 20 %, the rest is for tests."""
HALF = 5.0
"""Pixels are normalised to [-HALF, HALF], which is Y too."""


class Pool(NamedTuple):
    """Images (N, d) in the range of Y, their inputs to the hidden units (N, hidden), and their labels (N,)."""

    pixels: Array
    hidden: Array
    labels: np.ndarray


class _Data(NamedTuple):
    network: Perceptron
    stream: Pool
    test: Pool
    side: int


class _Trained(NamedTuple):
    """A network, and the parameters of the problem for which it was trained."""

    settings: tuple[str, int, int, int]
    network: Perceptron


class BlackBoxAttack(OnlineBilevel):
    r"""An attack by one perturbation y of all images; the leader weighs what each pixel of y costs.

    .. math::
        f_t(y) &= \frac1{|D_t^{val}|}\sum_{i \in D_t^{val}} \ell(a_i + y), \qquad
        g_t(x, y) = \frac1{|D_t^{tr}|}\sum_{i \in D_t^{tr}} \ell(a_i + y)
                    + \frac{\lambda}{2}\sum_\iota e^{x_\iota} y_\iota^2 \\
        \ell(a') &= \max\{Z(a')_b - \max_{j \ne b} Z(a')_j,\, -\kappa\}

    over x in [0, x_max]^d and y in Y = [-5, 5]^d, where Z are the classifier's logits, b the true label, and pixels
    are normalised to [-5, 5]. Every round draws images a_i that the network was not trained on, with ``stages`` only
    those of the present stage's classes, so that the best decision changes abruptly; a value of f or g sees logits
    only, so there are no derivatives. Measures are taken on further images of all classes: ``accuracy`` of the
    classifier on perturbed ones, ``loss`` (the mean of l), ``perturbation`` ||y||_inf, and ``weight``, the mean of
    e^{x_i}. The perturbation starts at 0, the weights uniformly in their box.

    Notes
    -----
    - The network is ours: one hidden layer, trained on the first 60 % of the data when first needed.
    - The paper prints lambda = 1. With weights e^x >= 1 the cost of a perturbation then outweighs what it can gain on
      8 x 8 digits (||y||_inf stays at 0.1 and no image is misread), hence the factor.
    - a + y is not clipped to the range of pixels, as in the paper.
    - Both the loss and the network have kinks and are not convex in y: no y* is known, and no regret is measured.

    Raises
    ------
    MissingExtra
        When the data are first needed, without scikit-learn, the extra ``data``.

    References
    ----------
    Paper sogd, §5.1, (27)-(29) and Fig. 2.
    """

    title = "Black-box attack on a classifier"
    order = 42

    dataset: param.Selector[str] = param.Selector(
        default="digits",
        objects=DATASETS,
        label="Images",
        doc=DATASETS_DOC,
    )
    seed = param.Integer(default=0, bounds=(0, 2**31), label="Network seed", doc="Seed of the classifier's training.")
    hidden_units = param.Integer(
        default=64, bounds=(2, 4096), softbounds=(16, 256), label="Hidden units", doc="Hidden units of the classifier."
    )
    epochs = param.Integer(
        default=100,
        bounds=(1, 10_000),
        softbounds=(10, 200),
        label="Epochs",
        doc="Epochs of the classifier's training.",
    )
    confidence = param.Number(
        default=0.0,
        bounds=(0, 1e3),
        softbounds=(0, 10),
        label="Confidence κ",
        doc="Margin of the attack beyond which its loss falls no further.",
    )
    penalty = Scale(0.05, softbounds=(1e-3, 1.0), label="Penalty λ", doc="Factor of all pixels' costs; 1 in the paper.")
    largest_weight = param.Number(
        default=2.0, bounds=(0, 20), softbounds=(0, 5), label="Largest x", doc="Upper bound of x; weights are e^x."
    )

    stages = param.Integer(
        default=1,
        bounds=(1, CLASSES),
        label="Stages S",
        doc="The stream shows the images of every S-th class, others from stage to stage; 1: all images always.",
    )
    stage_rounds = param.Integer(
        default=100,
        bounds=(1, 10**9),
        softbounds=(10, 1000),
        label="Rounds of a stage",
        doc="Rounds until the images change.",
    )

    _trained: _Trained | None = None

    def build(self) -> _Data:
        """Load the images and train the network, unless it has been trained for these parameters."""
        every, settings = images(self.dataset), (self.dataset, self.hidden_units, self.epochs, self.seed)
        if self._trained is None or self._trained.settings != settings:
            network = classifier(
                every.part(0.0, CLASSIFIER_SHARE), -HALF, HALF, self.hidden_units, self.epochs, self.seed
            )
            self._trained = _Trained(settings, network)
        network = self._trained.network

        def pool(part: Images) -> Pool:
            pixels = HALF * (2.0 * part.pixels - 1.0)
            return Pool(pixels, network.hidden(pixels), part.labels)

        return _Data(
            network, pool(every.part(CLASSIFIER_SHARE, STREAM_END)), pool(every.part(STREAM_END, 1.0)), every.side
        )

    def take_data(self, clone: Problem) -> None:
        """Take over data and network, if they are there, of a clone with the same parameters."""
        super().take_data(clone)
        if isinstance(clone, BlackBoxAttack):
            self._trained = clone._trained

    def clone(self) -> Self:
        """Return a clone with the same parameters, data and network."""
        clone = super().clone()
        clone._trained = self._trained
        return clone

    @property
    def n(self) -> int:
        """The number of weights, one for each colour of each pixel."""
        return int(self.data.stream.pixels.shape[1])

    @property
    def domain(self) -> Box:
        """The set [0, x_max]^n of weights."""
        return Box(np.zeros(self.n), np.full(self.n, self.largest_weight))

    @property
    def inner_domain(self) -> Box:
        """The set Y = [-5, 5]^d of perturbations."""
        return Box(np.full(self.n, -HALF), np.full(self.n, HALF))

    def draw(
        self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: int | tuple[int, ...] = 1
    ) -> Sample:
        """Draw indices of the round's images: ``outer`` (R, b) for f and ``inner`` (R, b') for g."""
        there = self.image_indices(iteration)
        if self.noise == "deterministic":
            every = np.tile(there, (streams.replicas, 1))
            return Sample(outer=every, inner=every)
        outer, inner = size if isinstance(size, tuple) else (size, size)
        units = {"outer": streams.uniform("xi: f", outer), "inner": streams.uniform("xi: g", inner)}
        return Sample(**{level: there[(len(there) * unit).astype(np.intp)] for level, unit in units.items()})

    def image_indices(self, t: int) -> np.ndarray:
        """Return the indices, in the stream, of the images that round t may show."""
        labels = self.data.stream.labels
        if self.stages == 1:
            return np.arange(len(labels))
        return np.flatnonzero(labels % self.stages == t // self.stage_rounds % self.stages)

    def phases(self, iteration: int) -> list[tuple[int, str]]:
        """Return the rounds at which other images come, each with the new stage's name."""
        length = self.stage_rounds
        count = 0 if self.stages == 1 else iteration // length
        return [(k * length, f"stage {k % self.stages + 1} of {self.stages}") for k in range(1, count + 1)]

    def member(self, xi: Sample, i: int) -> Sample:
        return Sample(outer=xi.outer[:, i : i + 1], inner=xi.inner[:, i : i + 1])

    def exact(self, xi: Sample) -> None:
        """Return a sample with all images of the stream."""
        return None

    def outer(self, x: Array, y: Array, xi: Sample | None = None) -> Array:
        """Return the mean loss (R, ...) on the round's validation images; it does not depend on x."""
        return self._loss(y, None if xi is None else xi.outer)

    def inner(self, x: Array, y: Array, xi: Sample | None = None) -> Array:
        """Return the mean loss (R, ...) on the round's training images plus the cost of the perturbation."""
        cost = np.einsum("...i,...i->...", np.exp(aligned(x, y)), np.square(aligned(y, x)))
        return self._loss(y, None if xi is None else xi.inner) + 0.5 * self.penalty * cost

    def classes(self, y: Array, pool: Pool) -> np.ndarray:
        """Return the network's classes of perturbed images, (R, N) from y (R, d)."""
        network = self.data.network
        return network.read(pool.hidden + (y @ network.first)[:, None]).argmax(axis=-1)

    def measures(self, iterate: Iterate, sample: Any, exact: ExactValues | None = None) -> dict[str, Array]:
        """Measure accuracy and loss on perturbed test images, the perturbation's size and the mean weight, (R,)."""
        x, y, test = iterate.x, iterate.inner, self.data.test
        if y is None:
            raise ValueError(f"Expected an iterate with the follower's y, got none: {type(self).__name__} measures y.")
        margins = self._margins(y, test.hidden, test.labels)
        loss = np.maximum(margins, -self.confidence).mean(axis=-1)
        return {
            "objective": loss,
            "loss": loss,
            "accuracy": (margins > 0.0).mean(axis=-1),
            "perturbation": np.abs(y).max(axis=-1),
            "weight": np.exp(x).mean(axis=-1),
        }

    def _loss(self, y: Array, indices: np.ndarray | None) -> Array:
        """Return the mean of l over chosen images of the stream (None: all), y (R, ..., d) to (R, ...)."""
        stream = self.data.stream
        indices = (
            np.broadcast_to(np.arange(len(stream.labels)), (1, len(stream.labels))) if indices is None else indices
        )
        indices = aligned(indices, y)
        margins = self._margins(y, stream.hidden[indices], stream.labels[indices])
        return np.maximum(margins, -self.confidence).mean(axis=-1)

    def _margins(self, y: Array, hidden: Array, labels: np.ndarray) -> Array:
        """Return Z_b - max_{j != b} Z_j of perturbed images, (R, ..., N), from their unperturbed hidden values."""
        network = self.data.network
        # The first layer is affine: images and perturbations go through it apart.
        logits = network.read(hidden + (y @ network.first)[..., None, :])
        true = np.broadcast_to(labels, logits.shape[:-1])[..., None] == np.arange(CLASSES)
        own = np.where(true, logits, 0.0).sum(axis=-1)
        return own - np.where(true, -np.inf, logits).max(axis=-1)
