"""Classifiers with three hidden layers, many of them trained in lock-step, each by hyper-parameters of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoviz.core.types import Array
from zoviz.problems.learning.images import CLASSES

Single = NDArray[np.float32]
Coins = NDArray[np.uint16]
_SIDES = 65_536
"""Values of a coin, by a quarter of a number's bits: a share of units to leave out is met to one part in _SIDES."""
_AHEAD = 10
"""Steps for which random numbers are drawn at once."""
_FIRST = 4
"""Layers of weights."""


class Hyperparameters(NamedTuple):
    """What S networks are trained by, (S,) each but for ``widths``.

    Attributes
    ----------
    rate, rate_decay : Array
        Learning rate at the first step, and the factor by which it has fallen at the last, geometrically.
    momentum, last_momentum : Array
        At the first and the last step, linear between.
    input_dropout, hidden_dropout : Array
        Shares of units that are left out of a step.
    decay : Array
        Weight of half the squared norm of all weights.
    largest_norm : Array
        Of the weights that enter a unit.
    widths : ndarray of int, shape (S, 3)
        Units of the hidden layers.
    """

    rate: Array
    rate_decay: Array
    momentum: Array
    last_momentum: Array
    input_dropout: Array
    hidden_dropout: Array
    decay: Array
    largest_norm: Array
    widths: np.ndarray


class Examples(NamedTuple):
    """Images (N, d) in single precision and their labels (N,)."""

    pixels: Single
    labels: np.ndarray


class Networks(NamedTuple):
    """S networks: weights of four layers (S, inputs, outputs) and offsets (S, 1, outputs), padded by zeros."""

    weights: list[Single]
    offsets: list[Single]

    def logits(self, pixels: Single) -> Single:
        """Return the logits (S, N, classes) of all networks for the images (N, d)."""
        layer: Single = np.broadcast_to(pixels, (len(self.weights[0]), *pixels.shape))
        for i, (weights, offsets) in enumerate(zip(self.weights, self.offsets, strict=True)):
            layer = layer @ weights + offsets
            if i < _FIRST - 1:
                layer = np.maximum(layer, np.float32(0.0))
        return layer


class Scores(NamedTuple):
    """What networks are good for on validation images, (S,) each: error in per cent, and mean log loss."""

    error: Array
    loss: Array


def train(
    examples: Examples,
    settings: Hyperparameters,
    steps: int,
    batch: int,
    share: float,
    width: int,
    generators: Sequence[np.random.Generator],
) -> Networks:
    """Train S networks by stochastic gradients with momentum, all of which take their steps together.

    Rectified units, softmax, He's initial weights, inverted dropout; after every step the weights that enter a unit
    are scaled back to the largest norm. Every hidden layer is padded to ``width`` by masked units: products of other
    shapes round differently, and training amplifies that, so that a network is the same to the bit whoever is trained
    beside it only where ``width`` is a matter of its own. Its random numbers come from its own generator alone.

    Parameters
    ----------
    examples : Examples
    settings : Hyperparameters
    steps, batch : int
    share : float
        Of the examples that a network is trained on, chosen by its generator.
    width : int
        At least the largest of the networks'.
    generators : sequence of S Generator
    """
    course = _Training.begin(examples, settings, share, width, batch, steps, generators)
    with np.errstate(all="ignore"):
        for t, (rows, coins) in enumerate(course.random(steps, batch, generators)):
            course.step(examples, rows, coins, np.float32(t / max(steps - 1, 1)))
    return course.networks


