"""Real programs as black boxes: every way to talk to them, and every way in which they go wrong."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.problems import BlackBox, Executable
from zoviz.problems.launch import TAIL
from zoviz.runs.script import script
from zoviz.solvers import ZOSPLM
from zoviz.types import Array, OracleError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs of these tests are shell scripts")

BOX = [(-4.0, 4.0)] * 2
POINTS = np.array([[0.1, -0.2], [1.0 / 3.0, 2.0], [3.0, 1e-17]])
PYTHON = [sys.executable, "-I", "-S"]
"""Starts in a few milliseconds."""

HS22 = '''
"""Problem 22 of Hock and Schittkowski, however x comes and f and h go."""
import json
import os
import sys

def read(text, form):
    return json.loads(text) if form == "json" else [float(word) for word in text.split()]

form, source, target = sys.argv[1:4]
text = sys.stdin.read() if source == "-" else open(source).read()
a, b = read(text, form)
values = [(a - 2) ** 2 + (b - 1) ** 2, a + b - 2, a**2 - b]
if form == "json":
    out = json.dumps({"f": values[0], "h": values[1:]})
else:
    out = {"text": "\\n", "line": " ", "comma": ", "}[form].join(map(repr, values)) + "\\n"
if target == "-":
    print(out)
else:
    print("chatter")
    open(target, "w").write(out)
'''


@pytest.fixture(scope="module")
def hs22(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("program") / "hs22.py"
    path.write_text(HS22)
    return str(path)


def shell(source: str, m: int = 0, **params: Any) -> Executable:
    """A shell script as a program."""
    return Executable(["/bin/sh", "-c", source], bounds=BOX, m=m, **params)


def gone(pid: int) -> bool:
    """Whether the process ends soon, or is a zombie that only its parent keeps."""
    deadline = time.monotonic() + 20.0
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if (
                Path("/proc/self").exists()
                and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
            ):
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.01)
    return False


def pids(path: Path, count: int) -> list[int]:
    """Numbers of processes that a script has written, once they are all there."""
    deadline = time.monotonic() + 30.0
    while time.monotonic() < deadline:
        if path.exists() and len(found := path.read_text().split()) == count and path.read_text().endswith("\n"):
            return [int(pid) for pid in found]
        time.sleep(0.01)
    raise AssertionError(f"{path} was not written")


# --- how x goes and f and h come ------------------------------------------------------------------------------------

MODES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "files": (["text", "{input}", "{output}"], {}),
    "files with a suffix": (["text", "{input.dat}", "{output.dat}"], {}),
    "JSON by suffix": (["json", "{input.json}", "{output.json}"], {}),
    "JSON by format": (["json", "{input}", "{output}"], {"format": "json"}),
    "streams": (["line", "-", "-"], {}),
    "JSON streams": (["json", "-", "-"], {"format": "json"}),
    "file and stream": (["comma", "{input}", "-"], {}),
    "stream and file": (["text", "-", "{output}"], {}),
    "NOMAD": (["line", "{input}", "-"], {"format": "nomad"}),
}


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_gives_the_functions_own_values(mode: str, hs22: str) -> None:
    arguments, options = MODES[mode]
    problem = Executable([*PYTHON, hs22, *arguments], bounds=BOX, m=2, **options)
    value, expected = problem.evaluate(POINTS[None]), BlackBox().evaluate(POINTS[None])
    assert problem.mishap == "" and value.f.shape == (1, 3) and value.h.shape == (1, 3, 2)
    # Python's float arithmetic is NumPy's but for the power.
    np.testing.assert_allclose(value.f, expected.f, rtol=1e-15)
    np.testing.assert_allclose(value.h, expected.h, rtol=1e-15, atol=1e-15)


def test_numbers_arrive_to_the_last_bit() -> None:
    x = np.random.default_rng(3).standard_normal((20, 2)) * 10.0 ** np.arange(-10, 10)[:, None]
    value = Executable("cat {input}", x0=[0.0, 0.0], m=1).evaluate(x)
    np.testing.assert_array_equal(value.f, x[:, 0])
    np.testing.assert_array_equal(value.h[:, 0], x[:, 1])


def test_nomads_convention(tmp_path: Path) -> None:
    program = tmp_path / "bb"
    program.write_text('#!/bin/sh\nread a b rest < "$1"\necho "$# -7 0.5 $a 1 text $b$rest"\necho the second line\n')
    program.chmod(0o755)
    types = "CNT_EVAL eb OBJ CSTR NOTHING EXTRA_O PB"
    problem = Executable(str(program), bounds=BOX, format="nomad", output_types=types)
    value = problem.evaluate(POINTS)
    assert problem.m == 3 and problem.mishap == ""
    np.testing.assert_array_equal(value.f, [0.5] * 3)
    np.testing.assert_array_equal(value.h, np.column_stack([[-7.0] * 3, POINTS]))


def test_fortrans_numbers_and_signs_between_them() -> None:
    value = shell("echo '1.5D-03; -2d0, +3'", m=2).evaluate(POINTS[:1])
    assert (value.f[0], *value.h[0]) == (1.5e-3, -2.0, 3.0)


def test_a_value_that_the_program_calls_nan_is_no_value() -> None:
    problem = shell("echo nan 1", m=1)
    assert np.isnan(problem.evaluate(POINTS).f).all()


# --- what a launch sees ---------------------------------------------------------------------------------------------


def test_every_launch_has_a_fresh_folder_that_goes_with_it(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    problem = shell(f"ls | wc -l; touch junk; pwd >> {seen}")
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, 0.0)
    folders = seen.read_text().split()
    assert len(set(folders)) == 3 and not any(map(os.path.exists, folders))


def test_a_fixed_folder_and_relative_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    program, data = tmp_path / "sim", tmp_path / "data.txt"
    program.write_text('#!/bin/sh\ncat "$1" >&2\necho 1\n')
    program.chmod(0o755)
    data.write_text("the data\n")
    monkeypatch.chdir(tmp_path)
    problem = Executable("./sim data.txt", bounds=BOX, m=0, folder="sub")
    assert problem.command == (str(program), str(data)) and problem.folder == str(tmp_path / "sub")
    monkeypatch.chdir("/")
    twin = pickle.loads(pickle.dumps(problem)).clone()
    assert twin.evaluate(POINTS[:1]).f[0] == 1.0 and twin.printed[0].errors == "the data\n"
    where = shell("pwd >&2; echo 1", folder=tmp_path / "sub")
    where.evaluate(POINTS[:1])
    assert where.printed[0].errors.strip() == os.path.realpath(tmp_path / "sub")


def test_there_is_no_shell(tmp_path: Path) -> None:
    problem = Executable(f"echo 1 '; touch {tmp_path}/no' $HOME", bounds=BOX, m=0)
    problem.evaluate(POINTS[:1])
    assert problem.printed[0].output == f"1 ; touch {tmp_path}/no $HOME\n" and not list(tmp_path.iterdir())


def test_the_environment_numbers_calls_and_names_files() -> None:
    source = 'test "$ZOVIZ_INPUT" = "$1" && test "$ZOVIZ_OUTPUT" = "$2" && echo $ZOVIZ_CALL $ZOVIZ_ATTEMPT > "$2"'
    problem = Executable(["/bin/sh", "-c", source, "sh", "{input}", "{output}"], bounds=BOX, m=1)
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(problem.clone().evaluate(POINTS).f, [4.0, 5.0, 6.0])


# --- failures -------------------------------------------------------------------------------------------------------

BROKEN: dict[str, tuple[str, str]] = {
    "crash": ("echo 1 2; echo no licence >&2; exit 3", r"exit status 0, got exit status 3 \(it printed 'no licence'\)"),
    "signal": ("kill -SEGV $$", "exit status 0, got the end by SIGSEGV"),
    "nothing": ("exit 0", r"Expected 2 numbers \(f, then 1 of h\) on standard output, got 0: ''"),
    "text": ("echo 1 many", "Expected numbers on standard output, got 'many'"),
    "too few": ("echo 1", r"Expected 2 numbers \(f, then 1 of h\) on standard output, got 1: '1'"),
    "too many": ("echo 1 2 3", "on standard output, got 3: '1 2 3'"),
    "binary": ("head -c 3000 /dev/zero", "Expected 2 numbers"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_failure_is_counted_and_says_why(case: str) -> None:
    source, sentence = BROKEN[case]
    problem = shell(f"read a; test $a = 0.1 && {{ echo 5 6; exit 0; }}; {source}", m=1)
    value = problem.evaluate(POINTS)
    np.testing.assert_array_equal(value.f, [5.0, np.nan, np.nan])
    np.testing.assert_array_equal(value.h, [[6.0], [np.nan], [np.nan]])
    with pytest.raises(OracleError, match=sentence):
        raise OracleError(problem.mishap)
    assert problem.mishap.startswith("The first failure, at x = [0.33333333 2.        ]: Expected ")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("echo '[1, true]'", "Expected numbers on standard output, got 'True'"),
        ("echo '[1, [2]]'", "Expected numbers on standard output"),
        ("echo '{\"g\": 1}'", 'Expected a list of numbers or {"f": number'),
        ("echo '[1, 2'", "Expected JSON on standard output, got '[1, 2' ("),
    ],
)
def test_json_that_makes_no_sense(source: str, sentence: str) -> None:
    problem = shell(source, m=1, format="json")
    assert np.isnan(problem.evaluate(POINTS[:1]).f[0]) and sentence in problem.mishap


def test_an_output_file_that_is_not_written() -> None:
    problem = Executable("echo hello {output}", bounds=BOX, m=1)
    assert np.isnan(problem.evaluate(POINTS[:1]).f[0])
    assert "Expected the program to write {output}, got no file (it printed 'hello " in problem.mishap


def test_a_program_that_is_not_there_ends_the_run_or_is_counted(tmp_path: Path) -> None:
    command = str(tmp_path / "missing")
    with pytest.raises(OracleError, match="Expected a program that can be started, got FileNotFoundError: .*missing"):
        Executable(command, bounds=BOX, m=0).evaluate(POINTS)
    problem = Executable(command, bounds=BOX, m=0, on_error="fail", workers=2)
    assert np.isnan(problem.evaluate(POINTS).f).all() and "got FileNotFoundError" in problem.mishap


@pytest.mark.parametrize("workers", [None, 2])
def test_a_hang_is_given_up_and_all_that_it_started_is_killed(workers: int | None, tmp_path: Path) -> None:
    seen = tmp_path / "pids"
    source = f"read a; test $a = 3.0 || {{ echo 7; exit; }}; sleep 600 & echo $$ $! > {seen}; wait"
    problem = shell(source, timeout=1.5, workers=workers)
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, [7.0, 7.0, np.nan])
    assert "at x = [3.e+00 1.e-17]: Expected a value within 1.5 s, got none" in problem.mishap
    assert all(map(gone, pids(seen, 2)))
    assert [one.status for one in problem.printed if one.call == 3] == ["given up"]


def test_what_a_program_leaves_behind_neither_delays_nor_stays(tmp_path: Path) -> None:
    seen = tmp_path / "pids"
    problem = shell(f"sleep 600 & echo $! > {seen}; echo 1; trap '' TERM; kill 0")
    assert problem.evaluate(POINTS[:1]).f[0] == 1.0
    assert gone(pids(seen, 1)[0])


def test_retries_until_it_succeeds(tmp_path: Path) -> None:
    source = "echo try $ZOVIZ_ATTEMPT >&2; test $ZOVIZ_ATTEMPT = 3 || exit 1; echo 1"
    problem = shell(source, retries=2, log_folder=tmp_path / "log")
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, 1.0)
    assert problem.mishap == ""
    assert [(one.call, one.attempt, one.status) for one in problem.printed[:3]] == [
        (1, 1, "exit status 1"),
        (1, 2, "exit status 1"),
        (1, 3, "exit status 0"),
    ]
    names = sorted(path.name for path in (tmp_path / "log").glob("000001*"))
    assert names == ["000001-2.err", "000001-3.err", "000001-3.out", "000001.err"]
    short = shell(source, retries=1)
    assert np.isnan(short.evaluate(POINTS).f).all() and len(short.printed) == 6


# --- what it prints -------------------------------------------------------------------------------------------------


def test_what_is_printed_is_kept_in_files_and_numbers_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "log"
    for first in (1, 4):
        problem = shell("echo $ZOVIZ_CALL; echo words >&2", log_folder=folder)
        np.testing.assert_array_equal(problem.evaluate(POINTS).f, np.arange(first, first + 3))
    assert sorted(path.name for path in folder.iterdir()) == [
        f"{i:06d}.{s}" for i in range(1, 7) for s in ("err", "out")
    ]
    assert (folder / "000005.out").read_text() == "5\n" and (folder / "000005.err").read_text() == "words\n"
    assert str(problem.printed[1]) == "--- call 5, attempt 1: exit status 0\n5\nwords"


def test_memory_is_bounded() -> None:
    problem = shell("head -c 3000000 /dev/zero | tr '\\0' x >&2; echo $ZOVIZ_CALL")
    problem.evaluate(np.zeros((30, 2)))
    assert [one.call for one in problem.printed] == list(range(11, 31))
    assert all(one.errors == "x" * TAIL for one in problem.printed)


# --- in parallel ----------------------------------------------------------------------------------------------------


def intervals(folder: Path) -> Array:
    """Start and end of every launch, by the clock of the machine."""
    return np.array([sorted(map(int, path.read_text().split())) for path in sorted(folder.iterdir())])


def logging(folder: Path, crowd: int) -> list[str]:
    """A program that writes when it starts, and ends when so many have started."""
    source = (
        "import os, sys, time\n"
        "folder, crowd = sys.argv[1], int(sys.argv[2])\n"
        "with open(os.path.join(folder, os.environ['ZOVIZ_CALL']), 'w') as file:\n"
        "    print(time.monotonic_ns(), file=file, flush=True)\n"
        "    deadline = time.monotonic() + 30\n"
        "    while len(os.listdir(folder)) < crowd and time.monotonic() < deadline:\n"
        "        time.sleep(0.005)\n"
        "    print(time.monotonic_ns(), file=file)\n"
        "print(sys.stdin.readline())\n"
    )
    folder.mkdir()
    return [*PYTHON, "-c", source, str(folder), str(crowd)]


def test_launches_overlap_where_there_are_workers_for_them(tmp_path: Path) -> None:
    points = np.column_stack([np.arange(6.0), np.zeros(6)])
    problem = Executable(logging(tmp_path / "three", 3), bounds=BOX, m=0, workers=3)
    np.testing.assert_array_equal(problem.evaluate(points).f, np.arange(6.0))
    times = intervals(tmp_path / "three")
    assert times[:3, 0].max() < times[:3, 1].min(), "three at once"
    together = (times[:, None, 0] < times[None, :, 1]) & (times[None, :, 0] < times[:, None, 1])
    at_starts = (times[:, 0] <= times[:, None, 0]) & (times[:, None, 0] < times[:, 1])
    assert together.any() and at_starts.sum(axis=1).max() == 3, "and never more"

    alone = Executable(logging(tmp_path / "one", 1), bounds=BOX, m=0)
    alone.evaluate(points[:3])
    times = intervals(tmp_path / "one")
    assert (times[1:, 0] >= times[:-1, 1]).all(), "one after the other"


CREWS: dict[str, Callable[[], Any]] = {
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": lambda: ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")),
    "map of a pool": lambda: ThreadPoolExecutor(2).map,
    "one per core": lambda: -1,
}


@pytest.mark.parametrize("crew", CREWS)
def test_any_executor_launches_gives_up_and_tells_what_was_printed(crew: str) -> None:
    workers = CREWS[crew]()
    problem = shell("read a; test $a = 3.0 && sleep 600; echo $a; echo word >&2", timeout=1.5, workers=workers)
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, [POINTS[0, 0], POINTS[1, 0], np.nan])
    assert "Expected a value within 1.5 s" in problem.mishap
    assert sorted((one.call, one.errors) for one in problem.printed) == [(1, "word\n"), (2, "word\n"), (3, "")]
    if isinstance(workers, Executor):
        workers.shutdown()


def test_values_are_told_as_they_come(tmp_path: Path) -> None:
    source = f"read a; test $a = 0.1 && while ! test -e {tmp_path}/go; do sleep 0.01; done; echo $a"
    problem, told = shell(source, workers=2), []

    def hear(i: int, value: Any) -> None:
        told.append((i, float(value.f)))
        if len(told) == 2:
            (tmp_path / "go").touch()

    value = problem.collect(POINTS, hear)
    assert told == [(1, POINTS[1, 0]), (2, 3.0), (0, 0.1)]
    np.testing.assert_array_equal(value.f, POINTS[:, 0])


def test_a_value_is_told_before_its_worker_begins_another_point(tmp_path: Path) -> None:
    """So that what is kept by then is all but as many launches as there are workers."""
    points = np.column_stack([np.arange(8.0), np.zeros(8)])
    for workers in (None, 3):
        folder = tmp_path / str(workers)
        folder.mkdir()
        behind: list[int] = []

        def hear(i: int, value: Any, folder: Path = folder, behind: list[int] = behind) -> None:
            time.sleep(0.05)
            behind.append(len(list(folder.iterdir())) - len(behind))

        shell(f"read a; touch {folder}/$a; echo $a", workers=workers).collect(points, hear)
        assert len(behind) == 8 and max(behind) == (workers or 1)


# --- nothing is left running ----------------------------------------------------------------------------------------


@pytest.fixture
def heeded() -> Iterator[None]:
    """Python's own answer to Ctrl-C: NOMAD's library, where a test has called it in this process, leaves another."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    if before is not None:
        signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
