"""The black-box attack: its loss against scikit-learn's own forward pass, its samples, and what leaves x alone."""

from __future__ import annotations

from typing import Any
from urllib.error import URLError

import numpy as np
import pytest

pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')

from zoviz import Run  # noqa: E402
from zoviz.core.errors import ZovizError  # noqa: E402
from zoviz.core.streams import Streams  # noqa: E402
from zoviz.core.types import Iterate  # noqa: E402
from zoviz.problems import BlackBoxAttack  # noqa: E402
from zoviz.problems.learning import images as images_module  # noqa: E402
from zoviz.problems.learning.blackbox_attack import CLASSIFIER_SHARE, STREAM_END  # noqa: E402
from zoviz.problems.learning.images import images  # noqa: E402
from zoviz.solvers import ZOGD  # noqa: E402

R = 3


@pytest.fixture(scope="module")
def problem() -> BlackBoxAttack:
    attack = BlackBoxAttack(penalty=0.3, confidence=0.7)
    assert attack.data is not None, "trained here: an unbuilt one's clones would each train a network of their own"
    return attack


def by_hand(problem: BlackBoxAttack, y: np.ndarray, rows: np.ndarray, share: tuple[float, float]) -> float:
    """Mean loss on images of a part of the data, one by one, the network written out."""
    part, net, total = images("digits").part(*share), problem.data.network, 0.0
    for row in rows:
        a = 10.0 * part.pixels[row] - 5.0 + y
        z = np.maximum(a @ net.first + net.shift, 0.0) @ net.second + net.offset
        label = part.labels[row]
        total += max(z[label] - max(z[j] for j in range(10) if j != label), -problem.confidence)
    return total / len(rows)


def test_both_levels_are_those_of_the_docstring(problem: BlackBoxAttack) -> None:
    streams = Streams(0, R)
    x, xi = problem.initial(streams), problem.draw(0, streams, size=(5, 8))
    y = 2.0 * streams.normal("test", problem.n)
    outer, inner = problem.outer(x, y, xi), problem.inner(x, y, xi)
    assert xi.outer.shape == (R, 5) and xi.inner.shape == (R, 8)
    for r in range(R):
        assert outer[r] == pytest.approx(by_hand(problem, y[r], xi.outer[r], (CLASSIFIER_SHARE, STREAM_END)), rel=1e-12)
        cost = sum(np.exp(x[r, i]) * y[r, i] ** 2 for i in range(problem.n))
        expected = by_hand(problem, y[r], xi.inner[r], (CLASSIFIER_SHARE, STREAM_END)) + 0.15 * cost
        assert inner[r] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_array_equal(problem.outer(x + 0.1, y, xi), outer)


def test_measures_are_taken_on_images_that_neither_network_nor_stream_have_seen(problem: BlackBoxAttack) -> None:
    streams = Streams(0, R)
    x, y = problem.initial(streams), 2.0 * streams.normal("test", problem.n)
    measures = problem.measures(Iterate(x, inner=y), None)
    test = images("digits").part(STREAM_END, 1.0)
    rows = np.arange(len(test.labels))
    for r in range(R):
        assert measures["loss"][r] == pytest.approx(by_hand(problem, y[r], rows, (STREAM_END, 1.0)), rel=1e-12)
        read = problem.classes(y[r : r + 1], problem.data.test)[0]
        assert measures["accuracy"][r] == pytest.approx((read == test.labels).mean())
        assert measures["perturbation"][r] == max(abs(y[r]))
    clean = problem.measures(Iterate(x, inner=0.0 * y), None)["accuracy"]
    assert (clean > 0.93).all(), "the network is worth an attack"


