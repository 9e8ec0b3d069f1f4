"""A binary format for nested values: arrays and JSON, without pickle, nothing imported on reading."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import sys
import threading
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.types import Sample

_MAGIC, _DIGEST = b"zoviz pack 1\n", 16
"""How packed bytes begin, with the version of the format, and the bytes of a digest."""

_KINDS = "biuf"
_SPARSEST = 64
"""How many times the bytes of its numbers an array may extend over for its layout to be stored. The layout matters: the
last bit of a product with every third number of an array may differ from that with the same numbers side by side, and a
resumed run would leave its course."""
_ONE_READER = threading.Lock()
"""Held while an archive is read: NumPy has Python parse each array's header, and two threads that parse at once may
meet in the parser's count of its depth ("AST constructor recursion depth mismatch", Python's issue 106905)."""


def pack(value: Any) -> bytes:
    """Return the bytes of nested dicts, lists, tuples, NamedTuples, dataclasses, numbers, text, None and arrays.

    Layout: a line with the version, a BLAKE2 digest of 16 bytes, and an npz with the tree as JSON and one array for
    each type of number. An array that occurs twice is stored once, and is one array again when it is read; views that
    are not contiguous come back with their strides. A NamedTuple or a dataclass is stored by field under the name of
    its class: the bare name where it is zoviz's own, so that its module may move, else ``module:name``.

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


def unpack(data: bytes, classes: Mapping[str, type[Any]] | None = None) -> Any:
    """Return the value that ``pack`` was given.

    Parameters
    ----------
    data : bytes
    classes : mapping of str to type, optional
        zoviz's own NamedTuples and dataclasses by name; those of others are looked up among the modules that are
        loaded: nothing is imported. Without it, each of them is a dict of its fields.

    Raises
    ------
    ZovizError
        For bytes that are damaged, of another version, or that name a class which is not there.
    """
    head = data[: len(_MAGIC)]
    if head != _MAGIC:
        raise ZovizError(
            f"Expected bytes that begin with {_MAGIC!r}, got {head!r}: they are damaged, or another version of zoviz "
            "wrote them; use a copy, or that version."
        )
    digest, body = data[len(_MAGIC) : len(_MAGIC) + _DIGEST], data[len(_MAGIC) + _DIGEST :]
    if hashlib.blake2b(body, digest_size=_DIGEST).digest() != digest:
        raise ZovizError(f"Expected {len(data)} bytes with a digest that fits them, got damaged ones.")
    try:
        with _ONE_READER, np.load(io.BytesIO(body), allow_pickle=False) as members:
            columns = dict(members)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ZovizError(f"Expected an archive of arrays, got one that cannot be read: {error}") from error
    return _Reader(columns, classes).read(json.loads(columns.pop("tree").tobytes()))


class _Packer:
    """Spells values as JSON and gathers their arrays, one list for each type of number."""

    def __init__(self) -> None:
        self._gathered: dict[str, list[np.ndarray]] = {}
        self._sizes: dict[str, int] = {}
        self._spelt: dict[int, tuple[Any, dict[str, Any]]] = {}

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
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            fields = {name: self.spell(item) for name, item in value._asdict().items()}
            return {"named": _name(type(value)), "fields": fields}
        if isinstance(value, tuple):
            return {"tuple": [self.spell(item) for item in value]}
        if isinstance(value, Sample):
            return {"sample": self.spell(vars(value))}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            own = {one.name: self.spell(getattr(value, one.name)) for one in dataclasses.fields(value)}
            return {"named": _name(type(value)), "fields": own}
        raise ZovizError(
            f"Expected arrays of numbers, numbers, text, None, or tuples, lists and dicts of them, got "
            f"{type(value).__name__}: a solver's state must be made of these, or say checkpointable = False."
        )

    def _array(self, array: np.ndarray) -> dict[str, Any]:
        if id(array) in self._spelt:
            return self._spelt[id(array)][1]
        kind = array.dtype.name
        if array.dtype.kind not in _KINDS:
            raise ZovizError(f"Expected an array of numbers, got one of {array.dtype}: keep others out of states.")
        start = self._sizes.get(kind, 0)
        self._gathered.setdefault(kind, []).append(array.ravel())
        self._sizes[kind] = start + array.size
        spelt = {"array": kind, "shape": list(array.shape), "start": start}
        if not array.flags.c_contiguous and _extent(array.shape, array.strides) <= _SPARSEST * array.nbytes:
            spelt["strides"] = list(array.strides)
        self._spelt[id(array)] = array, spelt  # the array too: were it let go, another could get its id
        return spelt