class _Training(NamedTuple):
    """S networks at work: their velocities, masks, chosen examples, and hyper-parameters as (S, 1, 1) each.

    ``scratch`` is overwritten by every step: arrays as large as those of the weights, which would else be allocated
    anew several times a step.
    """

    networks: Networks
    velocities: list[Single]
    offset_velocities: list[Single]
    masks: list[Single]
    rows: np.ndarray
    columns: list[Single]
    places: list[slice]
    scratch: list[Single]

    @classmethod
    def begin(
        cls,
        examples: Examples,
        settings: Hyperparameters,
        share: float,
        width: int,
        batch: int,
        steps: int,
        generators: Sequence[np.random.Generator],
    ) -> _Training:
        d, count = examples.pixels.shape[1], len(generators)
        sizes = [np.full(count, d), *settings.widths.T, np.full(count, CLASSES)]
        padded = [d, width, width, width, CLASSES]
        masks = [(np.arange(p) < s[:, None]).astype(np.float32)[:, None] for p, s in zip(padded, sizes, strict=True)]
        weights = [np.empty((count, padded[i], padded[i + 1]), np.float32) for i in range(_FIRST)]
        rows = np.empty((count, steps, batch), dtype=np.intp)
        for s, generator in enumerate(generators):
            own = generator.permutation(len(examples.labels))[: int(share * len(examples.labels))]
            rows[s] = own[generator.integers(len(own), size=(steps, batch))]
            for i in range(_FIRST):
                drawn = generator.standard_normal((padded[i], padded[i + 1]), np.float32)
                weights[i][s] = drawn * np.float32(np.sqrt(2.0 / sizes[i][s]))
        for i in range(_FIRST):
            weights[i] *= masks[i].transpose(0, 2, 1) * masks[i + 1]
        offsets = [np.zeros((count, 1, p), np.float32) for p in padded[1:]]
        starts = [0, d, d + width, d + 2 * width]
        return cls(
            Networks(weights, offsets),
            [np.zeros_like(w) for w in weights],
            [np.zeros_like(b) for b in offsets],
            masks,
            rows,
            [np.asarray(column, np.float32)[:, None, None] for column in settings[:8]],
            [slice(start, start + p) for start, p in zip(starts, padded, strict=False)],
            [np.empty_like(w) for w in weights],
        )

    def random(
        self, steps: int, batch: int, generators: Sequence[np.random.Generator]
    ) -> Iterator[tuple[np.ndarray, Coins]]:
        """Yield, for each step, the rows (S, batch) of the examples and coins (S, batch, all units)."""
        total = self.places[-1].stop
        for begin in range(0, steps, _AHEAD):
            count = min(_AHEAD, steps - begin)
            coins = np.stack([tossed(one, (count, batch, total)) for one in generators], axis=1)
            for t in range(count):
                yield self.rows[:, begin + t], coins[t]

    def step(self, examples: Examples, rows: np.ndarray, coins: Coins, share: np.float32) -> None:
        """Take one step of all networks, at this share of their course, in place."""
        rate, fall, first, last, input_dropout, hidden_dropout, *_ = self.columns
        pace, momentum = rate * fall**share, first + (last - first) * share
        weights, offsets = self.networks
        layer, layers = examples.pixels[rows], []
        for i in range(_FIRST):
            dropout = hidden_dropout if i else input_dropout
            layer *= coins[..., self.places[i]] >= np.rint(dropout * _SIDES).astype(np.uint16)
            layer /= 1 - dropout
            layers.append(layer)
            sums = layer @ weights[i]
            sums += offsets[i]
            layer = np.maximum(sums, np.float32(0.0))
        error = _softmax(sums)
        networks, images = np.ogrid[: rows.shape[0], : rows.shape[1]]
        error[networks, images, examples.labels[rows]] -= np.float32(1.0)
        error /= np.float32(rows.shape[1])
        for i in reversed(range(_FIRST)):
            slope = np.matmul(layers[i].transpose(0, 2, 1), error, out=self.scratch[i])
            offset_slope = error.sum(axis=1, keepdims=True)
            if i:
                error = error @ weights[i].transpose(0, 2, 1)
                error *= layers[i] > 0  # 0 where a unit was left out, too
                error /= 1 - hidden_dropout
            self._move(i, slope, offset_slope, pace, momentum)

    def _move(self, i: int, slope: Single, offset_slope: Single, pace: Single, momentum: Single) -> None:
        """Move the weights and offsets of a layer along their velocities, in place; overwrites the slope."""
        decay, largest = self.columns[6:8]
        weights, offsets = self.networks.weights[i], self.networks.offsets[i]
        velocity, offset_velocity = self.velocities[i], self.offset_velocities[i]
        slope += decay * weights
        slope *= pace
        velocity *= momentum
        velocity -= slope
        offset_velocity *= momentum
        offset_velocity -= pace * offset_slope
        weights += velocity
        offsets += offset_velocity * self.masks[i + 1]
        norms = np.sqrt(np.einsum("sij,sij->sj", weights, weights))[:, None]
        if not (norms <= largest).all():
            weights *= np.minimum(np.float32(1.0), largest / np.maximum(norms, np.float32(1e-12)))


def tossed(generator: np.random.Generator, shape: tuple[int, ...]) -> Coins:
    """Return independent numbers, each of 0..65535 as probable as any other, four from 64 random bits."""
    size = int(np.prod(shape))
    bits = np.asarray(generator.bit_generator.random_raw(-(-size // 4)))
    return bits.view(np.uint16)[:size].reshape(shape)


def _softmax(sums: Single) -> Single:
    """Return the softmax over the last axis."""
    powers = np.exp(sums - sums.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def score(networks: Networks, examples: Examples) -> Scores:
    """Return error and log loss (at most 10) on examples; 90 % and ln 10, chance, of networks that diverged."""
    with np.errstate(all="ignore"):
        logits = networks.logits(examples.pixels).astype(float)
        bad = ~np.isfinite(logits).all(axis=(1, 2))
        logits = np.where(bad[:, None, None], 0.0, logits)
    error = 100.0 * (logits.argmax(axis=-1) != examples.labels).mean(axis=1)
    logits -= logits.max(axis=-1, keepdims=True)
    own = np.take_along_axis(logits, examples.labels[None, :, None], axis=2)[..., 0]
    loss = (np.log(np.exp(logits).sum(axis=-1)) - own).mean(axis=1)
    chance = 100.0 * (CLASSES - 1) / CLASSES
    return Scores(np.where(bad, chance, error), np.where(bad, np.log(CLASSES), np.minimum(loss, 10.0)))
