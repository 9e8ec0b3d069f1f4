"""The wheel and the sdist: what is in them, and the wheel at work in a folder without the source."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from pathlib import Path

import pytest

from helpers.ports import free_port
from helpers.project import ROOT
from helpers.waiting import until

pytest.importorskip("hatchling", reason='python -m pip install -e ".[test]"')
pytestmark = pytest.mark.slow


def build(source: Path, folder: Path, target: str) -> Path:
    """Build a distribution of a source tree by its own backend, and return its file."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=200)
    (file,) = folder.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return file


def contents(wheel: Path) -> dict[str, str]:
    """Digests of the files in a wheel by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("distributions")


@pytest.fixture(scope="module")
def wheel(folder: Path) -> Path:
    return build(ROOT, folder / "wheel", "wheel")


@pytest.fixture(scope="module")
def outside(wheel: Path, folder: Path) -> dict[str, str]:
    """The environment of a process that sees the installed wheel, and not the source."""
    site = folder / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site, wheel]
    subprocess.run(command, check=True, capture_output=True, timeout=200)
    return os.environ | {"PYTHONPATH": str(site), "OMP_NUM_THREADS": "1"}


def test_the_sdist_builds_the_same_wheel(wheel: Path, folder: Path) -> None:
    sdist = build(ROOT, folder / "sdist", "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    assert contents(build(source, folder / "again", "wheel")) == contents(wheel)
    assert (source / "docs" / "conf.py").exists() and (source / "tests" / "conftest.py").exists()


def test_all_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    tracked = subprocess.run(["git", "ls-files", "zoviz"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(tracked.stdout.split()) <= contents(wheel).keys()


def test_the_wheel_solves_keeps_and_repeats_outside_the_source(outside: dict[str, str], tmp_path: Path) -> None:
    def zoviz(*words: str) -> str:
        command = [sys.executable, "-m", "zoviz", *words]
        told = subprocess.run(command, cwd=tmp_path, env=outside, capture_output=True, text=True, timeout=200)
        assert told.returncode == 0, told.stderr
        return told.stdout

    where = [sys.executable, "-c", "import zoviz; print(zoviz.__file__)"]
    file = subprocess.run(where, cwd=tmp_path, env=outside, capture_output=True, text=True, check=True).stdout
    assert not Path(file.strip()).is_relative_to(ROOT)
    assert "best feasible  1.72485" in zoviz("demo", "--quiet")
    zoviz("run", "LoadTracking", "ZOCEG", "n=5", "--iterations", "20", "--quiet", "--label", "kept")
    assert "kept" in zoviz("runs") and "Portfolio" in zoviz("solvers")


def test_the_wheel_serves_the_dashboard_outside_the_source(outside: dict[str, str], tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "zoviz", "serve", "--no-show", "--port", str(port)]
    with open(tmp_path / "server.txt", "w", encoding="utf-8") as output:
        server = subprocess.Popen(command, cwd=tmp_path, env=outside, stdout=output, stderr=output)

    def page() -> str:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
                return str(answer.read().decode())
        except OSError:
            return ""

    try:
        until(lambda: bool(page()) or server.poll() is not None, pause=0.2)
        assert "zoviz" in page()
        server.send_signal(signal.SIGINT)
        assert server.wait(60) in (0, 130)
    finally:
        server.kill()
        server.wait()
