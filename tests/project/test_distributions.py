"""The wheel and the sdist: what is in them, and the wheel at work in a folder without the source."""

from __future__ import annotations

import signal
import subprocess
import tarfile
import urllib.request
from pathlib import Path

import pytest

from helpers.distributions import Installed, build, contents, installed
from helpers.ports import free_port
from helpers.project import ROOT
from helpers.waiting import until

pytest.importorskip("hatchling", reason='python -m pip install -e ".[test]"')
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("distributions")


@pytest.fixture(scope="module")
def wheel(folder: Path) -> Path:
    return build(ROOT, folder / "own", "wheel")


@pytest.fixture(scope="module")
def outside(folder: Path) -> Installed:
    return installed(folder)


def test_the_sdist_builds_the_same_wheel(wheel: Path, folder: Path) -> None:
    sdist = build(ROOT, folder / "sdist", "sdist")
    with tarfile.open(sdist) as archive:
        # Debian's Python 3.11 has no filters yet; later ones want to be told one.
        archive.extractall(folder / "unpacked", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (source,) = (folder / "unpacked").iterdir()
    assert contents(build(source, folder / "again", "wheel")) == contents(wheel)
    assert (source / "docs" / "conf.py").exists() and (source / "tests" / "conftest.py").exists()


def test_all_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    tracked = subprocess.run(["git", "ls-files", "zoviz"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(tracked.stdout.split()) <= contents(wheel).keys()


def test_the_wheel_solves_keeps_and_repeats_outside_the_source(outside: Installed) -> None:
    where = [outside.python, "-c", "import zoviz; print(zoviz.__file__)"]
    options = {"cwd": outside.folder, "env": outside.environment, "capture_output": True, "text": True}
    file = subprocess.run(where, check=True, **options).stdout
    assert not Path(file.strip()).is_relative_to(ROOT)
    assert "best feasible  1.72485" in outside.zoviz("demo", "--quiet")
    outside.zoviz("run", "LoadTracking", "ZOCEG", "n=5", "--iterations", "20", "--quiet", "--label", "kept")
    assert "kept" in outside.zoviz("runs") and "Portfolio" in outside.zoviz("solvers")


def test_the_wheel_serves_the_dashboard_outside_the_source(outside: Installed) -> None:
    port = free_port()
    server = outside.serve(port)

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
