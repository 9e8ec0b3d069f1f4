"""Files and folders of results, opened by what they are; what is none of them is said."""

from __future__ import annotations

import io
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from helpers.project import ROOT
from zoviz.benchmark.exchange.result_files import read_results, read_upload
from zoviz.core.errors import ZovizError

DATA = ROOT / "tests" / "data"
COCO, OPTIPROFILER = DATA / "coco_bbob.zip", DATA / "optiprofiler_hs.h5"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """COCO's folders of two methods."""
    with zipfile.ZipFile(COCO) as archive:
        archive.extractall(tmp_path)
    return tmp_path / "exdata"


def test_archives_folders_and_single_functions_give_the_same_runs(folder: Path, tmp_path: Path) -> None:
    of_zip = read_results([COCO]).runs
    assert [(one.solver, len(one.problems)) for one in of_zip] == [("nelder-mead", 12), ("random", 12)]
    tar = tmp_path / "a.tgz"
    with tarfile.open(tar, "w:gz") as archive:
        archive.add(folder)
    for path in (folder, tar):
        runs = read_results([path]).runs
        assert {one.solver: list(one.problems) for one in runs} == {one.solver: list(one.problems) for one in of_zip}
    (one,) = read_results([folder / "random" / "bbobexp_f8.info"]).runs
    assert set(one.problems) == {f"bbob_f008_i{i:02d}_d{n:02d}" for i in (1, 2, 3) for n in (2, 5)}


def test_a_folder_of_optiprofiler_is_searched(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    (tmp_path / "out" / "test_log").mkdir(parents=True)
    shutil.copy(OPTIPROFILER, tmp_path / "out" / "test_log" / "data_for_loading.h5")
    assert [one.solver for one in read_results([tmp_path, COCO]).runs] == ["COBYLA", "SLSQP", "nelder-mead", "random"]


@pytest.mark.parametrize(
    "name, content, sentence",
    [
        ("a.txt", b"", "Expected OptiProfiler's data_for_loading.h5 or an archive of COCO's"),
        ("a.zip", b"nothing", "got a.zip, which cannot be unpacked"),
        ("a.tgz", b"nothing", "got a.tgz, which cannot be unpacked"),
    ],
)
def test_what_is_none_of_them_is_said(name: str, content: bytes, sentence: str) -> None:
    with pytest.raises(ZovizError, match=sentence):
        read_upload(name, content)


def test_an_archive_without_results_and_a_missing_path_are_said(tmp_path: Path) -> None:
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("a.txt", "nothing")
    with pytest.raises(ZovizError, match="got none in a.zip"):
        read_upload("a.zip", empty.getvalue())
    with pytest.raises(ZovizError, match="does not exist"):
        read_results([tmp_path / "nowhere"])
    with pytest.raises(ZovizError, match="an .info file among them"):
        read_results([tmp_path])
