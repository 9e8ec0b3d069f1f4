"""Loss tuning for imbalanced data whose class shares shift, as an online bilevel problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, ExactValues, Iterate, Sample
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.problems.learning.convnet import ConvNet, Loss, product, slope, torch, values
from zoviz.problems.learning.images import CLASSES, DATASETS, DATASETS_DOC, Images, aligned, images

Read = Callable[[Any, Any, Any, Any], Any]
"""x, y, logits (B, b, 10) and memberships of the classes, of that shape too, to losses (B,)."""
EXACT = 512
"""Evenly chosen images that stand for a phase's whole distribution."""
TRAINING_SHARE = 0.7
"""Share of the images that the stream comes from; the rest is for tests."""


class _Data(NamedTuple):
    network: ConvNet
    stream: Images
    test: Images
    members: tuple[np.ndarray, ...]
    """Images of the stream, by class."""


class LossTuning(OnlineBilevel):
    r"""A leader that tunes the loss with which a network is trained, so that rare classes are learnt too.

    .. math::
        g_t(x, y) &= -\log \frac{e^{\gamma_b [y(a)]_b + \Delta_b}}{\sum_j e^{\gamma_j [y(a)]_j + \Delta_j}}
                     + \frac{\mu}{2}\|y\|^2, \qquad
        f_t(y) = -u_b \log \frac{e^{[y(a)]_b}}{\sum_j e^{[y(a)]_j}}

    means over the round's training and validation images (a, b), ``images`` of them for each sample of a batch: y are
    the weights of a convolutional network of four layers, [y(a)]_j its logits, x = (Delta_1..Delta_10,
    gamma_1..gamma_10) the adjustments of the logits, and u_j the number of these images over that of class j. Rounds
    come in four phases, in which class i = 0..9 has a probability proportional to ratio^i with the ratios 0.4, 0.533,
    0.667, 0.8: the classes become more alike.

    All derivatives are exact, by reverse-mode differentiation in float64; a Hessian- or Jacobian-vector product is the
    gradient of the product <grad_y g, v>. All replicas are differentiated at once.

    Measures are taken on images that the stream does not hold: ``balanced_accuracy``, the mean of the classes'
    accuracies; ``test_accuracy``, that mean weighed as the present phase's stream; ``plain_accuracy``, the share of all
    of them that is read rightly; ``objective``, the cross-entropy as
    f counts it; ``phase``, 1 to 4. x starts at Delta = 0, gamma = 1, the plain cross-entropy; y at random.

    Notes
    -----
    - The paper does not say what bounds x; here |Delta_j| <= 5 and 0.1 <= gamma_j <= 5.
    - mu = 0 in the paper. A little of it keeps the follower's linear system from being singular, which g, convex in y
      nowhere in particular, does not promise.
    - f weighs the classes inside a batch, and with one image there is nothing to weigh: a sample is a small batch.
    - u_j from the batch's own proportions keeps f bounded: in the first phase class 9 has a share of 1.6e-4, whose
      reciprocal would be a weight of 6400 on a single image.
    - Neither y* nor the regret is known.

    Raises
    ------
    MissingExtra
        When the data are first needed, without scikit-learn (extra ``data``) or PyTorch (extra ``torch``).

    References
    ----------
    Paper sogd, §5.2, (30) and Fig. 3. Li, Zhang, Thrampoulidis, Chen and Oymak (2021), AutoBalance.
    """

    title = "Imbalanced loss tuning (convolutional network)"
    order = 43
    costly = True

    dataset: param.Selector[str] = param.Selector(
        default="digits",
        objects=DATASETS,
        label="Images",
        doc=DATASETS_DOC,
    )
    channels = param.Integer(
        default=4,
        bounds=(1, 1024),
        softbounds=(2, 32),
        label="Channels",
        doc="Channels of the first convolution; the second has twice as many.",
    )
    hidden_units = param.Integer(
        default=16, bounds=(2, 4096), softbounds=(8, 256), label="Hidden units", doc="Of the first full layer."
    )
    phase_length = param.Integer(
        default=100,
        bounds=(1, 10**9),
        softbounds=(10, 1000),
        label="Rounds per phase",
        doc="Rounds until the ratios change.",
    )
    ratios = param.List(
        default=[0.4, 0.4 + 0.4 / 3, 0.4 + 0.8 / 3, 0.8],
        item_type=float,
        bounds=(1, None),
        label="Ratios",
        doc="Class i has a probability proportional to ratio^i, one ratio for each phase.",
    )
    images = param.Integer(
        default=16,
        bounds=(1, 10**6),
        softbounds=(1, 256),
        label="Images per sample",
        doc="Images in a sample, of the upper and of the lower level.",
    )
    decay = param.Number(
        default=1e-3, bounds=(0, 10), softbounds=(0, 0.1), label="Weight decay μ", doc="Weight of ||y||^2 / 2 in g."
    )

    n = 2 * CLASSES

    def build(self) -> _Data:
        if min(self.ratios) <= 0.0:
            raise ValueError(f"Expected ratios > 0, got {self.ratios}: class i has a share proportional to ratio^i.")
        every = images(self.dataset)
        stream = every.part(0.0, TRAINING_SHARE)
        members = tuple(np.flatnonzero(stream.labels == label) for label in range(CLASSES))
        network = ConvNet(every.side, (self.channels, 2 * self.channels), self.hidden_units, every.colours)
        return _Data(network, stream, every.part(TRAINING_SHARE, 1.0), members)

    @property
    def domain(self) -> Box:
        """The set [-5, 5]^10 of Delta times [0.1, 5]^10 of gamma."""
        return Box(np.repeat([-5.0, 0.1], CLASSES), np.full(2 * CLASSES, 5.0))

    @property
    def inner_domain(self) -> Box:
        """The set R^d of all networks."""
        return Box.free(self.data.network.d)

    def initial(self, streams: Streams) -> Array:
        """Return the plain loss for every replica, (R, 20): Delta = 0 and gamma = 1."""
        return np.tile(np.repeat([0.0, 1.0], CLASSES), (streams.replicas, 1))

    def initial_inner(self, streams: Streams) -> Array:
        """Draw a random network for each replica, (R, d)."""
        return self.data.network.start(streams.normal("y0", self.data.network.d))

    def phase(self, iteration: int) -> int:
        """Return the number of the phase that a round belongs to, from 0."""
        return min(max(iteration, 0) // self.phase_length, len(self.ratios) - 1)

    def shares(self, phase: int) -> Array:
        """Return the probabilities of the classes in a phase, (10,)."""
        weights = self.ratios[phase] ** np.arange(CLASSES)
        return weights / weights.sum()

    def phases(self, iteration: int) -> list[tuple[int, str]]:
        """Return the rounds at which the classes' shares change, each with the new phase's name."""
        return [(k * self.phase_length, f"ratio {self.ratios[k]:.3g}") for k in range(1, self.phase(iteration) + 1)]

    def draw(
        self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: int | tuple[int, ...] = 1
    ) -> Sample:
        """Draw indices of the round's images, ``outer`` (R, b images) and ``inner`` (R, b' images), and its phase."""
        phase, sizes = self.phase(iteration), size if isinstance(size, tuple) else (size, size)
        if self.noise == "deterministic":
            even = np.broadcast_to(_even(EXACT), (streams.replicas, EXACT, 2))
            return Sample(phase=phase, outer=self._choose(phase, even), inner=self._choose(phase, even))
        outer, inner = (
            streams.uniform(f"xi: {level}", b * self.images, 2) for level, b in zip("fg", sizes, strict=True)
        )
        return Sample(phase=phase, outer=self._choose(phase, outer), inner=self._choose(phase, inner))

    def member(self, xi: Sample, i: int) -> Sample:
        images = slice(i * self.images, (i + 1) * self.images)
        return Sample(phase=xi.phase, outer=xi.outer[:, images], inner=xi.inner[:, images])

    def exact(self, xi: Sample) -> Sample:
        """Return the round's phase with evenly chosen images in the place of random ones."""
        even = self._choose(xi.phase, np.broadcast_to(_even(EXACT), (len(xi.outer), EXACT, 2)))
        return Sample(phase=xi.phase, outer=even, inner=even)

    def outer(self, x: Array, y: Array, xi: Sample) -> Array:
        """Return the cross-entropy (R, ...) on the validation images, classes balanced; independent of x."""
        return self._values(x, y, xi.outer, self._balanced)

    def inner(self, x: Array, y: Array, xi: Sample) -> Array:
        """Return the adjusted cross-entropy (R, ...) on the training images plus the weight decay."""
        return self._values(x, y, xi.inner, self._adjusted)

    def outer_gradients(self, x: Array, y: Array, xi: Sample) -> tuple[Array, Array]:
        """Return 0 (R, ..., n) and the gradient of f_t in y (R, ..., d)."""
        return np.zeros_like(x), slope(self._loss(xi.outer, self._balanced), x, y)

    def inner_gradient(self, x: Array, y: Array, xi: Sample) -> Array:
        """Return the gradient of g_t in y, (R, ..., d), by reverse-mode differentiation."""
        return slope(self._loss(xi.inner, self._adjusted), x, y)

    def inner_hessian_vector(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return the gradient in y of <grad_y g_t, v>, (R, ..., d)."""
        return product(self._loss(xi.inner, self._adjusted), x, y, v, "y")

    def inner_jacobian_vector(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return the gradient in x of <grad_y g_t, v>, (R, ..., n)."""
        return product(self._loss(xi.inner, self._adjusted), x, y, v, "x")

    def measures(self, iterate: Iterate, sample: Any, exact: ExactValues | None = None) -> dict[str, Array]:
        """Measure accuracies and loss of the networks on the test images, and the phase, (R,)."""
        x, y, test = iterate.x, iterate.inner, self.data.test
        if y is None:
            raise ValueError(f"Expected an iterate with the follower's y, got none: {type(self).__name__} measures y.")
        logits = self.data.network.read(y, np.broadcast_to(_inputs(test.pixels), (len(y), *test.pixels.shape)))
        member = test.labels[:, None] == np.arange(CLASSES)
        right = logits.argmax(axis=-1) == test.labels
        by_class = right @ (member / member.sum(axis=0))
        loss = np.logaddexp.reduce(logits, axis=-1) - np.where(member, logits, 0.0).sum(axis=-1)
        return {
            "objective": (loss @ (member / member.sum(axis=0))).sum(axis=-1),
            "balanced_accuracy": by_class.mean(axis=-1),
            "test_accuracy": by_class @ self.shares(sample.phase),
            "plain_accuracy": right.mean(axis=-1),
            "phase": np.full(len(x), sample.phase + 1.0),
        }

    def _choose(self, phase: int, unit: Array) -> np.ndarray:
        """Choose images (...,) by two uniform numbers each (..., 2): one for the class, one for the image in it."""
        members = self.data.members
        counts = np.array([len(one) for one in members])
        labels = np.searchsorted(np.cumsum(self.shares(phase))[:-1], unit[..., 0], side="right")
        place = (unit[..., 1] * counts[labels]).astype(np.intp)
        return np.concatenate(members)[(np.cumsum(counts) - counts)[labels] + place]

    def _values(self, x: Array, y: Array, indices: np.ndarray, read: Read) -> Array:
        """Return losses (R, ...) at points x (R, ..., n) and y (R, ..., d)."""
        points = y.shape[:-1]
        indices = np.broadcast_to(aligned(indices, y), (*points, indices.shape[-1])).reshape(-1, indices.shape[-1])
        flat = (np.broadcast_to(one, (*points, one.shape[-1])).reshape(-1, one.shape[-1]) for one in (x, y))
        return values(self._loss(indices, read), *flat).reshape(points)

    def _loss(self, indices: np.ndarray, read: Read) -> Loss:
        """Return the loss on chosen images of the stream, indices (B, b)."""
        stream, network = self.data.stream, self.data.network
        pixels = torch().tensor(_inputs(stream.pixels[indices]))
        member = torch().tensor(stream.labels[indices][..., None] == np.arange(CLASSES)).double()

        def loss(x: Any, y: Any) -> Any:
            return read(x, y, network.logits(y, pixels), member)

        return loss

    def _balanced(self, x: Any, y: Any, logits: Any, member: Any) -> Any:
        own = (logits.log_softmax(dim=-1) * member).sum(dim=-1)
        sizes = (member.sum(dim=1, keepdim=True) * member).sum(dim=-1)
        return -(own / sizes).sum(dim=-1)

    def _adjusted(self, x: Any, y: Any, logits: Any, member: Any) -> Any:
        shift, factor = x[:, None, :CLASSES], x[:, None, CLASSES:]
        own = ((factor * logits + shift).log_softmax(dim=-1) * member).sum(dim=-1)
        return 0.5 * self.decay * (y * y).sum(dim=-1) - own.mean(dim=-1)


def _inputs(pixels: Array) -> Array:
    """Return pixels as numbers from -1 to 1."""
    return 2.0 * pixels - 1.0


def _even(count: int) -> Array:
    """Return evenly spread points of the unit square, (count, 2): a lattice of rank 1."""
    place = np.arange(count)
    return np.stack([(place + 0.5) / count, place * 0.5 * (np.sqrt(5.0) - 1.0) % 1.0], axis=-1)
