"""Loss tuning: the network against PyTorch's own layers, both losses written out, the shares of the classes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from helpers.project import ROOT

pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')
torch = pytest.importorskip("torch", reason='python -m pip install "zoviz[torch]"')

from zoviz.core.errors import MissingExtra  # noqa: E402
from zoviz.core.streams import Streams  # noqa: E402
from zoviz.core.types import Array, Iterate  # noqa: E402
from zoviz.problems import LossTuning  # noqa: E402
from zoviz.problems.learning.convnet import ConvNet  # noqa: E402

R = 3


def layers(net: ConvNet, y: Array, pixels: Array) -> Array:
    """The same network of one replica from PyTorch's layers."""
    parts, at = [], 0
    for layer in net.layers:
        weights = torch.tensor(y[at : at + layer.outputs * layer.inputs].reshape(layer.outputs, layer.inputs))
        at += layer.outputs * layer.inputs
        parts.append((weights, torch.tensor(y[at : at + layer.outputs])))
        at += layer.outputs
    assert at == net.d
    z = torch.tensor(pixels).reshape(-1, net.side, net.side, net.colours).permute(0, 3, 1, 2)
    for weights, offsets in parts[:2]:
        # A row of weights goes channel by channel, each with its 3 x 3 taps.
        kernel = weights.reshape(len(weights), -1, 3, 3)
        z = torch.relu(torch.nn.functional.conv2d(z, kernel, offsets, padding=1, stride=2))
    z = z.permute(0, 2, 3, 1).flatten(1)
    z = torch.relu(torch.nn.functional.linear(z, *parts[2]))
    return torch.nn.functional.linear(z, *parts[3]).numpy()


@pytest.mark.parametrize(("side", "colours"), [(8, 1), (28, 1), (32, 3)])
def test_the_network_is_the_one_of_its_docstring(side: int, colours: int) -> None:
    net, rng = ConvNet(side, (2, 3), 5, colours), np.random.default_rng(0)
    y, pixels = net.start(rng.standard_normal((R, net.d))), rng.standard_normal((R, 4, side * side * colours))
    y += 0.1 * rng.standard_normal(y.shape)
    result = net.read(y, pixels)
    for r in range(R):
        np.testing.assert_allclose(result[r], layers(net, y[r], pixels[r]), rtol=1e-11, atol=1e-12)


def test_both_losses_are_those_of_the_docstring() -> None:
    problem, streams = LossTuning(channels=2, hidden_units=5, decay=0.3), Streams(0, R)
    y, xi = problem.initial_inner(streams), problem.draw(120, streams, size=(30, 20))
    indices = {level: rows.astype(int) for level, rows in vars(xi).items() if level != "phase"}
    x = problem.domain.sample(streams.uniform("test", problem.n))
    stream, net = problem.data.stream, problem.data.network
    outer, inner = problem.outer(x, y, xi), problem.inner(x, y, xi)
    for r in range(R):
        labels = stream.labels[indices["outer"][r]]
        z = net.read(y[r : r + 1], 2.0 * stream.pixels[indices["outer"][r]][None] - 1.0)[0]
        total = 0.0
        for row, label in zip(z, labels, strict=True):
            share = (labels == label).mean()
            total -= np.log(np.exp(row[label]) / np.exp(row).sum()) / share
        assert outer[r] == pytest.approx(total / len(labels), rel=1e-11)
        labels = stream.labels[indices["inner"][r]]
        z = net.read(y[r : r + 1], 2.0 * stream.pixels[indices["inner"][r]][None] - 1.0)[0]
        total = 0.0
        for row, label in zip(z, labels, strict=True):
            adjusted = np.exp(x[r, 10:] * row + x[r, :10])
            total -= np.log(adjusted[label] / adjusted.sum())
        assert inner[r] == pytest.approx(total / len(labels) + 0.15 * (y[r] ** 2).sum(), rel=1e-11)


def test_classes_come_in_the_phases_shares() -> None:
    problem, streams = LossTuning(phase_length=7), Streams(0, 2)
    for t, ratio in ((0, 0.4), (6, 0.4), (7, 0.4 + 0.4 / 3), (20, 0.4 + 0.8 / 3), (21, 0.8), (500, 0.8)):
        xi = problem.draw(t, streams, size=(4000, 4000))
        expected = ratio ** np.arange(10) / (ratio ** np.arange(10)).sum()
        for rows in (xi.outer, xi.inner):
            shares = np.bincount(problem.data.stream.labels[rows.astype(int)].ravel(), minlength=10) / rows.size
            assert (np.abs(shares - expected) <= 5.0 * np.sqrt(expected / rows.size) + 1e-3).all()
        even = problem.exact(xi).outer
        shares = np.bincount(problem.data.stream.labels[even[0].astype(int)], minlength=10) / even.shape[1]
        np.testing.assert_allclose(shares, expected, atol=1.0 / even.shape[1])
    assert problem.phases(20) == [(7, "ratio 0.533"), (14, "ratio 0.667")]


def test_accuracies_are_means_over_classes() -> None:
    problem, streams = LossTuning(channels=2, hidden_units=5), Streams(0, 2)
    x, y, xi = problem.initial(streams), problem.initial_inner(streams), problem.draw(0, streams, size=(4, 4))
    measures = problem.measures(Iterate(x, inner=y), xi)
    test, shares = problem.data.test, 0.4 ** np.arange(10) / (0.4 ** np.arange(10)).sum()
    for r in range(2):
        read = problem.data.network.read(y[r : r + 1], 2.0 * test.pixels[None] - 1.0)[0].argmax(axis=1)
        by_class = np.array([(read[test.labels == label] == label).mean() for label in range(10)])
        assert measures["balanced_accuracy"][r] == pytest.approx(by_class.mean())
        assert measures["test_accuracy"][r] == pytest.approx(by_class @ shares)
        assert measures["plain_accuracy"][r] == pytest.approx((read == test.labels).mean())
        assert measures["phase"][r] == 1.0


def test_a_few_hundred_steps_of_the_follower_learn() -> None:
    problem, streams = LossTuning(ratios=[1.0]), Streams(0, 1)
    x, y = problem.initial(streams), problem.initial_inner(streams)
    for t in range(150):
        xi = problem.draw(t, streams, size=(1, 64))
        y = y - 0.1 * problem.inner_gradient(x, y, xi)
    assert problem.measures(Iterate(x, inner=y), xi)["balanced_accuracy"][0] > 0.7


def test_ratios_must_be_positive() -> None:
    with pytest.raises(ValueError, match="Expected ratios > 0"):
        _ = LossTuning(ratios=[0.5, 0.0]).data


@pytest.mark.parametrize("module, extra", [("torch", "torch"), ("sklearn", "data")])
def test_what_is_missing_is_said_with_the_command(monkeypatch: pytest.MonkeyPatch, module: str, extra: str) -> None:
    problem, streams = LossTuning(channels=2), Streams(0, 1)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf'pip install "zoviz\[{extra}\]"'):
        problem.inner(problem.initial(streams), problem.initial_inner(streams), problem.draw(0, streams))


def test_importing_the_problems_loads_neither_pytorch_nor_scikit_learn() -> None:
    script = "import sys, zoviz.problems; print(*sorted({'torch', 'sklearn'} & set(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=240)
    assert process.returncode == 0 and process.stdout.split() == [], process.stderr


def test_a_sample_holds_indices() -> None:
    problem = LossTuning(channels=2, hidden_units=5)
    xi = problem.draw(0, Streams(0, 2), size=(4, 4))
    assert xi.outer.dtype == np.intp and xi.inner.dtype == np.intp
