"""What the project says of itself in one file must agree with what it says in another."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import yaml

from helpers.project import ROOT
from helpers.sources import for_each, parse
from zoviz.views import upstream

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50
CONDA_TO_PYPI = {"playwright-python": "playwright"}
TEXT_SUFFIXES = {".cfg", ".css", ".csv", ".ipynb", ".js", ".json", ".m", ".md", ".py", ".toml", ".txt", ".yaml", ".yml"}
ABSOLUTE_PATH = re.compile(r"(?<![\w./-])(?:/(?:home|mnt|root|tmp|Users|work)\b|[A-Za-z]:\\Users\b)")


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def version() -> str:
    """Version that pyproject.toml gives, itself or by the file it points to."""
    data = project()
    if "version" in data["project"]:
        return data["project"]["version"]
    source = (ROOT / data["tool"]["hatch"]["version"]["path"]).read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "([^"]+)"$', source, re.MULTILINE)
    assert match, 'Expected a line __version__ = "X.Y.Z".'
    return match[1]


def split(requirement: str) -> tuple[str, str]:
    """Split "numpy>=2.0" into its normalised name and its bounds."""
    match = re.fullmatch(r"\s*([A-Za-z0-9._-]+?)\s*((?:[<>=!~].*)?)\s*", requirement)
    assert match, f"Expected a plain requirement such as numpy>=2.0, got {requirement!r}."
    return re.sub(r"[-_.]+", "-", match[1]).lower(), match[2].replace(" ", "")


def of_pyproject() -> dict[str, str]:
    data = project()["project"]
    required = dict(map(split, data["dependencies"] + data["optional-dependencies"]["test"]))
    return required | {"python": data["requires-python"].replace(" ", "")}


def of_environment() -> dict[str, str]:
    entries = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    (pip,) = [entry["pip"] for entry in entries if isinstance(entry, dict)]
    assert "-e ." in pip, "Expected the pip section to install the project itself: - -e ."
    plain = [entry for entry in entries if isinstance(entry, str)] + [entry for entry in pip if entry != "-e ."]
    named = dict(map(split, plain))
    named.pop("pip", None)
    return {CONDA_TO_PYPI.get(name, name): bounds for name, bounds in named.items()}


def files(*folders: str, suffixes: set[str]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            hidden = any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(ROOT).parts)
            if path.suffix in suffixes and path.is_file() and not hidden:
                yield path


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_environment_equals_pyproject() -> None:
    assert of_environment() == of_pyproject()


def test_the_conda_recipe_equals_pyproject() -> None:
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    wanted = dict(map(split, project()["project"]["dependencies"])) | {
        "python": project()["project"]["requires-python"]
    }
    assert dict(map(split, recipe["requirements"]["run"])) == wanted
    assert recipe["build"]["python"]["entry_points"] == ["zoviz = zoviz.cli.main:main"]


def test_every_record_of_the_release_has_its_version_and_its_date() -> None:
    recipe, citation = (
        yaml.safe_load((ROOT / name).read_text(encoding="utf-8")) for name in ("conda/recipe.yaml", "CITATION.cff")
    )
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    heading = re.search(r"^## \[(.+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heading, "Expected a heading ## [X.Y.Z] - DATE in CHANGELOG.md."
    assert {heading[1], recipe["context"]["version"], citation["version"], zenodo["version"]} == {version()}
    assert {heading[2], str(citation["date-released"])} == {zenodo["publication_date"]}


def test_the_paper_has_at_most_a_thousand_words() -> None:
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("paper.md", "paper.bib"))
    cited, listed = set(re.findall(r"\[@(\w+)\]", text)), set(re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE))
    assert 500 < len(text.split()) <= 1000 and cited == listed


def test_every_requirement_has_a_lower_bound() -> None:
    extras = project()["project"]["optional-dependencies"].values()
    listed = dict(map(split, project()["project"]["dependencies"])) | dict(split(r) for extra in extras for r in extra)
    assert [name for name, bounds in listed.items() if not re.search(r">=|==|~=", bounds)] == []


def test_page_libraries_end_before_the_next_minor_version() -> None:
    """A page replaces methods inside of these; environment.yml has the same bounds, as another test says."""
    required = dict(map(split, project()["project"]["dependencies"]))
    for name in ("bokeh", "panel"):
        installed = metadata.version(name).split(".")
        assert required[name].endswith(f",<{installed[0]}.{int(installed[1]) + 1}"), f"{name}: {required[name]}"


def test_extras_agree_on_bounds() -> None:
    groups = [project()["project"]["dependencies"], *project()["project"]["optional-dependencies"].values()]
    pairs = {split(requirement) for group in groups for requirement in group}
    assert len(pairs) == len({name for name, _ in pairs}), f"One package, two bounds: {sorted(pairs)}."


def test_changelog_opens_with_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    match = re.search(r"^## \[?(\d[^\]\s]*)", text, re.MULTILINE)
    assert match, "Expected a heading such as ## [0.1.0] - 2026-01-31 in CHANGELOG.md."
    assert match[1] == version()


def test_license_is_bsd_3_clause() -> None:
    text = " ".join((ROOT / "LICENSE").read_text(encoding="utf-8").split())
    assert project()["project"]["license"] == "BSD-3-Clause"
    assert text.startswith("BSD 3-Clause License Copyright (c)")
    assert "Neither the name of the copyright holder nor the names of its contributors" in text
    assert "the zoviz authors" in text


SOURCES = list(files("zoviz", "apps", "tests", suffixes={".py"}))


def code_lines(node: ast.AST, source: list[str]) -> int:
    """Lines of a file or function that hold code: neither docstrings, nor comments alone, nor blank lines."""
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", None) or len(source)
    prose = set()
    for inner in ast.walk(node):
        value = getattr(inner, "value", None)
        if isinstance(inner, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str):
            prose |= set(range(inner.lineno, (inner.end_lineno or inner.lineno) + 1))
    texts = ((number, source[number - 1].strip()) for number in range(first, last + 1))
    return sum(bool(text) and not text.startswith("#") and number not in prose for number, text in texts)


@for_each(SOURCES)
def test_files_and_functions_are_short(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    tree, lines = parse(path), source.splitlines()
    count = code_lines(tree, lines)
    assert count <= MAX_FILE_LINES, f"{named(path)} has {count} lines of code: at most {MAX_FILE_LINES}, split it."
    functions = (n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))
    lengths = {f"{f.name} (line {f.lineno})": code_lines(f, lines) for f in functions}
    long = {name: length for name, length in lengths.items() if length > MAX_FUNCTION_LINES}
    assert not long, f"Functions of more than {MAX_FUNCTION_LINES} lines of code in {named(path)}: {long}."


def test_no_path_of_one_machine() -> None:
    texts = [*files("zoviz", "apps", "notebooks", suffixes=TEXT_SUFFIXES), *sorted(ROOT.glob("README*"))]
    places = [
        f"{named(path)}:{number}: {line.strip()[:120]}"
        for path in texts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if ABSOLUTE_PATH.search(line)
    ]
    assert not places, "Expected relative paths only, got:\n" + "\n".join(places)


def test_versions_whose_insides_are_replaced_are_those_that_were_looked_at() -> None:
    required = of_pyproject()
    assert {name: required[name] for name in upstream.VERSIONS} == upstream.VERSIONS
