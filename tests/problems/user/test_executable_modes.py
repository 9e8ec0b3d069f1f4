"""Real programs as black boxes: every way to talk to them."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.programs import BOX, NEEDS_A_SHELL, POINTS, PYTHON, shell
from zoviz.problems import BlackBox, Executable

pytestmark = NEEDS_A_SHELL
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
    assert problem.failure_message == "" and value.f.shape == (1, 3) and value.h.shape == (1, 3, 2)
    # Python's float arithmetic is NumPy's but for the power.
    np.testing.assert_allclose(value.f, expected.f, rtol=1e-15)
    np.testing.assert_allclose(value.h, expected.h, rtol=1e-15, atol=1e-15)


def test_numbers_arrive_to_the_last_bit() -> None:
    x = np.random.default_rng(3).standard_normal((20, 2)) * 10.0 ** np.arange(-10, 10)[:, None]
    value = Executable("cat {input}", x0=[0.0, 0.0], m=1).evaluate(x)
    np.testing.assert_array_equal(value.f, x[:, 0])
    np.testing.assert_array_equal(value.h[:, 0], x[:, 1])


def test_a_seed_in_the_command_is_that_of_the_batch() -> None:
    problem = Executable(["/bin/sh", "-c", "echo {seed}; cat {input}"], bounds=BOX, m=2)
    assert problem.seeds and problem.noise == "common"
    value = problem.evaluate(POINTS[None], np.array([2**31 - 1]))
    np.testing.assert_array_equal(value.f, [[2.0**31 - 1] * 3])
    np.testing.assert_array_equal(value.h, POINTS[None])
    np.testing.assert_array_equal(problem.evaluate(POINTS, np.array([5, 6, 7])).f, [5.0, 6.0, 7.0])
    assert not Executable("cat {input}", bounds=BOX, m=1).seeds


def test_nomads_convention(tmp_path: Path) -> None:
    program = tmp_path / "bb"
    program.write_text('#!/bin/sh\nread a b rest < "$1"\necho "$# -7 0.5 $a 1 text $b$rest"\necho the second line\n')
    program.chmod(0o755)
    types = "CNT_EVAL eb OBJ CSTR NOTHING EXTRA_O PB"
    problem = Executable(str(program), bounds=BOX, format="nomad", output_types=types)
    value = problem.evaluate(POINTS)
    assert problem.m == 3 and problem.failure_message == ""
    np.testing.assert_array_equal(value.f, [0.5] * 3)
    np.testing.assert_array_equal(value.h, np.column_stack([[-7.0] * 3, POINTS]))


def test_fortrans_numbers_and_signs_between_them() -> None:
    value = shell("echo '1.5D-03; -2d0, +3'", m=2).evaluate(POINTS[:1])
    assert (value.f[0], *value.h[0]) == (1.5e-3, -2.0, 3.0)


@pytest.mark.parametrize(
    "printed", ["nan 1", "NA 1", "N/A 1", "NaT 1", "null 1", "none 1", "[null, 1]", '{"f": null, "h": 1}']
)
def test_a_value_that_the_program_calls_missing_is_no_value(printed: str) -> None:
    problem = shell(f"echo '{printed}'", m=1, format="json" if printed[0] in "[{" else "text")
    assert np.isnan(problem.evaluate(POINTS).f).all() and problem.failure_message == ""


# --- what a launch sees ---------------------------------------------------------------------------------------------


def test_every_launch_has_a_fresh_folder_that_goes_with_it(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    problem = shell(f"ls | wc -l; touch junk; pwd >> {log}")
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, 0.0)
    folders = log.read_text().split()
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
    clone = pickle.loads(pickle.dumps(problem)).clone()
    assert clone.evaluate(POINTS[:1]).f[0] == 1.0 and clone.printed[0].errors == "the data\n"
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
