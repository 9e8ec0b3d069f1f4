"""Past points: every form of table gives the same points, and a run with them is repeated and resumed to the bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zoviz import AskTell, BlackBox, Run, Store, minimize
from zoviz.problems.past_points import past_points
from zoviz.runs.run_view import RunView

N = 40


def both(x: np.ndarray) -> tuple[float, float]:
    return float((x[0] - 1.0) ** 2 + 3.0 * (x[1] - 0.5) ** 2 + x[0] * x[1]), float(1.2 - x[0])


def wide(x: np.ndarray) -> tuple[float, float]:
    f, h = both(x)
    return f + 0.1 * float(np.exp(x[0])), h


def problem(**settings: Any) -> BlackBox:
    return BlackBox(both, bounds=[(-2, 2)] * 2, x0=[-1.0, 1.0], m=1, joint=True, **settings)


def table(noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (N, 2))
    return x, np.array([both(one) for one in x]) + noise * rng.standard_normal((N, 2))


class Counted:
    """A function that keeps the points of its calls."""

    def __init__(self, noise: float = 0.0) -> None:
        self.points: list[np.ndarray] = []
        self._noise, self._rng = noise, np.random.default_rng(1)

    def __call__(self, x: np.ndarray) -> tuple[float, float]:
        self.points.append(x.copy())
        f, h = both(x)
        return f + self._noise * self._rng.standard_normal(), h + self._noise * self._rng.standard_normal()

    def to_target(self, accuracy: float = 1e-3) -> int:
        """Return the calls up to the first that is feasible and within an accuracy of the best of all."""
        values = np.array([both(x) for x in self.points])
        good = np.where(values[:, 1] <= 1e-6, values[:, 0], np.inf)
        return int(np.flatnonzero(good <= good.min() + accuracy)[0]) + 1


def same(run: RunView, other: RunView) -> bool:
    ours, theirs = run.trace.snapshot().columns, other.trace.snapshot().columns
    return all(np.array_equal(ours[name], theirs[name], equal_nan=True) for name in ours if name != "seconds")


def test_a_table_is_read_from_every_form(tmp_path: Path) -> None:
    x, values = table()
    lines = ["x1,x2,f,h1", *(",".join(map(repr, row)) for row in np.hstack([x, values]).tolist())]
    named, plain = tmp_path / "named.csv", tmp_path / "plain.csv"
    named.write_text("\n".join(lines))
    plain.write_text("\n".join(lines[1:]))
    forms: list[Any] = [(x, values), (x, values[:, 0], values[:, 1]), {"x": x, "values": values}, named, str(plain)]
    for form in forms:
        read = past_points(form, problem())
        assert read is not None
        assert np.array_equal(read["x"], x)
        assert np.array_equal(read["values"], values)
    assert past_points(None, problem()) is None


def test_parquet_and_pandas_are_read(tmp_path: Path) -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    x, values = table()
    frame = pandas.DataFrame({"h1": values[:, 1], "f": values[:, 0], "x2": x[:, 1], "x1": x[:, 0], "who": "me"})
    parquet.write_table(pyarrow.Table.from_pandas(frame), tmp_path / "past.parquet")
    for form in (frame, tmp_path / "past.parquet"):
        read = past_points(form, problem())
        assert read is not None
        assert np.array_equal(np.hstack([read["x"], read["values"]]), np.hstack([x, values]))


def test_columns_have_the_names_of_variables_and_constraints_and_empty_places_are_not_known(tmp_path: Path) -> None:
    file = tmp_path / "past.csv"
    file.write_text("stress,width,length,objective\n-1.5,0.5,1.0,3.0\n,0.5,1.5,\n")
    own = problem(variable_names=["length", "width"], constraint_names=["stress"])
    read = past_points(file, own)
    assert read is not None
    assert read["x"] == [[1.0, 0.5], [1.5, 0.5]]
    assert read["values"][0] == [3.0, -1.5]
    assert np.isnan(read["values"][1]).all()


def test_the_cache_of_nomad_is_read_with_its_failures(tmp_path: Path) -> None:
    file = tmp_path / "cache.txt"
    file.write_text(
        "CACHE_HITS 2\nBB_OUTPUT_TYPE PB OBJ\n"
        "(  -2   -2.8  ) BB_EVAL_OK ( 3.8 16.84 ) SURROGATE_EVAL_NOT_STARTED ( )\n"
        "(  -1    2.2  ) BB_EVAL_FAILED ( nan 8.84 ) SURROGATE_EVAL_NOT_STARTED ( )\n"
        "(   1    0.2  ) EVAL_NOT_STARTED ( )\n"
    )
    read = past_points(file, problem())
    assert read is not None
    assert read["x"] == [[-2.0, -2.8], [-1.0, 2.2]]
    assert read["values"][0] == [16.84, 3.8]
    assert np.isnan(read["values"][1]).all()


def test_a_study_of_optuna_is_read_with_its_failed_trials() -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: Any) -> float:
        x = np.array([trial.suggest_float("x1", -2, 2), trial.suggest_float("x2", -2, 2)])
        if x[0] < -1.0:
            raise optuna.TrialPruned
        f, h = both(x)
        trial.set_constraint("c1", h)
        return -f

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0), direction="maximize")
    study.optimize(objective, n_trials=12)
    read = past_points(study, problem())
    assert read is not None
    x, values = np.array(read["x"]), np.array(read["values"])
    failed = x[:, 0] < -1.0
    assert 0 < failed.sum() < 12
    assert np.isnan(values[failed]).all()
    assert np.allclose(values[~failed], [both(one) for one in x[~failed]])


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (7, "a file, a table"),
        ((np.zeros((3, 5)), np.zeros(3)), "2 variables"),
        (({"a": 1}, 2), "numbers"),
    ],
)
def test_what_is_no_table_of_the_problem_is_refused(source: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        past_points(source, problem())


def test_files_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "past.csv"
    for text, sentence in (("", "empty"), ("x1,f\n1,2\n", "columns x1, x2"), ("1,2,3\n1,b,3\n", "3 numbers a line")):
        file.write_text(text)
        with pytest.raises(ValueError, match=sentence):
            past_points(file, problem())


def test_past_points_are_refused_beside_constraints_that_are_kept() -> None:
    with pytest.raises(ValueError, match="kept while searching"):
        past_points(table(), problem(keep="while searching"))


def calls_to_target(past: Any, noise: float = 0.0) -> int:
    counted = Counted(noise)
    settings = {"bounds": [(-2, 2)] * 2, "joint": True, "noise": "independent" if noise else None, "max_calls": 150}
    minimize(counted, [-1.0, 1.0], past=past, **settings)
    return counted.to_target()


def test_fewer_calls_are_needed_and_none_for_a_point_that_is_known() -> None:
    x, values = table()
    assert calls_to_target((x, values)) < 0.7 * calls_to_target(None)
    counted = Counted()
    result = minimize(counted, [-1.0, 1.0], bounds=[(-2, 2)] * 2, joint=True, noise="deterministic", past=(x, values))
    best = min(range(N), key=lambda i: values[i, 0] + 1e3 * max(values[i, 1], 0.0))
    known = [i for i in range(N) if any(np.array_equal(point, x[i]) for point in counted.points)]
    assert known in ([], [best])
    assert "40 past points were known" in result.message
    assert len(counted.points) == result.calls


def test_values_that_are_wrong_are_found_out_and_do_no_harm() -> None:
    x, values = table()
    for wrong in (1.2 * values, values + [0.0, 5.0]):
        counted = Counted()
        result = minimize(counted, [-1.0, 1.0], bounds=[(-2, 2)] * 2, joint=True, past=(x, wrong))
        assert "none of them counts as a value" in result.message
        assert result.success
        assert result.fun == pytest.approx(minimize(both, [-1.0, 1.0], bounds=[(-2, 2)] * 2, joint=True).fun, abs=1e-5)


def test_under_noise_past_values_serve_where_noise_explains_the_difference() -> None:
    x, values = table(0.01)
    result = minimize(Counted(0.01), [-1.0, 1.0], bounds=[(-2, 2)] * 2, joint=True, max_calls=150, past=(x, values))
    assert "40 past points were known" in result.message
    wrong = minimize(Counted(0.01), [-1.0, 1.0], bounds=[(-2, 2)] * 2, joint=True, max_calls=150, past=(x, values * 2))
    assert "none of them counts as a value" in wrong.message


def test_points_without_constraints_only_tell_where_calls_fail() -> None:
    x, values = table()
    run = Run(problem(), "ZOSQP", replicas=1, calls=60, past=(x, values[:, 0]))
    run.run()
    assert "none has all values" in run.message


@pytest.mark.parametrize("noise", ["deterministic", "independent"])
def test_ask_and_tell_gives_the_same_points_as_a_run(noise: str) -> None:
    past = table()
    run = Run(problem(noise=noise), "ZOSQP", replicas=1, calls=60, seed=3, past=past)
    result = run.run()
    session = AskTell(problem(noise=noise), "ZOSQP", calls=60, seed=3, past=past)
    while not session.done:
        batch = session.ask()
        f, h = np.array([both(x) for x in batch.x]).T
        session.tell(batch, f, h)
    assert np.array_equal(session.result.x, result.x)
    assert np.array_equal(session.result.calls, result.calls)


def test_a_run_with_past_points_is_replayed_resumed_and_forked_to_the_bit(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}", trusted=[both.__module__])
    for past in (table(), (table()[0], 1.2 * table()[1])):
        whole = Run(problem(), "ZOSQP", replicas=2, calls=36, past=past)
        whole.run()
        assert same(_ran(whole.replay()), whole)
        part = Run(problem(), "ZOSQP", replicas=2, calls=36, past=past, store=store, checkpoint="every call")
        part.run(lambda part=part: part.interrupt() if part.progress.iteration == 3 else None)
        resumed = store.load(part.id).resume(problem=problem())
        resumed.run()
        assert same(resumed, whole)
        assert same(_ran(store.load(part.id).fork(5, problem=problem(), calls=36)), whole)
    store.close()


def _ran(run: Run) -> Run:
    run.run()
    return run


def test_a_run_that_was_stored_with_every_call_is_known_to_another(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        first = Run(problem(), "ZOSQP", replicas=1, calls=60, store=store, checkpoint="every call")
        result = first.run()
        read = past_points(store.load(first.id), problem())
        assert read is not None
        assert len(read["x"]) >= result.calls[0] - 1  # the last may be a check, which a run that goes on would not make
        assert np.allclose(read["values"], [both(np.array(x)) for x in read["x"]])
        again = Run(problem(), "ZOSQP", replicas=1, calls=15, past=store.load(first.id))
        assert again.run().best_fun[0] <= result.best_fun[0] + 1e-9
