"""Kills a run whose oracle is an external program, again and again, and resumes it until it ends.

    PYTHONPATH=tests python -m helpers.kill_resume --kills 50 --solver ZOSPLM --workers 2

Every part of the run is a process that dies by SIGKILL; with --server, the dashboard's server. When is a matter of how
often the program was launched, not of the clock: a part is killed a moment after a launch of a random number, and
launches that come much later wait for the kill. Checked at the end: the iterate, the counts and the trace are those of
a run that was left alone, bit for bit; the program was launched as often as there, and at most once more per kill for
each launch that was under way; the store's own check finds nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.project import ROOT
from helpers.same_run import FIELDS
from zoviz import Run, solvers
from zoviz.problems import Executable, NonconvexQCQP, Problem
from zoviz.runs.store import Store

# Problem 22 of Hock and Schittkowski; every launch leaves a line, and waits where a kill is due and has not come yet.
PROGRAM = """\
echo "$ZOVIZ_CALL" >> "$3"
while [ -e "$4" ] && [ "$(wc -l < "$3")" -gt "$(cat "$4")" ]; do sleep 0.02; done
awk '{ x[NR] = $1 } END { printf "%.17g\\n%.17g\\n%.17g\\n",
    (x[1] - 2)^2 + (x[2] - 1)^2, x[1] + x[2] - 2, x[1]^2 - x[2] }' "$1" > "$2"
"""


class Setting(NamedTuple):
    """What is run: the solver's name, calls per replica, replicas, launches at once (0: no program)."""

    solver: str
    calls: int
    replicas: int
    workers: int


def begun(setting: Setting, folder: Path, name: str) -> Run:
    """A run of its own store and its own list of launches."""
    (folder / "program.sh").write_text(PROGRAM)
    problem: Problem
    if setting.workers:
        problem = Executable(command(folder, name), bounds=[(-4.0, 4.0)] * 2, m=2, workers=setting.workers)
    else:
        problem = NonconvexQCQP(n=6, noise="independent", noise_scale=0.01)
    return Run(
        problem=problem,
        solver=getattr(solvers, setting.solver)(),
        replicas=setting.replicas,
        calls=setting.calls,
        seed=1,
        store=url(folder, name),
        checkpoint="every call" if setting.workers else 0.1,
    )


def command(folder: Path, name: str) -> list[str]:
    """The program, which keeps a list of its launches."""
    own = [str(folder / f"{name}.{what}") for what in ("launches", "last")]
    return ["sh", str(folder / "program.sh"), "{input}", "{output}", *own]


def url(folder: Path, name: str) -> str:
    """The store of a run."""
    return f"sqlite:///{folder / name}.db"


def opened(folder: Path, name: str) -> Store:
    """The store, which may launch the program again."""
    return Store(url(folder, name), trusted=[shlex.join(command(folder, name))])


def launches(folder: Path, name: str) -> int:
    """How often the program was started."""
    path = folder / f"{name}.launches"
    return len(path.read_text().splitlines()) if path.exists() else 0


def gone_on(setting: Setting, folder: Path) -> Run:
    """The run from where it is: begun, where it was killed before its first transaction, else resumed."""
    store = opened(folder, "broken")
    records = store.runs()
    return store.load(records[0].id).resume() if records else begun(setting, folder, "broken")


