"""Fair classification: losses, gradients, samples, the optimum against SciPy, and data that need a network."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from scipy.optimize import minimize

from zoviz.core.errors import MissingExtra, ZovizError
from zoviz.core.streams import Streams
from zoviz.problems import FairClassification
from zoviz.problems.learning.tables import table
from zoviz.problems.margin_losses import LOSSES, logistic_optimum, margin_loss

pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')
EACH_LOSS = pytest.mark.parametrize("loss", LOSSES)


def test_the_losses_are_those_of_the_paper() -> None:
    u, mu = np.array([-2.0, -1.0, -0.5, 0.0, 0.3, 1.0, 3.0]), 1.7
    difference = np.log(1 + np.exp(-u)) - np.log(1 + np.exp(-u - mu))
    np.testing.assert_allclose(margin_loss("logistic difference", mu).value(u), difference, rtol=1e-12)
    smooth = np.where(u > 1, 0.0, np.where(u < -1, 1.0, u**3 / 4 - 3 * u / 4 + 0.5))
    np.testing.assert_allclose(margin_loss("smoothed 0-1", mu).value(u), smooth, atol=1e-15)
    assert np.isfinite(margin_loss("logistic", mu).value(np.array([-1e4, 1e4]))).all()


@EACH_LOSS
def test_slopes_and_bounds_of_a_loss(loss: str) -> None:
    result, u, h = margin_loss(loss, 2.5), np.linspace(-8, 8, 4001), 1e-5
    np.testing.assert_allclose(result.slope(u), (result.value(u + h) - result.value(u - h)) / (2 * h), atol=2e-5)
    bend = (result.slope(u + h) - result.slope(u - h)) / (2 * h)
    assert np.abs(result.slope(u)).max() <= result.steepest * (1 + 1e-9)
    assert bend.max() <= result.bend * (1 + 1e-6) and bend.min() >= -result.concavity - 1e-6
    assert np.abs(result.slope(u)).max() >= 0.95 * result.steepest, "a bound should be near what it bounds"


@EACH_LOSS
def test_a_sampled_gradient_is_that_of_the_sampled_value(loss: str) -> None:
    problem, streams = FairClassification(loss=loss, people=3), Streams(1, 4)
    x, xi, h = problem.initial(streams), problem.draw(0, streams, size=2), 1e-6
    gradient = problem.stochastic_gradient(x, xi)
    steps = h * np.eye(x.shape[1])
    ahead, behind = (problem.evaluate(x[:, None] + s * steps, xi).f for s in (1, -1))  # probes that share a sample
    np.testing.assert_allclose(gradient, (ahead - behind) / (2 * h), atol=1e-7)
    many = problem.stochastic_gradient(np.repeat(x[:, None], 5, axis=1), xi)
    np.testing.assert_allclose(many, np.repeat(gradient[:, None], 5, axis=1), rtol=1e-12)
    for r in range(4):
        rows = problem.data.table.features[xi.person[r]] * problem.data.table.labels[xi.person[r], None]
        mean = problem.data.loss.value(rows @ x[r]).mean() + 0.5 * problem.ridge * x[r] @ x[r]
        assert problem.evaluate(x, xi).f[r] == pytest.approx(mean, rel=1e-12)


def test_points_of_a_batch_may_have_samples_of_their_own() -> None:
    problem, streams = FairClassification(), Streams(1, 2)
    xi = problem.draw(0, streams, (3,), size=2)
    assert xi.person.shape == (2, 3, 2 * problem.people)
    x = problem.initial(Streams(5, 6)).reshape(2, 3, -1)
    value, gradient = problem.evaluate(x, xi), problem.stochastic_gradient(x, xi)
    for r, q in np.ndindex(2, 3):
        alone = problem.draw(0, Streams(0, 1))
        alone.person = xi.person[r, q][None]
        np.testing.assert_allclose(value.f[r, q], problem.evaluate(x[r, q][None], alone).f[0], rtol=1e-12)
        np.testing.assert_allclose(gradient[r, q], problem.stochastic_gradient(x[r, q][None], alone)[0], rtol=1e-10)


def test_sampled_gradients_are_unbiased() -> None:
    problem, replicas = FairClassification(people=1), 40_000
    x = np.repeat(problem.initial(Streams(0, 1)), replicas, axis=0)
    sampled = problem.stochastic_gradient(x, problem.draw(0, Streams(7, replicas)))
    error = sampled.std(axis=0, ddof=1) / np.sqrt(replicas)
    off = np.abs(sampled.mean(axis=0) - problem.stochastic_gradient(x[:1])[0]) / error
    assert off.max() < 4.5, "of 28 means, each with its standard error"
    assert error.max() < 0.02, "or the test could not fail"


def test_a_replica_draws_the_same_people_whatever_the_others_do() -> None:
    problem = FairClassification()
    many, few = (problem.draw(0, Streams(3, r), size=4).person for r in (6, 2))
    np.testing.assert_array_equal(many[:2], few)
    assert (many[0] != many[1]).any()


def test_rows_and_their_adjoint() -> None:
    problem, rng = FairClassification(bound=0.3), np.random.default_rng(0)
    x, y = rng.standard_normal((5, problem.domain.n)), rng.standard_normal((5, 2))
    rows = problem.data.table
    scores = x @ rows.features.T
    covariance = np.array([np.mean((rows.sensitive - rows.sensitive.mean()) * score) for score in scores])
    np.testing.assert_allclose(problem.residual(x), np.stack([covariance - 0.3, -covariance - 0.3], -1), atol=1e-12)
    linear = problem.residual(x) + 0.3
    np.testing.assert_allclose((linear * y).sum(-1), (x * problem.adjoint(y)).sum(-1), rtol=1e-10)


@pytest.mark.parametrize("bound", [2.0, 0.2, 0.02])
def test_the_known_optimum_is_slsqps(bound: float) -> None:
    problem = FairClassification(bound=bound)
    a, _ = problem.matrix()
    rows = {"type": "ineq", "fun": lambda x: -problem.residual(x), "jac": lambda x: -a}
    solution = minimize(
        lambda x: float(problem.evaluate(x).f),
        np.zeros(problem.domain.n),
        jac=lambda x: problem.stochastic_gradient(x),
        constraints=[rows],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert problem.known_optimum.value == pytest.approx(solution.fun, rel=1e-6)
    np.testing.assert_allclose(problem.known_optimum.point, solution.x, atol=2e-3)
    assert (problem.known_optimum.multipliers.max() > 0) == (bound < 1.0)


def test_no_optimum_is_claimed_where_it_is_not_known() -> None:
    assert FairClassification(loss="smoothed 0-1").known_optimum is None
    assert FairClassification(half_width=0.5).known_optimum is None
    separable = np.array([[1.0, 0.2], [2.0, -0.1]])
    assert logistic_optimum(separable, 0.0) is None


def test_accuracy_and_covariance() -> None:
    problem = FairClassification()
    rows, x = problem.data.table, problem.initial(Streams(2, 3))
    assert rows.features.shape == (569, 28) and "texture" not in " ".join(rows.names)
    np.testing.assert_allclose(rows.features[:, :-1].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(rows.features[:, :-1].std(axis=0), 1.0, rtol=1e-12)
    assert abs(rows.sensitive.mean() - 0.5) < 0.01
    measured = problem.metrics(x, None, None)
    for r in range(3):
        decided = np.where(rows.features @ x[r] >= 0, 1.0, -1.0)
        assert measured["accuracy"][r] == pytest.approx(np.mean(decided == rows.labels))
    np.testing.assert_allclose(measured["covariance"], np.abs(problem.residual(x)[:, 0] + problem.bound), rtol=1e-12)


def test_a_test_split_leaves_people_out_and_keeps_their_labels_right() -> None:
    whole = FairClassification().data.table
    problem = FairClassification(test_share=0.3, label_noise=0.2, split_seed=4)
    train, test = problem.data.table, problem.data.test
    assert (len(train.labels), len(test.labels)) == (398, 171)
    rows = {row.tobytes(): label for row, label in zip(whole.features, whole.labels, strict=True)}
    right = np.array([rows[row.tobytes()] for row in train.features])
    assert (right != train.labels).sum() == round(0.2 * 398)
    assert [rows[row.tobytes()] for row in test.features] == test.labels.tolist()
    assert not {row.tobytes() for row in train.features} & {row.tobytes() for row in test.features}
    other = FairClassification(test_share=0.3, split_seed=5).data.test
    assert (other.features != test.features).any()


def test_parity_is_that_of_both_groups_among_the_test_s_people() -> None:
    problem = FairClassification(test_share=0.4)
    test, x = problem.data.test, 3.0 * problem.initial(Streams(2, 4))
    x[3] = 0.0
    x[3, -1] = -1.0  # nobody
    measured = problem.metrics(x, None, None)
    for r in range(4):
        decided = test.features @ x[r] >= 0
        one, other = (float(decided[test.sensitive == z].mean()) for z in (1, 0))
        assert measured["parity_difference"][r] == pytest.approx(abs(one - other))
        ratio = min(one, other) / max(one, other) if max(one, other) else 1.0
        assert measured["p_rule"][r] == pytest.approx(ratio)
        assert measured["test_accuracy"][r] == pytest.approx(np.mean(decided == (test.labels > 0)))
    assert measured["p_rule"][3] == 1.0 and (measured["p_rule"][:3] < 1.0).all()


def test_arrests_are_a_file_of_a_package_that_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "sklego" / "data"
    folder.mkdir(parents=True)
    (tmp_path / "sklego" / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    text = "released,colour,age,sex\nYes,White,20,Male\nNo,Black,30,Female\nYes,Black,40,Male\n"
    with zipfile.ZipFile(folder / "arrests.zip", "w") as file:
        file.writestr("arrests.csv", text)
    monkeypatch.syspath_prepend(tmp_path)
    result = table("arrests")
    assert result.names == ("age", "sex = Female", "sex = Male", "intercept")
    assert result.labels.tolist() == [1.0, -1.0, 1.0] and result.sensitive.tolist() == [0.0, 1.0, 1.0]


class Frame(dict):
    """As little of a data frame as is needed."""

    def __init__(self, **columns: Any) -> None:
        super().__init__({name.replace("_h_", "-"): np.array(values) for name, values in columns.items()})
        self.columns = SimpleNamespace(drop=lambda left_out: [name for name in self if name not in left_out])

    def __getitem__(self, name: str) -> Any:
        values = super().__getitem__(name)
        return Column(values)

    def dropna(self) -> Frame:
        return self


class Column(list):
    def __init__(self, values: Any) -> None:
        super().__init__(values)

    def to_numpy(self) -> Any:
        return np.array(list(self), dtype=object)

    def astype(self, kind: type) -> Column:
        return Column([kind(value) for value in self])


def test_data_of_openml_are_made_into_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = Frame(
        age=[20, 30, 40, 50],
        job=["a", "b", "a", "c"],
        sex=["Male", "Female", "Female", "Male"],
    )
    dict.__setitem__(frame, "class", np.array([">50K", "<=50K", ">50K", "<=50K"]))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: SimpleNamespace(frame=frame))
    result = table("adult")
    assert result.names == ("age", "job = a", "job = b", "job = c", "intercept")
    assert result.labels.tolist() == [1.0, -1.0, 1.0, -1.0] and result.sensitive.tolist() == [0.0, 1.0, 1.0, 0.0]
    np.testing.assert_allclose(result.features[:, 1], [1.0, -1.0, 1.0, -1.0])
    assert result.features.shape == (4, 5) and (result.features[:, -1] == 1.0).all()
    assert FairClassification(source="adult").domain.n == 5


def test_without_a_network_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> None:
        raise URLError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)
    with pytest.raises(ZovizError, match='got no answer .*connect to a network, or choose the data "breast cancer"'):
        _ = FairClassification(source="german credit").domain


def test_without_scikit_learn_the_command_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r'pip install "zoviz\[data\]"'):
        _ = FairClassification().domain
