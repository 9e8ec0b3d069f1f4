"""A small convolutional network in PyTorch, for many replicas at once, each with its own weights and images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.optional import require
from zoviz.core.types import Array
from zoviz.problems.learning.images import CLASSES

Loss = Callable[[Any, Any], Any]
"""Tensors x (B, n) and y (B, d) to the losses (B,), each of which depends on its own row only."""
KERNEL = 9
"""Taps of a 3 x 3 kernel."""


def torch() -> Any:
    """Import PyTorch and return its module."""
    return require("torch", "torch")


class Layer(NamedTuple):
    """The places of a layer's weights (outputs, inputs) and offsets (outputs,) in the flat vector of all weights."""

    outputs: int
    inputs: int
    start: int


class ConvNet:
    """A network of two 3 x 3 convolutions of stride 2 and two full layers; all but the last are rectified.

    Weights are flat vectors y, so that a network is a point: ``d`` numbers, layer by layer, each its weights, then its
    offsets.

    Parameters
    ----------
    side : int
        Pixels of an image's edge.
    channels : tuple of int
        Of the two convolutions.
    hidden : int
        Units of the first full layer.
    colours : int
        Of a pixel.
    """

    def __init__(self, side: int, channels: tuple[int, int], hidden: int, colours: int = 1) -> None:
        self.side, self.colours = side, colours
        shapes = [
            (channels[0], KERNEL * colours),
            (channels[1], KERNEL * channels[0]),
            (hidden, channels[1] * (side // 4) ** 2),
            (CLASSES, hidden),
        ]
        self.layers, self.d = [], 0
        for outputs, inputs in shapes:
            self.layers.append(Layer(outputs, inputs, self.d))
            self.d += outputs * (inputs + 1)

    def start(self, normal: Array) -> Array:
        """Return weights (R, d) made of standard normal numbers (R, d): of variance 2 / inputs, offsets 0."""
        y = np.zeros_like(normal)
        for layer in self.layers:
            span = slice(layer.start, layer.start + layer.outputs * layer.inputs)
            y[:, span] = np.sqrt(2.0 / layer.inputs) * normal[:, span]
        return y

    def read(self, y: Array, pixels: Array) -> Array:
        """Return the logits (B, b, classes) of B networks as an array, without derivatives."""
        with torch().no_grad():
            return self.logits(torch().tensor(y), torch().tensor(pixels)).numpy()

    def logits(self, y: Any, pixels: Any) -> Any:
        """Return the logits (B, b, classes) of B networks y (B, d), each on its own images (B, b, side^2 colours)."""
        z = pixels.reshape(*pixels.shape[:2], self.side, self.side, self.colours)
        for layer in self.layers[:2]:
            z = torch().relu(self._full(y, layer, self._patches(z)))
        z = z.reshape(*pixels.shape[:2], -1)
        return self._full(y, self.layers[3], torch().relu(self._full(y, self.layers[2], z)))

    def _full(self, y: Any, layer: Layer, z: Any) -> Any:
        """Apply a full layer to z (B, ..., inputs): one product for each network."""
        middle, end = layer.start + layer.outputs * layer.inputs, layer.start + layer.outputs * (layer.inputs + 1)
        weights = y[:, layer.start : middle].reshape(-1, layer.outputs, layer.inputs)
        out = z.reshape(len(z), -1, layer.inputs) @ weights.transpose(1, 2) + y[:, None, middle:end]
        return out.reshape(*z.shape[:-1], layer.outputs)

    def _patches(self, z: Any) -> Any:
        """Cut the 3 x 3 neighbours of every second pixel, (B, b, side, side, c) to (B, b, side / 2, side / 2, 9 c)."""
        patches = torch().nn.functional.pad(z, (0, 0, 1, 1, 1, 1)).unfold(2, 3, 2).unfold(3, 3, 2)
        return patches.reshape(*patches.shape[:4], -1)


def values(loss: Loss, x: Array, y: Array) -> Array:
    """Return a loss (B,) at B points x (B, n), y (B, d), without derivatives."""
    with torch().no_grad():
        return loss(torch().tensor(x), torch().tensor(y)).numpy()


def slope(loss: Loss, x: Array, y: Array) -> Array:
    """Return the gradient of a loss in y, (B, d), at points x (B, n), y (B, d)."""
    follower = torch().tensor(y, requires_grad=True)
    return torch().autograd.grad(loss(torch().tensor(x), follower).sum(), follower)[0].numpy()


def product(loss: Loss, x: Array, y: Array, v: Array, of: str) -> Array:
    """Return the gradient in x (B, n) or in y (B, d), as ``of`` says, of <gradient of the loss in y, v>."""
    leader, follower = torch().tensor(x, requires_grad=True), torch().tensor(y, requires_grad=True)
    (inner,) = torch().autograd.grad(loss(leader, follower).sum(), follower, create_graph=True)
    place = leader if of == "x" else follower
    return torch().autograd.grad((inner * torch().tensor(v)).sum(), place)[0].numpy()
