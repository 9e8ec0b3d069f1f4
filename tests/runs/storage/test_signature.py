"""What this user began here needs no trust by name; what comes from elsewhere, or was changed, does."""

from __future__ import annotations

import json
import os
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from helpers.programs import NEEDS_A_SHELL, shell
from zoviz import Run
from zoviz.core.errors import Untrusted
from zoviz.problems import LoadTracking
from zoviz.runs.storage import signature
from zoviz.runs.storage.schema import PARTS, RECIPES, RUNS
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG

pytestmark = NEEDS_A_SHELL


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for settings, and another one to work in."""
    folder = tmp_path / "settings"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return folder


@pytest.fixture
def run(store: Store) -> Run:
    """A run of a program that this user began here."""
    problem = shell("echo launched >> launches.log; echo 1.5 -0.5", m=1, folder=os.getcwd())
    run = Run(problem=problem, solver=ZOCEG(primal_step=1e-3), replicas=1, iterations=2, store=store)
    run.run()
    Path("launches.log").unlink()
    return run


def recipe_of(store: Store, run: str) -> dict[str, Any]:
    with store.database.reading() as connection:
        return dict(connection.execute(select(RECIPES).where(RECIPES.c.run == run)).mappings().one())


def change(store: Store, run: str, **values: Any) -> None:
    with store.database.writing() as connection:
        connection.execute(update(RECIPES).where(RECIPES.c.run == run).values(**values))


def refused(store: Store, run: str) -> bool:
    """Whether nothing is launched for it, however it is asked for."""
    stored = store.load(run)
    for again in (stored.resume, stored.replay, stored.fork):
        with pytest.raises(Untrusted, match="Expected a program that you trust"):
            again()
    return not store.load(run).own and not Path("launches.log").exists()


def test_a_run_that_this_user_began_here_goes_on_and_again(store: Store, run: Run, settings: Path) -> None:
    assert store.load(run.id).own
    again = store.load(run.id).resume(iterations=3).run()
    assert again.nit == 3 and Path("launches.log").exists()
    for once_more in (store.load(run.id).resume(iterations=4), store.load(run.id).replay(), store.load(run.id).fork(1)):
        once_more.run()
        assert store.load(once_more.id).own
    assert signature.key_file() == settings / "zoviz" / "signing.key"
    assert stat.S_IMODE(signature.key_file().stat().st_mode) == 0o600
    assert [path.name for path in signature.key_file().parent.iterdir()] == ["signing.key"]


def test_no_key_is_made_where_nothing_is_to_be_trusted(store: Store, settings: Path) -> None:
    run = Run(problem=LoadTracking(n=5), solver=ZOCEG(), replicas=1, iterations=2, store=store)
    run.run()
    assert not settings.exists() and not store.load(run.id).own
    store.load(run.id).replay().run()


def program(recipe: dict[str, Any]) -> dict[str, Any]:
    problem = json.loads(recipe["problem"])
    problem["values"]["command"]["program"] += " && touch canary"
    return {"problem": json.dumps(problem)}


def folder(recipe: dict[str, Any]) -> dict[str, Any]:
    problem = json.loads(recipe["problem"])
    problem["values"]["folder"] = "/"
    return {"problem": json.dumps(problem)}


def one_blank(recipe: dict[str, Any]) -> dict[str, Any]:
    return {"problem": recipe["problem"] + " "}


def solver(recipe: dict[str, Any]) -> dict[str, Any]:
    return {"solver": recipe["solver"].replace("0.001", "0.002")}


def replicas(recipe: dict[str, Any]) -> dict[str, Any]:
    return {"settings": recipe["settings"].replace('"replicas": 1', '"replicas": 100')}


def schedule(recipe: dict[str, Any]) -> dict[str, Any]:
    change = {"iteration": 1, "calls": 0, "seconds": 0.0, "name": "primal_step", "old": None, "new": 1.0}
    return {"schedule": json.dumps([{"dict": [[name, value] for name, value in change.items()]}])}


def parts_moved(recipe: dict[str, Any]) -> dict[str, Any]:
    return {"solver": recipe["settings"], "settings": recipe["solver"]}


def unsigned(recipe: dict[str, Any]) -> dict[str, Any]:
    return {"signature": ""}


def nonsense(recipe: dict[str, Any]) -> dict[str, Any]:
    return {"signature": "1:ä"}


@pytest.mark.parametrize(
    "tamper", [program, folder, one_blank, solver, replicas, schedule, unsigned, nonsense], ids=lambda one: one.__name__
)
def test_a_row_that_was_changed_needs_trust(store: Store, run: Run, tamper: Callable[..., dict[str, Any]]) -> None:
    recipe = recipe_of(store, run.id)
    values = tamper(recipe)
    assert all(recipe[name] != value for name, value in values.items())
    change(store, run.id, **values)
    assert refused(store, run.id)


def test_what_is_signed_cannot_be_put_together_otherwise(store: Store, run: Run) -> None:
    recipe = recipe_of(store, run.id)
    assert signature.is_own(run.id, recipe)
    assert not signature.is_own(run.id, recipe | parts_moved(recipe))


def test_a_copy_under_another_id_needs_trust(store: Store, run: Run) -> None:
    copy = "0" * 32
    with store.database.writing() as connection:
        row = dict(connection.execute(select(RUNS).where(RUNS.c.id == run.id)).mappings().one())
        connection.execute(insert(RUNS), row | {"id": copy})
        for table in PARTS:
            for part in connection.execute(select(table).where(table.c.run == run.id)).mappings().all():
                connection.execute(insert(table), dict(part) | {"run": copy})
    assert refused(store, copy)


def another_user(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(settings.with_name("other")))
    signature.sign("", {"problem": '{"program": "x"}', "solver": "null", "settings": "", "schedule": ""})
    assert signature.key_file().exists()


def no_key(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signature.key_file().unlink()


def another_machine(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "elsewhere")


def another_folder(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.with_name("handed over").mkdir()
    monkeypatch.chdir(settings.with_name("handed over"))


def a_key_that_others_may_read(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signature.key_file().chmod(0o644)


def a_key_that_was_cut(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signature.key_file().write_bytes(b"")


@pytest.mark.parametrize(
    "elsewhere",
    [another_user, no_key, another_machine, another_folder, a_key_that_others_may_read, a_key_that_was_cut],
    ids=lambda one: one.__name__,
)
def test_it_needs_trust(
    store: Store, run: Run, elsewhere: Callable[..., None], settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere(settings, monkeypatch)
    assert refused(store, run.id)
    with Store(store.url, trusted=store.load(run.id).names) as trusting:
        assert trusting.load(run.id).resume(iterations=3).run().nit == 3


def test_what_was_trusted_by_name_is_this_users_from_then_on(
    store: Store, run: Run, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    another_user(settings, monkeypatch)
    with Store(store.url, trusted=store.load(run.id).names) as trusting:
        trusting.load(run.id).resume(iterations=3).run()
    assert store.load(run.id).own and store.load(run.id).resume(iterations=4).run().nit == 4


def test_a_store_may_be_told_not_to_believe_it(store: Store, run: Run) -> None:
    with Store(store.url, own=False) as strict:
        assert refused(strict, run.id)


def test_without_a_folder_for_settings_a_run_goes_on_unsigned(
    store: Store, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.write_text("a file where the folder should be")
    run = Run(problem=shell("echo 1.5 -0.5", m=1), solver=ZOCEG(), replicas=1, iterations=1, store=store)
    assert run.run().nit == 1 and recipe_of(store, run.id)["signature"] == ""


def test_processes_that_begin_at_once_have_one_key() -> None:
    recipe = {"problem": '{"program": "x"}', "solver": "null", "settings": "{}", "schedule": "[]"}
    signatures: list[str] = []
    together = threading.Barrier(8)

    def begin() -> None:
        together.wait()
        signatures.append(signature.sign("a", recipe))

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(signatures) == 8 and len(set(signatures)) == 1 and signatures[0].startswith("1:")