class _Reader:
    """Rebuilds values from JSON and the gathered arrays."""

    def __init__(self, columns: dict[str, np.ndarray], classes: Mapping[str, type[Any]] | None) -> None:
        self._columns, self._classes = columns, classes
        self._arrays: dict[tuple[Any, ...], np.ndarray] = {}

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
        return self._named(spelt)

    def _named(self, spelt: dict[str, Any]) -> Any:
        """Return a NamedTuple or a dataclass by the names of its fields."""
        name = spelt["named"]
        values = {field: self.read(item) for field, item in spelt["fields"].items()}
        if self._classes is None:
            return values
        cls = _class_at(name) if ":" in name else self._classes.get(name)
        if cls is None:
            raise ZovizError(f"Expected a state of this version of zoviz, got {name!r}: another version stored it.")
        names, required = _fields(cls)
        if not required <= values.keys() <= set(names):
            raise ZovizError(
                f"Expected {name} with {', '.join(names)}, got {', '.join(values)}: another version stored it."
            )
        return cls(**values)

    def _array(self, spelt: dict[str, Any]) -> np.ndarray:
        kind, start, shape = spelt["array"], spelt["start"], tuple(spelt["shape"])
        key = kind, start, shape, tuple(spelt.get("strides", ()))
        if key not in self._arrays or not self._arrays[key].size:
            size = int(np.prod(shape, dtype=np.int64))
            values = self._columns[kind][start : start + size].reshape(shape)
            self._arrays[key] = _laid_out(values, key[-1]) if key[-1] else values.copy()
        return self._arrays[key]


def _extent(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Return how many bytes lie between the first and the last number of an array."""
    return sum((count - 1) * abs(stride) for count, stride in zip(shape, strides, strict=True))


def _laid_out(values: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """Return a copy of an array with these strides, in bytes."""
    lowest = sum(min(0, (count - 1) * stride) for count, stride in zip(values.shape, strides, strict=True))
    memory = np.zeros(_extent(values.shape, strides) + values.itemsize, dtype=np.uint8)
    out: np.ndarray = np.ndarray(values.shape, values.dtype, memory.data, -lowest, strides)
    out[...] = values
    return out


def _name(cls: type) -> str:
    if "<locals>" in cls.__qualname__:
        raise ZovizError(f"Expected a state whose class has a place, got {cls.__qualname__}: define it at the top.")
    own = cls.__module__.partition(".")[0] == "zoviz"
    return cls.__qualname__ if own else f"{cls.__module__}:{cls.__qualname__}"


def is_record(cls: object) -> bool:
    """Return whether something is a class whose objects are stored by field: a NamedTuple or a dataclass."""
    return isinstance(cls, type) and (hasattr(cls, "_field_defaults") or dataclasses.is_dataclass(cls))


def _fields(cls: Any) -> tuple[list[str], set[str]]:
    """Return the names of a class's fields, and those without a default."""
    if not dataclasses.is_dataclass(cls):
        return list(cls._fields), set(cls._fields) - cls._field_defaults.keys()
    fields, missing = dataclasses.fields(cls), dataclasses.MISSING
    return [one.name for one in fields], {
        one.name for one in fields if one.default is missing and one.default_factory is missing
    }


def _class_at(address: str) -> Any:
    """Return the NamedTuple or dataclass ``module:name`` in a module that is loaded."""
    module, _, name = address.partition(":")
    item: Any = sys.modules.get(module)
    for part in name.split("."):
        item = getattr(item, part, None)
    if not is_record(item):
        raise ZovizError(f"Expected a NamedTuple at {address}, got none: was it renamed, or is its module not loaded?")
    return item
