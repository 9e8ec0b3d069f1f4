"""Real programs as black boxes: every way in which they go wrong, and what is printed meanwhile."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.programs import BOX, NEEDS_A_SHELL, POINTS, gone, pids, shell
from zoviz.core.errors import OracleError
from zoviz.evaluation.launch import TAIL
from zoviz.problems import Executable

pytestmark = NEEDS_A_SHELL
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
        raise OracleError(problem.failure_message)
    assert problem.failure_message.startswith("The first failure, at x = [0.33333333 2.        ]: Expected ")


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
    assert np.isnan(problem.evaluate(POINTS[:1]).f[0]) and sentence in problem.failure_message


def test_an_output_file_that_is_not_written() -> None:
    problem = Executable("echo hello {output}", bounds=BOX, m=1)
    assert np.isnan(problem.evaluate(POINTS[:1]).f[0])
    assert "Expected the program to write {output}, got no file (it printed 'hello " in problem.failure_message


def test_a_program_that_is_not_there_ends_the_run_or_is_counted(tmp_path: Path) -> None:
    command = str(tmp_path / "missing")
    with pytest.raises(OracleError, match="Expected a program that can be started, got FileNotFoundError: .*missing"):
        Executable(command, bounds=BOX, m=0).evaluate(POINTS)
    problem = Executable(command, bounds=BOX, m=0, on_error="fail", workers=2)
    assert np.isnan(problem.evaluate(POINTS).f).all() and "got FileNotFoundError" in problem.failure_message


@pytest.mark.parametrize("workers", [None, 2])
def test_a_hang_is_given_up_and_all_that_it_started_is_killed(workers: int | None, tmp_path: Path) -> None:
    pid_file = tmp_path / "pids"
    source = f"read a; test $a = 3.0 || {{ echo 7; exit; }}; sleep 600 & echo $$ $! > {pid_file}; wait"
    problem = shell(source, timeout=2.5, workers=workers)
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, [7.0, 7.0, np.nan])
    assert "at x = [3.e+00 1.e-17]: Expected a value within 2.5 s, got none" in problem.failure_message
    assert all(map(gone, pids(pid_file, 2)))
    assert [one.status for one in problem.printed if one.call == 3] == ["given up"]


def test_what_a_program_leaves_behind_neither_delays_nor_stays(tmp_path: Path) -> None:
    pid_file = tmp_path / "pids"
    problem = shell(f"sleep 600 & echo $! > {pid_file}; echo 1; trap '' TERM; kill 0")
    assert problem.evaluate(POINTS[:1]).f[0] == 1.0
    assert gone(pids(pid_file, 1)[0])


def test_retries_until_it_succeeds(tmp_path: Path) -> None:
    source = "echo try $ZOVIZ_ATTEMPT >&2; test $ZOVIZ_ATTEMPT = 3 || exit 1; echo 1"
    problem = shell(source, retries=2, log_folder=tmp_path / "log")
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, 1.0)
    assert problem.failure_message == ""
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