@pytest.mark.parametrize("workers", [None, 2])
def test_ctrl_c_ends_the_launches(workers: int | None, tmp_path: Path) -> None:
    seen = tmp_path / "pids"
    problem = shell(f"sleep 600 & echo $! > {seen}; wait; echo 1", workers=workers, retries=5)

    def interrupt() -> None:
        pids(seen, 1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        problem.evaluate(POINTS[:1])
    assert gone(pids(seen, 1)[0])


def test_release_ends_the_launches_and_the_next_evaluation_starts_afresh(tmp_path: Path) -> None:
    seen = tmp_path / "pids"
    problem = shell(f"test -e {seen} && {{ echo 1; exit; }}; echo $$ > {seen}; exec sleep 600", retries=3)
    values: list[Any] = []

    def evaluate() -> None:
        with pytest.raises(OracleError, match="got the end of the run"):
            problem.evaluate(POINTS[:1])
        values.append(problem.evaluate(POINTS[:1]).f)

    thread = threading.Thread(target=evaluate)
    thread.start()
    (pid,) = pids(seen, 1)
    problem.release()
    thread.join(30.0)
    assert gone(pid) and values == [1.0]


PARENT = """
import sys
from zoviz import Run
from zoviz.problems import Executable
from zoviz.solvers import ZOCEG

if __name__ == "__main__":
    how, seen = sys.argv[1:]
    workers = {{"alone": None, "exit": 2, "threads": 2}}[how]
    source = "trap '' TERM HUP INT; kill 0; sleep 600 & echo $$ $! > " + seen + "; wait; wait"
    problem = Executable(["/bin/sh", "-c", source], bounds=[(-1, 1)] * 2, m=0, workers=workers)
    run = Run(problem=problem, solver=ZOCEG(), replicas=1, iterations=2)
    if how != "exit":
        run.run()
    run.start()
    import os, time
    while not os.path.exists(seen) or not open(seen).read().endswith("\\n"):
        time.sleep(0.01)
"""


@pytest.mark.parametrize("how", ["alone", "threads", "exit"])
def test_no_child_outlives_its_parent(how: str, tmp_path: Path) -> None:
    seen, file = tmp_path / "pids", tmp_path / "parent.py"
    file.write_text(PARENT.format())
    parent = subprocess.Popen([sys.executable, str(file), how, str(seen)])
    children = pids(seen, 2)
    if how != "exit":
        parent.kill()
    parent.wait(30.0)
    assert all(map(gone, children))


# --- as a problem of a run ------------------------------------------------------------------------------------------


def quick(problem: Any) -> Run:
    solver = ZOSPLM(primal_step=0.05)
    solver.estimator.batch_size = 2
    return Run(problem=problem, solver=solver, replicas=1, iterations=4, seed=1)


def test_a_run_is_that_of_the_same_function_and_its_script_repeats_it(hs22: str) -> None:
    def objective(x: Array) -> Any:
        a, b = x.tolist()
        return (a - 2) ** 2 + (b - 1) ** 2, [a + b - 2, a**2 - b]

    command = [*PYTHON, hs22, "line", "{input}", "{output}"]
    problem = Executable(command, bounds=BOX, m=2, workers=2)
    run = quick(problem)
    result, expected = run.run(), quick(BlackBox(objective, bounds=BOX, m=2, joint=True)).run()
    np.testing.assert_array_equal(result.x, expected.x)
    np.testing.assert_array_equal(result.calls, expected.calls)
    assert len(problem.printed) == 20 and problem.printed[-1].output == "chatter\n"
    names: dict[str, Any] = {}
    exec(script(run), names)
    np.testing.assert_array_equal(names["result"].x, result.x)


def test_a_run_counts_failures_and_says_why() -> None:
    source = "read a; test $ZOVIZ_CALL = 9 && exit 9; echo $a"
    result = quick(shell(source)).run()
    assert result.failures.sum() == 1 and result.status == "finished"
    assert "non-finite values. The first failure, at x = [" in result.message and "exit status 9" in result.message


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"m": None}, "Expected m, the number of constraints, or output_types, got neither"),
        ({"command": ""}, "Expected a command such as"),
        ({"command": "sim 'x"}, "Expected a command, or a list of words"),
        ({"command": 5}, "Expected a command, or a list of words"),
        ({"m": None, "output_types": "PB EB"}, "Expected output_types with one OBJ"),
        ({"m": None, "output_types": "OBJ OBJ"}, "Expected output_types with one OBJ"),
        ({"m": None, "output_types": ["OBJ", "XB"]}, "Expected output_types with one OBJ"),
        ({"m": 2, "output_types": "OBJ PB"}, r"Expected as many constraints as output_types has \(1\), got m = 2"),
        ({"workers": 0}, "Expected workers a number from 1"),
        ({"x0": [9.0, 0.0]}, "Expected x0 inside the bounds"),
        ({"bounds": None}, "Expected bounds or x0"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Executable(**{"command": "true", "bounds": BOX, "m": 0} | arguments)
