"""Signatures of stored runs: with a key of the user's own, his runs need no further trust to be made again.

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

from zoviz.runs.storage.recipe import names

_SIGNED = ("problem", "solver", "settings", "schedule")
"""Columns of a recipe that a signature covers: all that decides what is imported, launched, and how often."""

_FORMAT = "1"
_SIZE = 32
"""Bytes of the key: as many as of the digest."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def key_file() -> Path:
    """Return the path of the key: ``zoviz/signing.key`` in the user's configuration folder."""
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
    """Return the signature of a run that this user begins here; empty where it needs no trust or there is no key.

    Parameters
    ----------
    run : str
        Its id.
    recipe : mapping of str to str
        Columns of its row in ``recipes``.
    """
    if not names([json.loads(recipe[kind]) for kind in ("problem", "solver")]):
        return ""
    key = _key(create=True)
    return "" if key is None else _signature(key, run, recipe)


def is_own(run: str, recipe: Mapping[str, str]) -> bool:
    """Return whether this user began the run on this machine, in this folder, and its row has not changed since.

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
    """Return the signature of a stored run that is resumed here with the settings of ``ours``.

    It is signed where it was this user's before, or where he has trusted, or given, just what is stored.
    """
    same = all(json.loads(stored[kind]) == json.loads(ours[kind]) for kind in ("problem", "solver"))
    return sign(run, {**stored, "settings": ours["settings"]}) if same or is_own(run, stored) else ""


def _signature(key: bytes, run: str, recipe: Mapping[str, str]) -> str:
    """Return the HMAC-SHA256 of the parts as JSON, which separates them without ambiguity.

    The machine and the working folder count, since names of programs and modules mean others elsewhere: a store in a
    folder that somebody hands over has nothing in it that would be launched there.
    """
    where = [socket.gethostname(), os.path.realpath(os.getcwd())]
    signed = json.dumps([_FORMAT, run, where, [recipe[name] for name in _SIGNED]])
    return f"{_FORMAT}:{hmac.new(key, signed.encode(), hashlib.sha256).hexdigest()}"


def _key(create: bool) -> bytes | None:
    """The key, made where there is none if asked to; None where it cannot be read, or others may read or write it."""
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
    """Make the key under a temporary name first: processes that begin at once all read the one that lasts."""
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
