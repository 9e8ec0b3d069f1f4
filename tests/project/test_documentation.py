"""The pages of docs/: every block of code on them runs, and every public name and every class has its page."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from helpers.project import ROOT
from helpers.shapes import without_a_shape
from helpers.shell_blocks import assert_block_runs, blocks, unnamed
from helpers.sources import SOURCES, for_each
from zoviz.core.durations import duration
from zoviz.core.types import Array
from zoviz.studies.verdict import Verdict

sybil = pytest.importorskip("sybil", reason='python -m pip install -e ".[test]"')

DOCS = ROOT / "docs"
WRITTEN = ("_build", "experiments", "packages", "notebooks", "problems", "solvers")
"""Folders that are written when the documentation is built."""
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if not set(path.relative_to(DOCS).parts) & set(WRITTEN)]
SLOW = ("how_to/benchmark.md",)
"""Pages whose blocks take many seconds."""
LANGUAGES = {"python", "bash", "yaml"}


def named(path: Path) -> str:
    return path.relative_to(DOCS).as_posix()


def shell(example: sybil.Example) -> None:
    assert_block_runs(example.parsed)


@pytest.mark.parametrize(
    "path", [pytest.param(p, marks=[pytest.mark.slow] if named(p) in SLOW else [], id=named(p)) for p in PAGES]
)
def test_every_block_of_a_page_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sybil.document import Document
    from sybil.parsers.myst import CodeBlockParser, PythonCodeBlockParser

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZOVIZ_STORE", "sqlite:///zoviz.db")
    monkeypatch.setattr(sys, "path", [*sys.path])
    for block in blocks(path, "python"):
        if name := re.match(r"# (\w+\.py)\n", block):  # a file that the reader is to save
            Path(name[1]).write_text(block, encoding="utf-8")
    before = set(sys.modules)
    document = Document.parse(str(path), PythonCodeBlockParser(), CodeBlockParser("bash", shell))
    try:
        for example in document.examples():
            if "asyncio.run(" in str(example.parsed):  # not in this thread: the browser's tests leave a loop in it
                with ThreadPoolExecutor(1) as thread:
                    thread.submit(example.evaluate).result()
            else:
                example.evaluate()
    finally:
        for name in set(sys.modules) - before:
            if getattr(sys.modules[name], "__file__", None) and Path(sys.modules[name].__file__ or "").is_relative_to(
                tmp_path
            ):
                del sys.modules[name]
    languages = set(re.findall(r"^ *```(\w+)$", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert languages <= LANGUAGES, f"Expected blocks in {LANGUAGES}, which run, got {languages}."


@for_each([*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
def test_every_block_says_what_it_is_in(path: Path) -> None:
    assert unnamed(path.read_text(encoding="utf-8")) == []


EXAMPLES = [path for path in SOURCES if ">>> " in path.read_text(encoding="utf-8")]
"""Modules with examples in their docstrings."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_in_docstrings_are_true(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = path.read_text(encoding="utf-8")
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    failed, attempted = doctest.testmod(module)
    assert not failed and attempted == source.count(">>> ") and "+SKIP" not in source


def test_a_block_that_fails_fails_its_page(tmp_path: Path) -> None:
    from sybil.document import Document
    from sybil.parsers.myst import CodeBlockParser, PythonCodeBlockParser

    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 1\n```\n\n```bash\nzoviz solvers NoSuchSolver\n```\n\n```python\nassert x == 2\n```\n"
    )
    examples = list(Document.parse(str(page), PythonCodeBlockParser(), CodeBlockParser("bash", shell)).examples())
    assert len(examples) == 3
    examples[0].evaluate()
    for failing in examples[1:]:
        with pytest.raises(AssertionError):
            failing.evaluate()


@pytest.fixture
def extensions(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx", reason='python -m pip install -e ".[docs]"')
    monkeypatch.syspath_prepend(DOCS)


def test_every_public_name_has_its_place_in_the_reference(extensions: None) -> None:
    from extensions.reference import packages, public_names

    import zoviz

    pages = packages()
    places = {f"{module}.{name}" for members in pages.values() for module in members for name in public_names(module)}
    exported: list[Callable[..., object]] = [
        getattr(package, name)
        for package in (zoviz, zoviz.problems, zoviz.solvers, zoviz.estimators)
        for name in package.__all__
        if name not in ("problems", "solvers", "estimators")
    ]
    assert [one for one in exported if f"{one.__module__}.{one.__qualname__}" not in places] == []
    assert len(places) > 500


def test_every_public_name_that_has_arrays_says_their_shapes(extensions: None) -> None:
    from extensions.reference import packages, public_names

    modules = [module for members in packages().values() for module in members]
    things = [
        (name, getattr(importlib.import_module(module), name)) for module in modules for name in public_names(module)
    ]
    silent = [f"{thing.__module__}: {one}" for name, thing in things for one in without_a_shape(name, thing)]
    assert not silent, "\n".join(silent)


def test_a_docstring_without_a_shape_is_seen() -> None:
    def norms(x: Array, weights: list[Array] | None = None) -> Array:
        """Return the norms of points (see above)."""

    def named(x: Array) -> Array:
        """Return the norms (R, 1 + m) of points (R, n)."""

    class Base:
        def at(self, x: Array) -> float:
            """Return the value at a point (n,)."""

    class Own(Base):
        def at(self, x: Array) -> float:
            """Return the value of f."""

        def beside(self, columns: Mapping[str, Array]) -> float:
            """Return what a trace has last."""

        def path(self) -> tuple[Array, Array] | None:
            """Return the path, and values on it."""

    assert list(without_a_shape("norms", norms)) == ["norms"] and list(without_a_shape("named", named)) == []
    assert list(without_a_shape("Own", Own)) == ["Own.path"]


def test_what_was_measured_is_of_solvers_and_on_pages_that_there_are(extensions: None) -> None:
    from extensions.gallery import classes, measured

    entries = measured(DOCS)
    assert entries.keys() <= classes("solvers").keys() and len(entries) > 20
    assert all({"page"} < set(entry) <= {"good", "bad", "page"} for entry in entries.values())
    assert [entry["page"] for entry in entries.values() if not (DOCS / f"{entry['page']}.md").exists()] == []


def test_the_reference_at_the_top_has_every_exported_name() -> None:
    import zoviz

    text = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    assert [name for name in zoviz.__all__ if f"zoviz.{name}" not in text] == []


def cells_of(table: str) -> list[list[str]]:
    """The rows of the Markdown tables in a text, heads left out."""
    rows = [re.split(r" (?<!\\)\| ", f" {line.strip('|')} ") for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip().replace("\\|", "|").replace("\\*", "*") for cell in row] for row in rows]


@pytest.fixture(scope="module")
def experiment_pages() -> dict[str, str]:
    """What the documentation has of the recorded results, judged once."""
    pytest.importorskip("sphinx", reason='python -m pip install -e ".[docs]"')
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        from extensions.experiments import pages

        return pages()


def test_the_page_on_other_draws_counts_what_holds(extensions: None, experiment_pages: dict[str, str]) -> None:
    from extensions.experiments import DRAWS

    rows = cells_of(experiment_pages["draws.md"])
    own = [list(map(int, row[1:])) for row in rows if row[0].startswith("`zoviz reproduce ")]
    assert len(own) == len(list(DRAWS.glob("*.json")))
    assert all(decided == held + turned + undecided for decided, held, turned, undecided in own)
    (whole,) = [row[1:] for row in rows if row[0] == "**All**"]
    assert whole == [f"**{sum(column)}**" for column in zip(*own, strict=True)]


