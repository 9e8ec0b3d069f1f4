"""Checks an installation: versions, extras, browser, store and permissions, with a remedy for each failure."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from zoviz.core.errors import ZovizError
from zoviz.problems import LoadTracking
from zoviz.runs.run import Run
from zoviz.runs.storage.database import NoStore
from zoviz.runs.storage.signature import key_file
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG

OK, MISSING, BROKEN = "OK", "missing", "broken"
"""States: nothing to do; something that only some need is not there; what zoviz needs fails."""

_ROOM = 200 * 2**20
"""Bytes on the store's disk below which the user is warned: some hundred runs of usual length."""
_PORT = 5006
"""The dashboard's, where nobody says otherwise."""


class Finding(NamedTuple):
    """The result of one check.

    Attributes
    ----------
    subject : str
        What was looked at.
    state : str
        ``OK``, ``MISSING`` or ``BROKEN``.
    sentence : str
        For the person, with the command that helps where there is one.
    """

    subject: str
    state: str
    sentence: str


def checkup(store_url: str) -> Iterator[Finding]:
    """Yield the findings of all checks, one after the other; no store is made.

    Parameters
    ----------
    store_url : str
        Of the store to look at.
    """
    try:
        zoviz = distribution("zoviz")
    except PackageNotFoundError:
        yield Finding("zoviz", MISSING, "running from source, not installed: versions and extras cannot be checked.")
    else:
        yield from _versions(zoviz)
        yield from _extras(zoviz)
    yield _repetition()
    yield from _browsers()
    yield _port()
    yield _store(store_url)
    yield from _permissions()


def _versions(zoviz: Distribution) -> Iterator[Finding]:
    """Compare Python and the packages that zoviz cannot do without with its lower bounds."""
    python = SpecifierSet(zoviz.metadata["Requires-Python"] or "")
    suits = python.contains(platform.python_version(), prereleases=True)
    advice = "" if suits else f": expected {python}; create an environment with it"
    yield Finding("Python", OK if suits else BROKEN, f"{platform.python_version()} ({sys.executable}){advice}")
    lacks = _lacks(_requirements(zoviz, ""))
    place = Path(__file__).resolve().parents[1]
    if lacks:
        yield Finding("zoviz", BROKEN, f"{zoviz.version} needs {lacks}: python -m pip install -U zoviz")
    else:
        numeric = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "panel", "bokeh"))
        yield Finding("zoviz", OK, f"{zoviz.version} in {place}, with {numeric}")


def _extras(zoviz: Distribution) -> Iterator[Finding]:
    """Say of every optional extra whether all of it is installed."""
    for extra in sorted(zoviz.metadata.get_all("Provides-Extra") or []):
        wanted = _requirements(zoviz, extra)
        lacks = _lacks(wanted)
        if lacks:
            yield Finding(f"extra {extra}", MISSING, f'needs {lacks}: python -m pip install "zoviz[{extra}]"')
        else:
            names = ", ".join(f"{one.name} {version(one.name)}" for one in wanted[:3])
            yield Finding(f"extra {extra}", OK, names + f" and {len(wanted) - 3} more" * (len(wanted) > 3))


def _requirements(zoviz: Distribution, extra: str) -> list[Requirement]:
    """Return what an extra adds to the requirements; of the empty name, the requirements themselves."""
    parsed = [Requirement(text) for text in zoviz.requires or []]
    here = [one for one in parsed if one.marker is None or one.marker.evaluate({"extra": extra})]
    plain = {canonicalize_name(one.name) for one in here if one.marker is None or one.marker.evaluate({"extra": ""})}
    return [one for one in here if not extra or canonicalize_name(one.name) not in plain]


def _lacks(requirements: list[Requirement]) -> str:
    """List the packages that are missing, or of another version than is needed; empty where there are none."""
    lacking = []
    for one in requirements:
        try:
            installed = version(one.name)
        except PackageNotFoundError:
            lacking.append(one.name)
        else:
            if not one.specifier.contains(installed, prereleases=True):
                lacking.append(f"{one.name}{one.specifier}, not {installed}")
    return ", ".join(lacking)


