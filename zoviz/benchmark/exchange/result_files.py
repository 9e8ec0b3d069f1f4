"""Opens other benchmarks' result files by their kind: OptiProfiler files, COCO folders and archives."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from zoviz.benchmark.exchange.coco_archive import read_coco
from zoviz.benchmark.exchange.imported_runs import Import
from zoviz.benchmark.exchange.optiprofiler_file import SUFFIX, read_optiprofiler
from zoviz.core.errors import ZovizError

ARCHIVES = (".zip", ".tgz", ".tar.gz", ".tar")
"""Suffixes of COCO's folders in one file."""
_TEXTS = (".info", ".dat", ".tdat")
_LARGEST = 2**30
"""Bytes that the texts of an archive may have together."""


def read_results(paths: Sequence[str | Path]) -> Import:
    """Return the runs in OptiProfiler or COCO files and folders.

    Parameters
    ----------
    paths : sequence of path
        A ``data_for_loading.h5`` or a folder that has one somewhere, a folder of COCO's or one of its ``.info`` files,
        or such a folder as ``.zip``, ``.tgz`` or ``.tar``.

    Raises
    ------
    ZovizError
        Where a path is missing, or is none of these.
    """
    return Import.joined(_folder(path) if path.is_dir() else _file(path) for path in map(Path, paths))


def read_upload(name: str, content: bytes) -> Import:
    """Return the runs of a file of a given name: OptiProfiler's ``.h5``, or COCO's folder in an archive.

    Raises
    ------
    ZovizError
        Where it is neither.
    """
    if name.endswith(SUFFIX):
        return read_optiprofiler(io.BytesIO(content), name)
    if name.endswith(ARCHIVES):
        return read_coco(_unpacked(name, content), name)
    raise ZovizError(
        f"Expected OptiProfiler's data_for_loading.h5 or an archive of COCO's ({', '.join(ARCHIVES)}), got {name!r}."
    )


def _file(path: Path) -> Import:
    if not path.exists():
        raise ZovizError(f"Expected a file or a folder of results, got {path}, which does not exist.")
    if path.suffix != ".info":
        return read_upload(path.name, path.read_bytes())
    own = _texts(path.parent)
    others = {name for name in own if name.endswith(".info") and name != path.name}
    return read_coco({name: text for name, text in own.items() if name not in others}, path.name)


def _folder(path: Path) -> Import:
    found = [read_upload(one.name, one.read_bytes()) for one in sorted(path.rglob(f"*{SUFFIX}"))]
    texts = _texts(path)
    return Import.joined([*found, read_coco(texts, path.name)] if texts or not found else found)


def _texts(folder: Path) -> dict[str, str]:
    """Return COCO's files below a folder."""
    files = (one for suffix in _TEXTS for one in sorted(folder.rglob(f"*{suffix}")))
    return {one.relative_to(folder).as_posix(): one.read_text(encoding="utf-8", errors="replace") for one in files}


def _unpacked(name: str, content: bytes) -> dict[str, str]:
    """Return COCO's files in an archive, which is read in memory: nothing is written."""
    texts: dict[str, str] = {}
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = [one for one in archive.infolist() if one.filename.endswith(_TEXTS)]
                _check(name, sum(one.file_size for one in members))
                texts = {one.filename: _text(archive.read(one)) for one in members}
        else:
            with tarfile.open(fileobj=io.BytesIO(content)) as tar:
                inside = [one for one in tar.getmembers() if one.isfile() and one.name.endswith(_TEXTS)]
                _check(name, sum(one.size for one in inside))
                opened = ((one.name, tar.extractfile(one)) for one in inside)
                texts = {path: _text(file.read()) for path, file in opened if file is not None}
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise ZovizError(f"Expected an archive of COCO's, got {name}, which cannot be unpacked: {error}.") from None
    return texts


def _check(name: str, size: int) -> None:
    if size > _LARGEST:
        raise ZovizError(
            f"Expected results of at most {_LARGEST >> 30} GiB, got {size / 2**30:.1f} in {name}: give a part of them."
        )


def _text(content: bytes) -> str:
    return content.decode("utf-8", errors="replace")