def forked(work: Callable[[], object], is_due: Callable[[], bool] | None = None) -> bool:
    """Do it in a process that is killed when that is due; whether it ended by itself before."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    while is_due is None or not is_due():
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert status == 0, f"a part of the run failed with status {status}"
            return True
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def served(setting: Setting, folder: Path, is_due: Callable[[], bool] | None) -> bool:
    """A dashboard's server that goes on with the run, killed when that is due."""
    command = [sys.executable, "-m", "panel", "serve", str(ROOT / "apps" / "dashboard.py"), "--port", "0"]
    paths = [str(ROOT), str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
    argument = json.dumps([str(folder), *setting])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "ZOVIZ_KILL": argument}
    with open(folder / "server.log", "a") as log:
        server = subprocess.Popen(
            [*command, "--setup", str(Path(__file__).with_name("kill_server.py"))],
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        while is_due is None or not is_due():
            assert server.poll() is None, (folder / "server.log").read_text()
            if {record.status for record in opened(folder, "broken").runs()} == {"finished"}:
                return True
            time.sleep(0.02)
        return False
    finally:
        server.kill()
        server.wait()


def progress(setting: Setting, folder: Path) -> int:
    """How far the run has come: its launches, or where it has no program the calls that the store knows of."""
    if setting.workers:
        return launches(folder, "broken")
    return max((record.calls or 0 for record in opened(folder, "broken").runs()), default=0)


def broken(setting: Setting, folder: Path, kills: int, longest: float, seed: int, server: bool) -> None:
    """Run it, killed at so many places that are drawn from all that it comes through."""
    dice, last = random.Random(seed), folder / "broken.last"
    needed = launches(folder, "whole") if setting.workers else setting.calls
    margin = setting.workers or needed // 5  # the run cannot end between a place and its kill
    for place in sorted(dice.randrange(needed - margin) for _ in range(kills)):
        last.write_text(str(place + margin - 1))
        pause, reached = dice.uniform(0.0, longest), []

        def is_due(place: int = place, pause: float = pause, reached: list[float] = reached) -> bool:
            """So long after the place: within a launch, a write, or a start that has not come to a launch yet."""
            if not reached and progress(setting, folder) >= place:
                reached.append(time.monotonic())
            return bool(reached) and time.monotonic() - reached[0] >= pause

        assert not life(setting, folder, server, is_due), f"it ended before it was killed at {place} of {needed}"
        records = opened(folder, "broken").runs()
        assert [record.status for record in records] in ([], ["interrupted"]), records
    last.unlink(missing_ok=True)
    assert life(setting, folder, server, None)


def life(setting: Setting, folder: Path, server: bool, is_due: Callable[[], bool] | None) -> bool:
    """One part of the run; whether it came to the end."""
    return served(setting, folder, is_due) if server else forked(lambda: gone_on(setting, folder).run(), is_due)


def assert_same_outcome(folder: Path) -> None:
    """The broken run's outcome against that of the one which was left alone."""
    stored = []
    for name in ("whole", "broken"):
        store = opened(folder, name)
        assert store.check() == [], store.check()
        (record,) = store.runs()
        assert record.status == "finished", record
        stored.append(store.load(record.id))
    whole, again = stored
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(again.result, field), getattr(whole.result, field), err_msg=field)
    assert (again.progress.iteration, again.progress.calls) == (whole.progress.iteration, whole.progress.calls)
    assert again.message == whole.message
    for mine, its in ((again.trace, whole.trace), (again.path, whole.path)):
        mine, its = mine.snapshot().columns, its.snapshot().columns
        assert mine.keys() == its.keys()
        for name in mine.keys() - {"seconds"}:
            np.testing.assert_array_equal(mine[name], its[name], err_msg=name)


def trial(setting: Setting, folder: Path, kills: int, longest: float, seed: int, server: bool = False) -> str:
    """Do it all; a line that tells what came out."""
    started = time.monotonic()
    assert forked(lambda: begun(setting, folder, "whole").run())
    middle = time.monotonic()
    broken(setting, folder, kills, longest, seed, server)
    took = time.monotonic() - middle
    assert_same_outcome(folder)
    needed, actual = launches(folder, "whole"), launches(folder, "broken")
    most = needed + kills * setting.workers
    assert min(1, setting.workers) <= needed <= actual <= most, (needed, actual, most)
    return (
        f"{setting.solver}, {setting.replicas} replicas, {setting.workers} at once{', server' * server}: "
        f"{kills} kills, {took:.0f} s ({middle - started:.0f} s without); {actual} launches, {needed} without, at most "
        f"{most}; iterate, counts and trace agree to the bit; the store is in order"
    )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--longest", type=float, default=1.0, help="longest time from a place to its kill, in seconds")
    parser.add_argument("--solver", default="ZOSPLM")
    parser.add_argument("--calls", type=int, default=800, help="per replica")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1, help="launches at once; 0: a built-in problem, no program")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--server", action="store_true", help="kill the dashboard's server with the run in it")
    options = parser.parse_args()
    setting = Setting(options.solver, options.calls, options.replicas, options.workers)
    with tempfile.TemporaryDirectory() as folder:
        print(trial(setting, Path(folder), options.kills, options.longest, options.seed, options.server))


if __name__ == "__main__":
    main()
