"""A generator of the gest-api standard: a Run's points through Xopt and libEnsemble, failures, resumption."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.doors import BOUNDS, CALLS, START, Ledger, assert_same_result, finished_run

gest_api = pytest.importorskip("gest_api.vocs", reason='python -m pip install "zoviz[gest]"')
from zoviz.adapters.gest import ZovizGenerator  # noqa: E402  # once it is known that it can be

SHIFT = 2.5
"""The second constraint is given as a value with a limit, the first as one between two."""


def vocs(**changes: Any) -> Any:
    variables = {
        name: {"type": "ContinuousVariable", "domain": list(ends), "default_value": start}
        for name, ends, start in zip("xy", BOUNDS, START, strict=True)
    }
    given = {"variables": variables, "objectives": {"f": "MINIMIZE"}}
    given |= {"constraints": {"right": ["BOUNDS", 1.0, 1.75], "low": ["LESS_THAN", SHIFT]}, "constants": {"kind": "a"}}
    return gest_api.VOCS(**given | changes)


class Values:
    """The noisy function in the words of the VOCS, and in those of a Run: rows h <= 0, lower limits first."""

    def __init__(self) -> None:
        self.ledger = Ledger()

    def named(self, point: dict[str, Any]) -> dict[str, float]:
        f, h = self.ledger(np.array([point["x"], point["y"]]))
        return {"f": f, "right": 1.0 - h[0], "low": h[1] + SHIFT}

    def rows(self, x: np.ndarray) -> tuple[float, list[float]]:
        values = self.named({"x": x[0], "y": x[1]})
        right, low = values["right"], values["low"]
        return values["f"], [1.0 - right, right - 1.75, low - SHIFT]


def generator(**settings: Any) -> ZovizGenerator:
    return ZovizGenerator(vocs(), **{"noise": "independent", "seed": 1} | settings)


def answered(points: list[dict[str, Any]], values: Values) -> list[dict[str, Any]]:
    """The points with their values, of which a failed call has none."""
    results = []
    for point in points:
        try:
            results.append(point | values.named(point))
        except ArithmeticError:
            results.append(point)
    return results


@pytest.fixture(params=["auto", "ZOSPLM"])
def solver(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def run(solver: str) -> Any:
    values = Values()
    finished = finished_run(values.rows, solver, m=3)
    return finished.result, values.ledger.points


def test_points_are_those_of_a_run(solver: str, run: Any) -> None:
    mine, values = generator(solver=solver, calls=CALLS), Values()
    while len(values.ledger.points) < len(run[1]):
        mine.ingest(answered(mine.suggest(), values))
    assert values.ledger.points == run[1]
    assert_same_result(mine.result, run[0])
    with pytest.raises(ValueError, match="got one whose budget is spent"):
        mine.suggest()


def test_values_come_in_any_order_through_pickles_and_a_kill(solver: str, run: Any) -> None:
    mine, values, order, kept = generator(solver=solver, calls=CALLS), Values(), np.random.default_rng(0), []
    while len(values.ledger.points) < 50:
        points = mine.suggest(2)
        try:
            points += mine.suggest(2)
        except ValueError as error:
            assert "Expected values before the next point" in str(error)
        results = answered(points, values)
        for i in order.permutation(len(results)):
            mine = pickle.loads(pickle.dumps(mine))
            mine.ingest([results[i]])
        kept += results
    again = generator(solver=solver, calls=CALLS)
    again.ingest([kept[i] for i in order.permutation(len(kept))])
    while len(values.ledger.points) < len(run[1]):
        again.ingest(answered(again.suggest(), values))
    assert sorted(values.ledger.points) == sorted(run[1])
    assert_same_result(again.result, run[0])


def test_what_it_cannot_do_is_said() -> None:
    wrong = (
        ({"variables": {"x": {1, 2}}}, "Expected continuous variables, got x as a DiscreteVariable"),
        ({"variables": {"x": "CONTEXTUAL"}}, "Expected continuous variables, got x as a ContextualVariable"),
        ({"objectives": {"f": "MINIMIZE", "g": "MAXIMIZE"}}, "got MinimizeObjective, MaximizeObjective: make all"),
        ({"objectives": {"f": "EXPLORE"}}, "Expected one objective, to be minimised or maximised, got ExploreObj"),
    )
    for changes, sentence in wrong:
        with pytest.raises(ValueError, match=sentence):
            ZovizGenerator(vocs(**changes))
    mine = generator()
    (point,) = mine.suggest(1)
    assert point == {"x": START[0], "y": START[1], "kind": "a", "_id": 0}
    with pytest.raises(ValueError, match="Expected points with the _id of suggest"):
        mine.ingest([{"x": 1.0, "y": 1.0, "f": 1.0}])
    with pytest.raises(ValueError, match="make the generator with the settings"):
        mine.ingest([point | {"x": 0.0, "f": 1.0}])
    with pytest.raises(ValueError, match=r"Expected ids that are open, got \[7\]"):
        mine.ingest([point | {"_id": 7}])


def test_a_maximum_is_that_of_the_function() -> None:
    mine = ZovizGenerator(vocs(objectives={"f": "MAXIMIZE"}, constraints={}), "ZOSQP", seed=1)
    for _ in range(40):
        mine.ingest([one | {"f": -((one["x"] - 1) ** 2) - one["y"] ** 2} for one in mine.suggest()])
    np.testing.assert_allclose(mine.result.best_x, [[1.0, 0.0]], atol=1e-5)


def test_xopt_runs_it_and_goes_on_from_its_data(run: Any, solver: str, tmp_path: Path) -> None:
    xopt = pytest.importorskip("xopt", reason="python -m pip install xopt")
    values = Values()

    def steps(mine: ZovizGenerator, calls: int) -> Any:
        settings = {"strict": False}  # go on where a call fails
        session = xopt.Xopt(generator=mine, evaluator=xopt.Evaluator(function=values.named), **settings)
        while len(values.ledger.points) < calls:
            session.step()
        return session

    kept = steps(generator(solver=solver, calls=CALLS), 40).data
    kept.to_csv(tmp_path / "data.csv")
    again = generator(solver=solver, calls=CALLS)
    again.ingest(xopt.base.pd.read_csv(tmp_path / "data.csv").to_dict(orient="records"))
    session = steps(again, len(run[1]))
    assert values.ledger.points == run[1]
    assert_same_result(session.generator.result, run[0])
    assert session.data["xopt_error"].sum() + kept["xopt_error"].sum() == run[0].failures.sum()


def test_libensemble_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    libensemble = pytest.importorskip("libensemble", reason="python -m pip install libensemble")
    from libensemble.alloc_funcs.start_only_persistent import only_persistent_gens
    from libensemble.specs import AllocSpecs, ExitCriteria, GenSpecs, LibeSpecs, SimSpecs

    monkeypatch.chdir(tmp_path)
    values, given = Values(), vocs(constants={})

    def simulate(point: dict[str, Any]) -> dict[str, float]:
        try:
            return values.named(point)
        except ArithmeticError:
            return {"f": np.nan, "right": np.nan, "low": np.nan}

    mine = ZovizGenerator(given, "ZOSPLM", noise="independent", seed=1)
    ensemble = libensemble.Ensemble(
        libE_specs=LibeSpecs(comms="threads", nworkers=3, gen_on_manager=True, disable_log_files=True),
        gen_specs=GenSpecs(generator=mine, vocs=given, initial_batch_size=1, batch_size=2),
        sim_specs=SimSpecs(simulator=simulate, vocs=given),
        alloc_specs=AllocSpecs(alloc_f=only_persistent_gens),
        exit_criteria=ExitCriteria(sim_max=40),
    )
    history, _, flag = ensemble.run()
    ledger = Values()
    finished_run(ledger.rows, "ZOSPLM", m=3)
    assert flag == 0 and np.isnan(history["f"]).sum() > 0
    assert sorted(history["_id"][:40].tolist()) == list(range(40))
    by_id = history[np.argsort(history["_id"])]
    np.testing.assert_array_equal(np.column_stack([by_id["x"], by_id["y"]])[:40], ledger.ledger.points[:40])