@pytest.mark.parametrize(("dataset", "n"), [("mnist", 784), ("cifar-10", 3072)])
def test_other_images_come_through_the_same_interface(dataset: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    arrays = rng.integers(0, 256, (400, n)), rng.integers(0, 10, 400).astype(str)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *_, **__: arrays)
    problem, streams = BlackBoxAttack(dataset=dataset, epochs=1, hidden_units=3, seed=99), Streams(0, 2)
    x, y = problem.initial(streams), problem.initial_inner(streams)
    assert problem.n == n and problem.inner(x, y, problem.draw(0, streams, size=(2, 3))).shape == (2,)
    assert -5.0 <= problem.data.stream.pixels.min() < -4.9 and 4.9 < problem.data.stream.pixels.max() <= 5.0


def test_colours_of_a_pixel_stand_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    planes = np.tile(np.repeat([0.0, 51.0, 255.0], 1024), (20, 1))  # the file has one colour after the other
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *_, **__: (planes, np.full(20, "7")))
    loaded = images("cifar-10")
    assert (loaded.side, loaded.colours) == (32, 3)
    np.testing.assert_allclose(loaded.part(0.0, 0.5).pixels[3].reshape(32, 32, 3)[7, 9], [0.0, 0.2, 1.0])


def test_mnist_without_a_network_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise URLError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)
    with pytest.raises(ZovizError, match="'mnist' from openml.org, got no answer .*: connect to a network, or choose"):
        _ = BlackBoxAttack(dataset="mnist").n


def test_a_few_rounds_mislead_the_network_and_leave_the_weights() -> None:
    solver = ZOGD(inner_step=1.0, inner_batch=32)
    run = Run(problem=BlackBoxAttack(penalty=0.01), solver=solver, replicas=2, iterations=150)
    run.run()
    accuracy = run.trace["accuracy"]
    assert (accuracy[-1] < 0.7 * accuracy[0]).all()
    assert (run.trace["perturbation"] <= 5.0).all() and (run.trace["weight"] == run.trace["weight"][0]).all()
    assert "inner" in run.path.snapshot().columns, "the picture follows the perturbation"


def test_deterministic_rounds_see_every_image(problem: BlackBoxAttack) -> None:
    exact, streams = BlackBoxAttack(noise="deterministic"), Streams(0, 2)
    x, y = exact.initial(streams), streams.normal("test", exact.n)
    xi = exact.draw(0, streams, size=(3, 3))
    every = exact.outer(x, y, exact.exact(xi))
    np.testing.assert_allclose(exact.outer(x, y, xi), every, rtol=1e-12)
    means = np.mean([problem.clone().draw(t, streams, size=(3, 3)).outer.mean() for t in range(200)])
    assert abs(means - (len(exact.data.stream.labels) - 1) / 2) < 20, "a draw is uniform"


def test_a_network_is_trained_once_for_a_problem_and_its_clones(monkeypatch: pytest.MonkeyPatch) -> None:
    from zoviz.problems.learning import blackbox_attack

    epochs: list[int] = []

    def classifier(*args: Any) -> Any:
        epochs.append(args[4])
        return images_module.classifier(*args)

    monkeypatch.setattr(blackbox_attack, "classifier", classifier)
    attack = BlackBoxAttack(epochs=1)
    first = attack.data.network
    attack.penalty = 0.2  # no matter of the network
    assert attack.data.network is first and attack.clone().data.network is first and epochs == [1]
    attack.epochs = 2
    assert attack.data.network is not first and epochs == [1, 2]
    other = BlackBoxAttack(epochs=2)
    other.take_data(attack)
    other.confidence = 0.1
    assert other.data.network is attack.data.network and epochs == [1, 2]


def test_stages_show_other_classes_and_are_marked() -> None:
    problem = BlackBoxAttack(hidden_units=4, epochs=1, stages=2, stage_rounds=5)
    labels = problem.data.stream.labels
    for t, parity in ((0, 0), (4, 0), (5, 1), (11, 0)):
        sample = problem.draw(t, Streams(0, 2), size=(30, 40))
        assert (labels[sample.outer] % 2 == parity).all() and (labels[sample.inner] % 2 == parity).all()
        assert len(np.unique(labels[sample.inner])) == 5
    assert problem.phases(11) == [(5, "stage 2 of 2"), (10, "stage 1 of 2")]
    assert BlackBoxAttack().phases(10**6) == []