def _repetition() -> Finding:
    """Solve a small problem twice: the promise of exact replays depends on this machine's arithmetic."""
    run = Run(LoadTracking(n=4, curtailment=30.0), ZOCEG(), replicas=2, iterations=50)
    first, again = run.run(), run.replay().run()
    if (first.x == again.x).all():
        return Finding("exact replay", OK, "a small run, repeated, is identical bit for bit")
    return Finding("exact replay", BROKEN, "a small run, repeated, differs: reinstall NumPy and SciPy")


def _browsers() -> Iterator[Finding]:
    """Look for a browser for the dashboard, and for the one that the tests drive."""
    try:
        webbrowser.get()
        yield Finding("browser", OK, "found; zoviz serve opens it")
    except webbrowser.Error:
        advice = "use zoviz serve --no-show and open the printed address in a browser on another machine"
        yield Finding("browser", MISSING, f"none on this machine: {advice}")
    if shutil.which("chromium"):
        yield Finding("browser tests", OK, shutil.which("chromium") or "")
    else:
        yield Finding("browser tests", MISSING, "skipped, Chromium is missing: apt-get install chromium")


def _port() -> Finding:
    """See whether the dashboard's usual port is free."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", _PORT))
        except OSError:
            return Finding("port", OK, f"{_PORT} is in use: zoviz serve --port 0 picks a free one")
    return Finding("port", OK, f"{_PORT} is free for zoviz serve")


def _store(url: str) -> Finding:
    """Open the store where there is one, read all of it, and see whether the disk has room."""
    if url == "none":
        return Finding("store", OK, "runs are not stored, as set by the environment variable ZOVIZ_STORE")
    try:
        with Store(url, create=False) as store:
            faults, count, name = store.check(), store.count(), store.database.name
            folder = Path(name).resolve().parent if store.database.sqlite else None
    except NoStore:
        return Finding("store", OK, "none yet; the first stored run creates it")
    except ZovizError as error:
        return Finding("store", BROKEN, str(error))
    if faults:
        return Finding("store", BROKEN, f"{name} has {len(faults)} faults (zoviz runs check lists them): {faults[0]}")
    if folder is not None and not (os.access(name, os.W_OK) and os.access(folder, os.W_OK)):
        return Finding("store", BROKEN, f"{name} is read-only: check the permissions of the file and its folder")
    free = None if folder is None else shutil.disk_usage(folder).free
    if free is not None and free < _ROOM:
        return Finding("store", BROKEN, f"{name} has {free / 2**20:.0f} MiB left on its disk: free some space")
    return Finding("store", OK, f"{count} runs in {name}, all intact")


def _permissions() -> Iterator[Finding]:
    """See whether what zoviz writes beside a store can be written, and whether others could read its key."""
    for subject, folder in (("this folder", Path.cwd()), ("temporary files", Path(tempfile.gettempdir()))):
        if os.access(folder, os.W_OK):
            yield Finding(subject, OK, f"{folder} is writable")
        else:
            yield Finding(subject, BROKEN, f"{folder} is not writable: use another folder, or change its permissions")
    key = key_file()
    exists = next(folder for folder in (key, *key.parents) if folder.exists())
    if key.exists() and os.name != "nt" and key.stat().st_mode & 0o077:
        yield Finding("signing key", BROKEN, f"{key} is readable by others and therefore not used: chmod 600 {key}")
    elif not os.access(exists, os.R_OK if exists == key else os.W_OK):
        advice = "stored runs with your own functions then need --trust"
        yield Finding("signing key", MISSING, f"{key} cannot be created or read: {advice}")
    else:
        yield Finding("signing key", OK, str(key) if exists == key else f"created at {key} when first needed")
