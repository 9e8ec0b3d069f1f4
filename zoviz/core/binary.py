"""Nested values as bytes: arrays and JSON, no pickle, nothing imported when they are read."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import zipfile
from typing import Any

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.types import Sample

_MAGIC, _DIGEST = b"zoviz pack 1\n", 16
_KINDS = "biuf"


def pack(value: Any) -> bytes:
    """Bytes of dicts, lists, tuples, NamedTuples, numbers, text, None and arrays of numbers, nested in any way.

    Layout: a line with the version, a BLAKE2 digest of 16 bytes, and an npz with the tree as JSON and one array for
    each type of number. An array that occurs twice is stored once, and is one array again when it is read.

    Raises
    ------
    ZovizError
        For any other value.
    """
    packer = _Packer()
    tree = json.dumps(packer.spell(value)).encode()
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, tree=np.frombuffer(tree, np.uint8), **packer.columns())
    body = file.getvalue()
    return _MAGIC + hashlib.blake2b(body, digest_size=_DIGEST).digest() + body


def unpack(data: bytes) -> Any:
    """What ``pack`` was given.

    NamedTuples are looked up among the modules that are loaded: nothing is imported.

    Raises
    ------
    ZovizError
        For bytes that are damaged, of another version, or that name a class which is not there.
    """
    if data[: len(_MAGIC)] != _MAGIC:
        raise ZovizError(f"Expected bytes that begin with {_MAGIC!r}, got {data[: len(_MAGIC)]!r}: another version's?")
    digest, body = data[len(_MAGIC) : len(_MAGIC) + _DIGEST], data[len(_MAGIC) + _DIGEST :]
    if hashlib.blake2b(body, digest_size=_DIGEST).digest() != digest:
        raise ZovizError(f"Expected {len(data)} bytes with a digest that fits them, got damaged ones.")
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as members:
            columns = dict(members)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ZovizError(f"Expected an archive of arrays, got one that cannot be read: {error}") from error
    return _Reader(columns).read(json.loads(columns.pop("tree").tobytes()))


class _Packer:
    """Spells values as JSON and gathers their arrays, one list for each type of number."""

    def __init__(self) -> None:
        self._gathered: dict[str, list[np.ndarray]] = {}
        self._sizes: dict[str, int] = {}
        self._known: dict[int, tuple[Any, dict[str, Any]]] = {}

    def columns(self) -> dict[str, Any]:
        return {kind: np.concatenate(parts) for kind, parts in self._gathered.items()}

    def spell(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value))}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, list):
            return [self.spell(item) for item in value]
        if isinstance(value, dict):
            return {"dict": [[self.spell(key), self.spell(item)] for key, item in value.items()]}
        if isinstance(value, tuple):
            parts = [self.spell(item) for item in value]
            return {"named": _address(type(value)), "parts": parts} if hasattr(value, "_fields") else {"tuple": parts}
        if isinstance(value, Sample):
            return {"sample": self.spell(vars(value))}
        raise ZovizError(
            f"Expected arrays of numbers, numbers, text, None, or tuples, lists and dicts of them, got "
            f"{type(value).__name__}: a solver's state must be made of these, or say checkpointable = False."
        )

    def _array(self, array: np.ndarray) -> dict[str, Any]:
        if id(array) in self._known:
            return self._known[id(array)][1]
        kind = array.dtype.name
        if array.dtype.kind not in _KINDS:
            raise ZovizError(f"Expected an array of numbers, got one of {array.dtype}: keep others out of states.")
        start = self._sizes.get(kind, 0)
        self._gathered.setdefault(kind, []).append(array.ravel())
        self._sizes[kind] = start + array.size
        spelt = {"array": kind, "shape": list(array.shape), "start": start}
        self._known[id(array)] = array, spelt  # the array too: were it let go, another could get its id
        return spelt


class _Reader:
    """Rebuilds values from JSON and the gathered arrays."""

    def __init__(self, columns: dict[str, np.ndarray]) -> None:
        self._columns = columns
        self._known: dict[tuple[str, int, tuple[int, ...]], np.ndarray] = {}

    def read(self, spelt: Any) -> Any:
        if isinstance(spelt, list):
            return [self.read(item) for item in spelt]
        if not isinstance(spelt, dict):
            return spelt
        if "array" in spelt:
            return self._array(spelt)
        if "scalar" in spelt:
            return self._array(spelt["scalar"])[()]
        if "dict" in spelt:
            return {self.read(key): self.read(item) for key, item in spelt["dict"]}
        if "sample" in spelt:
            return Sample(**self.read(spelt["sample"]))
        if "tuple" in spelt:
            return tuple(self.read(item) for item in spelt["tuple"])
        return _class_at(spelt["named"])(*(self.read(item) for item in spelt["parts"]))

    def _array(self, spelt: dict[str, Any]) -> np.ndarray:
        key = spelt["array"], spelt["start"], tuple(spelt["shape"])
        if key not in self._known or not self._known[key].size:
            kind, start, shape = key
            size = int(np.prod(shape, dtype=np.int64))
            self._known[key] = self._columns[kind][start : start + size].reshape(shape).copy()
        return self._known[key]


def _address(cls: type) -> str:
    if "<locals>" in cls.__qualname__:
        raise ZovizError(f"Expected a state whose class has a place, got {cls.__qualname__}: define it at the top.")
    return f"{cls.__module__}:{cls.__qualname__}"


def _class_at(address: str) -> Any:
    """The NamedTuple of this name in a module that is loaded."""
    module, _, name = address.partition(":")
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if not (isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields")):
        raise ZovizError(f"Expected a NamedTuple at {address}, got none: was it renamed, or is its module not loaded?")
    return found
