"""The wheel and the sdist, built and installed where the source is not to be seen."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

from helpers.project import ROOT


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


class Installed(NamedTuple):
    """A Python that has the wheel, and not the source.

    Attributes
    ----------
    python : str
        The interpreter.
    environment : dict of str to str
        Of its processes.
    folder : Path
        They run in.
    """

    python: str
    environment: dict[str, str]
    folder: Path

    def zoviz(self, *words: str) -> str:
        """Run a command of zoviz's, which must succeed, and return what it printed."""
        command = [self.python, "-m", "zoviz", *words]
        options = {"cwd": self.folder, "env": self.environment, "capture_output": True, "text": True}
        process = subprocess.run(command, timeout=200, **options)
        assert process.returncode == 0, process.stderr
        return process.stdout

    def serve(self, port: int) -> subprocess.Popen[bytes]:
        """Begin to serve the dashboard at a port of this machine."""
        command = [self.python, "-m", "zoviz", "serve", "--no-show", "--port", str(port)]
        with open(self.folder / "server.txt", "ab") as output:
            return subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=output, stderr=output)


def installed(folder: Path) -> Installed:
    """Return the Python that the variable ZOVIZ_PYTHON names, or this one with the wheel in a folder of its own."""
    outside = folder / "outside"
    outside.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}
    if python := os.environ.get("ZOVIZ_PYTHON"):
        return Installed(python, environment, outside)
    site, wheel = folder / "site", build(ROOT, folder / "wheel", "wheel")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site, wheel]
    subprocess.run(command, check=True, capture_output=True, timeout=200)
    return Installed(sys.executable, environment | {"PYTHONPATH": str(site)}, outside)
