"""The command line as a user types it: runs of problems, of a user's functions and programs; sweeps."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers.command_line import SMALL, Told, store
from zoviz.cli.command import FAILED, FINE, INFEASIBLE, MISUSED


def test_run_is_stored_and_told(zoviz: Callable[..., Told], folder: Path) -> None:
    outcome = zoviz(
        "run", *SMALL, "primal_step=1e-3", "--json", "estimator.smoothing_radius=1e-4", "--target", "gap=1e9"
    )
    assert outcome.code == FINE and outcome.err == ""
    whole = outcome.json
    with store(folder) as run_store:
        (record,) = run_store.runs()
        stored = run_store.load(record.id)
        assert whole["id"] == record.id and record.status == whole["status"] == "finished"
        np.testing.assert_array_equal(stored.result.x, whole["x"])
        assert whole["parameters"]["primal_step"] == stored.solver.primal_step == 1e-3
        assert stored.solver.estimator.smoothing_radius == 1e-4 and stored.problem.n == 5
        assert whole["hits"] == {"gap 1e+09": stored.hits[0].calls.tolist()}
    plain = zoviz("run", *SMALL, "primal_step=1e-3", "estimator.smoothing_radius=1e-4")
    assert f"Best feasible point: f = {whole['best_fun']:.10g}\nx1 " in plain.out
    assert " in each of 2 replicas, 20 iterations, " in plain.out
    assert " in " in plain.out.splitlines()[-1] and plain.out.splitlines()[-1].endswith("zoviz.db")


def test_a_bar_shows_the_way(zoviz: Callable[..., Told]) -> None:
    outcome = zoviz("run", *[word for word in SMALL if word != "--quiet"], "--no-store")
    assert (
        "20/20" in outcome.err and "it/s" in outcome.err and "objective " in outcome.err and "violation " in outcome.err
    )
    assert "zoviz.db" not in outcome.out


def test_no_store_keeps_nothing(zoviz: Callable[..., Told], folder: Path) -> None:
    assert zoviz("run", *SMALL, "--no-store").code == FINE
    assert not (folder / "zoviz.db").exists()


def test_the_readme_s_beam_in_one_line(
    zoviz: Callable[..., Told], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = zoviz("run", "beam_module:problem", "ZOCEG", "--calls", "3000", "--quiet", "--json")
    assert outcome.code == FINE, outcome.err
    assert outcome.json["best_fun"] == pytest.approx(1.34, abs=2e-3)
    again = zoviz("replay", outcome.json["id"][:8], "--trust", "beam_module", "--quiet", "--json")
    assert again.json["x"] == outcome.json["x"]
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "another_user"))
    refused = zoviz("replay", outcome.json["id"][:8], "--quiet")
    assert refused.code == MISUSED and "--trust beam_module:beam" in refused.err


def test_no_feasible_point_and_a_failing_function_have_codes(zoviz: Callable[..., Told]) -> None:
    outside = zoviz("run", "beam_module:unreachable", "ZOSPLM", "--iterations", "1", "--quiet", "--json")
    assert outside.code == INFEASIBLE and outside.json["best_fun"] is None
    failed = zoviz("run", "beam_module:failing", "ZOSPLM", "--calls", "50", "--quiet", "--json")
    assert failed.code == FAILED and failed.json["status"] == "failed" and "licence server" in failed.err


@pytest.mark.parametrize("command", ["sim.py {input} {output}", "sim.py"], ids=["files", "streams"])
def test_a_program(command: str, zoviz: Callable[..., Told], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["--bounds", "0:2*2", "--constraints", "1", "--calls", "12", "--quiet", "--json"]
    outcome = zoviz("run", "--exe", f"{sys.executable} {command}", *options, "SLSQP")
    assert outcome.code == FINE, outcome.err
    best = np.array(outcome.json["best_x"])
    assert outcome.json["best_fun"] == np.square(best - 1).sum() < 0.1 and best.sum() >= 1.5
    assert max(outcome.json["calls"]) <= 12
    assert zoviz("replay", outcome.json["id"], "--quiet", "--json").json["x"] == outcome.json["x"], (
        "one's own needs no trust"
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "another_user"))
    refused = zoviz("replay", outcome.json["id"], "--quiet", "--json")
    assert refused.code == MISUSED and "--trust" in refused.err
    again = zoviz("replay", outcome.json["id"], "--quiet", "--json", "--trust", f"{sys.executable} {command}")
    assert again.json["x"] == outcome.json["x"]


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (
            ["--exe", "PROGRAM", "--bounds", "0:2*2", "--constraints", "1", "noise=independent"],
            "2 variables, 1 .* noisy",
        ),
        (["LoadTracking", "n=7", "noise=independent"], "7 variables, 1 constraint, noisy values and 30 calls"),
        (["LoadTracking", "problem.n=7"], "7 variables, 1 constraint, deterministic values and 30 calls"),
        (["LoadTracking", "auto", "n=7"], "7 variables, 1 constraint, deterministic values and 30 calls"),
        (["beam_module:alone", "bounds=[[0,1],[0,1],[0,1]]"], "3 variables, 0 constraints"),
        (["beam_module:alone", "x0=[0,0,0]", "bounds=[[0,1],[0,1],[0,1]]"], "3 variables, 0 constraints"),
        (["beam_module:unreachable", "m_constraints=2"], "2 variables, 2 constraints"),
    ],
)
def test_what_the_words_say_of_the_problem_counts_before_a_method_is_chosen(
    words: list[str], facts: str, zoviz: Callable[..., Told]
) -> None:
    words = [f"{sys.executable} sim.py" if word == "PROGRAM" else word for word in words]
    outcome = zoviz("run", *words, "--calls", "30", "--replicas", "1", "--quiet", "--json", "--no-store")
    assert re.search(f"was chosen for {facts}", outcome.err), outcome.err


def test_sweep_runs_what_is_missing(zoviz: Callable[..., Told], folder: Path) -> None:
    words = ["sweep", *SMALL, "--json"]
    first = zoviz(*words, "primal_step=1e-3,1e-4")
    assert first.code == FINE and [line["primal_step"] for line in first.json["runs"]] == [1e-3, 1e-4]
    with store(folder) as run_store:
        begun = {record.id: record.created for record in run_store.runs()}
    more = zoviz(*words, "primal_step=log:1e-5:1e-3:3")
    assert [line["primal_step"] for line in more.json["runs"]] == pytest.approx([1e-5, 1e-4, 1e-3])
    with store(folder) as run_store:
        now = {record.id: record.created for record in run_store.runs(study="LoadTracking ZOCEG")}
    assert len(now) == 3 and begun.items() <= now.items(), "two were there"
    assert len(more.json["replicas"]) == 6


def test_sweep_draws(zoviz: Callable[..., Told]) -> None:
    words = ["sweep", *SMALL, "--json", "--random", "3", "--name", "steps", "primal_step=log:1e-5:1e-3"]
    steps = [line["primal_step"] for line in zoviz(*words).json["runs"]]
    assert len(set(steps)) == 3 and all(1e-5 <= step <= 1e-3 for step in steps)
    assert [line["primal_step"] for line in zoviz(*words).json["runs"]] == steps
    plain = zoviz(*[word for word in words if word != "--json"])
    assert "PRIMAL_STEP" in plain.out and "--study" in plain.err


def test_a_run_may_be_certified_by_further_calls(zoviz: Callable[..., Told]) -> None:
    words = ("run", "ConexQCQP", "ZOSQP", "n=3", "noise=independent", "noise_scale=0.01", "--replicas", "2")
    words += ("--calls", "200", "--no-store", "--quiet", "--certify")
    plain, made = zoviz(*words), zoviz(*words, "--json").json
    assert plain.code == FINE and "\nKKT residual " in plain.out and "\nf*  " in plain.out
    assert "another digit would take about" in plain.out and made["certificate"]["certainty"]["calls"] == 64
    assert max(made["calls"]) <= 200, "they are not charged to the run"


def test_constraints_are_kept_from_the_command_line(zoviz: Callable[..., Told]) -> None:
    kept = zoviz("run", "beam_module:problem", "keep=while searching", "--calls", "60", "--quiet", "--json")
    assert kept.code == FINE and "no call was outside of the constraints" in kept.out + kept.err
    refused = zoviz("run", "beam_module:problem", "COBYLA", "keep=h1", "--calls", "60", "--quiet")
    assert refused.code != FINE and "choose ZOSQP" in refused.err
