"""Whose a stored run is: a key of this user's signs what a run that he has begun may import and launch again.

A store may come from anybody. What its rows name is imported or launched only where the person at the keyboard trusts
it by name; a run that he himself has begun, on this machine and in this folder, he has trusted by beginning it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import socket
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from zoviz.runs.storage.recipe import names, read

_SIGNED = ("problem", "solver", "settings", "schedule")
"""Columns of a recipe that a signature covers: all that decides what is imported, launched, and how often."""

_FORMAT = "1"
_SIZE = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def key_file() -> Path:
    """Where the key is: ``zoviz/signing.key`` in the user's folder for settings (``XDG_CONFIG_HOME`` and its like)."""
    configured = os.environ.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(configured):
        base = Path(configured)
    elif os.name == "nt":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path.home() / ".config"
    return base / "zoviz" / "signing.key"


def sign(run: str, recipe: Mapping[str, str]) -> str:
    """The signature of a run that this user begins here; empty where it needs no trust, or no key can be had.

    Parameters
    ----------
    run : str
        Its id.
    recipe : mapping of str to str
        Columns of its row in ``recipes``.
    """
    if not names([read(recipe[kind]) for kind in ("problem", "solver")]):
        return ""
    key = _key(create=True)
    return "" if key is None else _signature(key, run, recipe)


def is_own(run: str, recipe: Mapping[str, str]) -> bool:
    """Whether this user has begun the run on this machine, from this folder, and its row has not changed since.

    Parameters
    ----------
    run : str
    recipe : mapping of str to str
        Its row in ``recipes``, with ``signature``.
    """
    if not recipe["signature"]:
        return False
    key = _key(create=False)
    return key is not None and hmac.compare_digest(recipe["signature"].encode(), _signature(key, run, recipe).encode())


def renewed(run: str, stored: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """The signature of a stored run that goes on here with the settings of ``ours``.

    It is signed where it was this user's before, or where he has trusted, or given, just what is stored.
    """
    same = all(read(stored[kind]) == json.loads(ours[kind]) for kind in ("problem", "solver"))
    return sign(run, {**stored, "settings": ours["settings"]}) if same or is_own(run, stored) else ""


def _signature(key: bytes, run: str, recipe: Mapping[str, str]) -> str:
    """HMAC-SHA256 of what is signed, as JSON, which tells where one part ends and the next begins.

    The machine and the working folder count, since names of programs and modules mean others elsewhere: a store in a
    folder that somebody hands over has nothing in it that would be launched there.
    """
    where = [socket.gethostname(), os.path.realpath(os.getcwd())]
    signed = json.dumps([_FORMAT, run, where, [recipe[name] for name in _SIGNED]])
    return f"{_FORMAT}:{hmac.new(key, signed.encode(), hashlib.sha256).hexdigest()}"


def _key(create: bool) -> bytes | None:
    """The key, made where there is none if asked to; None where it cannot be had, or others may read or write it."""
    path = key_file()
    try:
        if create and not path.exists():
            _make(path)
        with path.open("rb") as file:
            status, key = os.fstat(file.fileno()), file.read(_SIZE + 1)
    except OSError:
        return None  # a run goes on without a signature: it is then to be trusted by name
    private = os.name == "nt" or (status.st_uid == os.geteuid() and not status.st_mode & _OTHERS)
    return key if private and len(key) == _SIZE else None


def _make(path: Path) -> None:
    """Make the key under another name first: of several processes that begin at once, all read the one that lasts."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{secrets.token_hex(8)}.key")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(_SIZE))
    try:
        os.link(fresh, path)
    except FileExistsError:
        pass  # another process was faster
    finally:
        fresh.unlink()
