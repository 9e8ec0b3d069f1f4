"""A store as an attacker might leave it: honest runs, runs of others' code, and rows that name what they should not."""

from __future__ import annotations

import copy
import importlib
import json
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import insert, select, update

from helpers.hostile_values import Bomb
from zoviz import Run
from zoviz.core.encoding.binary import pack
from zoviz.problems import BlackBox, Executable, LoadTracking, Problem
from zoviz.runs.storage.schema import PARTS, RECIPES, RUNS, SNAPSHOTS, sealed
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG

OWN = """
import os
from zoviz.problems import BlackBox

def sphere(x):
    return float(x @ x)

problem = BlackBox(sphere, bounds=[(-1.0, 1.0)] * 2)
"""
FOREIGN = """
from pathlib import Path

Path({canary!r}).write_text("imported")

def sphere(x):
    return float(x @ x)

class Thing:
    __css__ = ["foreign_module.css"]
"""
PROGRAM = """echo launched >> launches.log
echo "1.5 -0.5"
"""


def make(folder: Path, canary: Path) -> list[str]:
    """Fill ``folder/kept.db``; the labels of the runs in it, the honest ones of the built-in problem first.

    The folder gets ``own_module.py``, for --problem, ``foreign_module.py``, which leaves the canary where it is
    imported, and ``program.sh``, which leaves a line in ``launches.log`` whenever it is launched.
    """
    (folder / "own_module.py").write_text(OWN)
    (folder / "foreign_module.py").write_text(FOREIGN.format(canary=str(canary)))
    (folder / "foreign_module.css").write_text("body {}")
    (folder / "program.sh").write_text(PROGRAM)
    sys.path.insert(0, str(folder))
    before = os.environ["XDG_CONFIG_HOME"]
    os.environ["XDG_CONFIG_HOME"] = str(canary.parent / "settings of others")  # it is they who began these runs
    try:
        foreign = importlib.import_module("foreign_module")
        with Store(f"sqlite:///{folder / 'kept.db'}") as store:
            _honest(store, folder, foreign.sphere)
            _tampered(store, canary)
            labels = [record.label for record in store.runs(sort="created")]
    finally:
        os.environ["XDG_CONFIG_HOME"] = before
        sys.path.remove(str(folder))
        sys.modules.pop("foreign_module")
        canary.unlink()
        (folder / "launches.log").unlink()
    return labels


def _honest(store: Store, folder: Path, function: Callable[..., float]) -> None:
    box = {"bounds": [(-1.0, 1.0)] * 2}
    problems: dict[str, Problem] = {
        "built in": LoadTracking(n=5, curtailment=40),
        "of a function": BlackBox(function, **box),
        "of a program": Executable(["/bin/sh", str(folder / "program.sh")], m=1, folder=folder, **box),
    }
    for label, problem in problems.items():
        settings = {"replicas": 1, "calls": 40, "iterations": 3, "label": label, "store": store}
        Run(problem=problem, solver=ZOCEG(primal_step=1e-3), **settings).run()


def _tampered(store: Store, canary: Path) -> None:
    """Copies of the honest runs, each with one thing in it that is not to be believed."""
    thing = {"class": "foreign_module:Thing", "values": {}}
    shell = {"class": "os:system", "values": {"command": f"touch {canary}"}}
    for i, (label, base, what) in enumerate(
        (
            ("class os:system", "built in", {"problem": shell}),
            ("class of a module", "built in", {"problem": thing}),
            ("class of a file", "built in", {"problem": {"class": str(canary.parent / "foreign_module.py:Thing")}}),
            ("solver os:system", "built in", {"solver": shell}),
            ("solver of a module", "built in", {"solver": thing}),
            ("setting of a module", "built in", {"settings": {"seconds": {"function": "foreign_module:sphere"}}}),
            ("script of a module", "built in", {"schedule": [{"function": "foreign_module:sphere"}]}),
            ("rule of a module", "built in", {"resolved": {"dict": [["primal_step", thing]]}}),
            ("function os:system", "of a function", {"objective": {"function": "os:system"}}),
            ("through the own module", "of a function", {"objective": {"function": "own_module:os.system"}}),
            ("program touch", "of a program", {"command": {"program": f"touch {canary}"}}),
            ("program without mark", "of a program", {"command": ["touch", str(canary)]}),
            ("folder elsewhere", "of a program", {"folder": str(canary.parent.parent)}),
            ("text for a number", "built in", {"n": f"__import__('os').system('touch {canary}')"}),
        )
    ):
        _copy(store, i, label, base, what)
    bomb = pickle.dumps(Bomb(canary))
    packed = pack({"x": np.frombuffer(bomb, np.uint8)})
    for i, (label, data) in enumerate((("pickle", bomb), ("pickle in a pack", packed)), 100):
        run = _copy(store, i, label, "built in", {})
        with store.database.writing() as connection:
            connection.execute(update(SNAPSHOTS).where(SNAPSHOTS.c.run == run).values(**sealed(data)))


def _copy(store: Store, number: int, label: str, base: str, what: dict[str, Any]) -> str:
    (source,) = [one for one in store.runs(text=base) if one.label == base]
    run = f"{number:032x}"
    with store.database.writing() as connection:
        row = dict(connection.execute(select(RUNS).where(RUNS.c.id == source.id)).mappings().one())
        created = row["created"] - 1000 + number
        connection.execute(insert(RUNS), row | {"id": run, "label": label, "status": "stopped", "created": created})
        for table in PARTS:
            for part in connection.execute(select(table).where(table.c.run == source.id)).mappings().all():
                connection.execute(insert(table), dict(part) | {"run": run})
        recipe = connection.execute(select(RECIPES).where(RECIPES.c.run == run)).mappings().one()
        values = {}
        for name, value in what.items():
            if name in recipe:
                held = json.loads(recipe[name])
                values[name] = held | value if isinstance(held, dict) and name == "settings" else value
            else:
                held = copy.deepcopy(json.loads(recipe["problem"]))
                held["values"][name] = value
                values["problem"] = held
        for name, value in values.items():
            connection.execute(update(RECIPES).where(RECIPES.c.run == run).values({name: json.dumps(value)}))
    return run