def test_each_paper_s_page_has_the_figures_and_verdicts_of_the_records(experiment_pages: dict[str, str]) -> None:
    texts, counts = experiment_pages, Counter[tuple[str, str]]()
    tables = {name.removesuffix(".txt"): cells_of(text) for name, text in texts.items() if name.endswith(".txt")}
    for path in sorted((ROOT / "zoviz" / "papers" / "recorded").glob("*-full.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        name = path.stem.removesuffix("-full")
        paper = name.split("-")[0]
        assert texts[f"{name}.md"].startswith(f"# {record['experiment']}: ") and "\nVerdicts:\n" in texts[f"{name}.md"]
        assert f"]({name}.md)" in texts["changes.md"] and f"\nexperiments/{name}\n" in texts[f"{paper}.txt"]
        for claim in record["claims"]:
            counts[paper, claim["verdict"]] += 1
            (row,) = [
                row for row in tables[paper] if row[:2] == [f"[{claim['place']}](experiments/{name}.md)", claim["says"]]
            ]
            assert row[2].startswith(claim["verdict"]) and claim.get("reason", "") in row[2]
            assert row[3] == claim["figures"]
            assert claim.get("ablation_figures", "") in row[4] and bool(row[4]) == ("ablation" in claim)
        (cost,) = [
            row
            for row in tables[paper]
            if row[0] == f"[{record['experiment']}](experiments/{name}.md)" and len(row) == 6 and "`" in row[2]
        ]
        assert cost[2] == f"`{record['command']}`"
        assert cost[3] == duration(sum(part["seconds"] for part in record["parts"].values()))
    listed = {paper: numbers for paper, *numbers, _ in cells_of(texts["counts.txt"])[1:]}
    papers = tables.keys() - {"counts"}
    assert listed == {
        f"[{paper}]({paper}.md)": [str(counts[paper, verdict]) for verdict in Verdict] for paper in papers
    }


def test_the_citation_has_the_version() -> None:
    import zoviz

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == zoviz.__version__ and citation["license"] == "BSD-3-Clause"


RECORDS = ("performance/unseen.md", "performance/coco.md", "papers/errata.md")
"""Pages of figures or entries that nobody reads from end to end."""


@for_each(PAGES)
def test_a_page_begins_with_its_readers_and_is_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    included, home = "```{include} ../../" in text[:30], named(path) == "index.md"
    paragraphs = text.split("\n\n")
    assert included or home or paragraphs[1].startswith("For "), "For whom, and what they will be able to do."
    assert len(text.split()) <= 1200 or named(path) in RECORDS or path.parent.name == "reference"


def test_every_page_is_in_a_section() -> None:
    assert {path.name for path in DOCS.iterdir() if path.is_file()} == {"conf.py", "index.md"}


def test_every_page_is_in_one_table_of_contents() -> None:
    """A page that is in none, or twice, would be found out by the build alone, which takes minutes."""
    listed: list[str] = []
    for path in PAGES:
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            entries = [re.sub(r".*<(.*)>", r"\1", line) for line in tree.splitlines() if line and line[0] != ":"]
            listed += [(path.parent / entry).resolve().relative_to(DOCS).as_posix() for entry in entries]
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in PAGES}
    assert pages - set(listed) == {"index"} and len(set(listed)) == len(listed)
