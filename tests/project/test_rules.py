"""The rules of dependency, read off the source by a walk over its syntax tree."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.project import ROOT
from helpers.sources import FOR_EACH_FILE, SOURCES, for_each, parse
from zoviz.runs.engine import columns

PACKAGE = "zoviz"
# From left to right; a module imports from its own room and from those to the left.
LAYERS = (
    ("core",),
    ("evaluation",),
    ("problems",),
    ("oracle",),
    ("estimators",),
    ("solvers",),
    ("certainty",),
    ("runs",),
    ("diagnosis",),
    ("studies", "ask_tell", "minimize"),
    ("adapters", "benchmark"),
    ("papers",),
    ("views",),
    ("cli",),
    ("apps",),
)
RANK = {room: rank for rank, layer in enumerate(LAYERS) for room in layer}
DRAWING = {"bokeh", "holoviews", "matplotlib", "panel"}
CLOCKS_AND_THREADS = {"asyncio", "concurrent", "datetime", "multiprocessing", "queue", "sched", "threading", "time"}
# Modules of zoviz.problems that hold kinds of problem, not problems.
ABSTRACT_PROBLEMS = ("base", "bilevel", "linear")


def room(path: Path) -> str:
    """First folder or module under zoviz/; "apps" for an app, "" for zoviz/__init__.py."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] != PACKAGE:
        return "apps"
    return "" if parts[1] == "__init__" else parts[1]


def of_rooms(choose: Callable[[str], bool]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Make one test of a check of a file, over the files of the rooms that are chosen by name."""
    return for_each(path for path in SOURCES if choose(room(path)))


def absolute(path: Path, node: ast.ImportFrom) -> str:
    """Module that a from-import names, with a leading dot resolved."""
    if not node.level:
        return node.module or ""
    here = path.relative_to(ROOT).with_suffix("").parts
    base = here[: len(here) - node.level]
    return ".".join((*base, *filter(None, [node.module])))


def imports(path: Path) -> Iterator[tuple[str, str | None, int]]:
    """Every import of a file, wherever it stands: (module, name taken from it or None, line)."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = absolute(path, node)
            yield from ((module, alias.name, node.lineno) for alias in node.names)


def target_room(module: str, name: str | None) -> str | None:
    """Room of zoviz that an import reaches: None for another package, "" for the names of zoviz/__init__.py."""
    top, _, rest = module.partition(".")
    if top == "apps":
        return "apps"
    if top != PACKAGE:
        return None
    first = rest.split(".")[0]
    return first or (name if name in RANK else "")


def abstract_names() -> set[str]:
    """Names defined in the abstract modules of zoviz.problems."""
    names: set[str] = set(ABSTRACT_PROBLEMS)
    for module in ABSTRACT_PROBLEMS:
        path = ROOT / PACKAGE / "problems" / f"{module}.py"
        for node in parse(path).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                names.add(node.name)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


@FOR_EACH_FILE
def test_every_module_has_a_room(path: Path) -> None:
    assert room(path) in {"", "__main__", *RANK}, f"Give {room(path)!r} its place in LAYERS, from left to right."


@of_rooms(lambda name: name not in {"", "__main__", "apps"})
def test_imports_point_left(path: Path) -> None:
    here, wrong = room(path), []
    for module, name, line in imports(path):
        there = target_room(module, name)
        if there == "" and not str(name).startswith("__"):
            wrong.append(f"line {line}: import from the module that defines it, not from {PACKAGE} itself")
        elif there and RANK.get(there, -1) > RANK.get(here, -1):
            wrong.append(f"line {line}: {here} must not know {there}")
    assert not wrong, "\n".join(wrong)


@of_rooms(lambda name: name != "__main__" and RANK.get(name, -1) < RANK["views"])
def test_nothing_left_of_views_draws(path: Path) -> None:
    wrong = [f"line {line}: {module}" for module, _, line in imports(path) if module.split(".")[0] in DRAWING]
    assert not wrong, "\n".join(wrong)


@of_rooms(lambda name: name == "views")
def test_views_call_no_oracle(path: Path) -> None:
    wrong = [f"line {line}" for module, name, line in imports(path) if target_room(module, name) == "oracle"]
    assert not wrong, "\n".join(wrong)


def test_columns_of_traces_are_named_by_their_constants() -> None:
    """Where a trace's columns are read, right of what defines them."""
    names = {value for name, value in vars(columns).items() if name.isupper()} - {columns.ACCURACY}  # the end of names
    wrong, right = [], 0
    for path in (one for one in SOURCES if RANK.get(room(one), -1) >= RANK["runs"]):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Subscript) and trace_like(node.value):
                if isinstance(node.slice, ast.Constant) and node.slice.value in names:
                    wrong.append(f"{path.relative_to(ROOT)} line {node.lineno}: {node.slice.value!r}")
                right += isinstance(node.slice, ast.Name) and node.slice.id.lower() in names
    assert right and not wrong, "\n".join(wrong)


@FOR_EACH_FILE
def test_a_wide_except_says_why_it_is_so_wide(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    wide = [number for number, line in enumerate(lines, 1) if re.match(r"\s*except( (Base)?Exception\b.*)?:", line)]
    assert [number for number in wide if "  # " not in lines[number - 1]] == []


@FOR_EACH_FILE
def test_nobody_is_told_by_an_assertion(path: Path) -> None:
    """A user would read an empty sentence, and none at all under ``python -O``."""
    lines = [node.lineno for node in ast.walk(parse(path)) if isinstance(node, ast.Assert)]
    assert not lines, f"lines {lines}: raise an error with a sentence, or do without."


def trace_like(node: ast.expr) -> bool:
    """Whether an expression is called as what has a trace's columns is."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in {"trace", "columns", "measured"}


@of_rooms(lambda name: name in {"oracle", "estimators", "solvers"})
def test_solvers_know_no_threads_time_or_concrete_problem(path: Path) -> None:
    wrong = []
    for module, name, line in imports(path):
        if room(path) == "solvers" and module.split(".")[0] in CLOCKS_AND_THREADS:
            wrong.append(f"line {line}: {module}")
        if target_room(module, name) != "problems":
            continue
        parts = module.split(".")[2:]
        whole_package = module == PACKAGE or (not parts and name is None)
        concrete = parts[0] not in ABSTRACT_PROBLEMS if parts else name not in abstract_names()
        if whole_package or concrete:
            wrong.append(f"line {line}: {module} {name or ''} (take it from {PACKAGE}.problems.base)")
    assert not wrong, "\n".join(wrong)


def test_solvers_leave_drawing_libraries_unloaded() -> None:
    script = f"import sys, {PACKAGE}.solvers; print(*sorted({DRAWING!r} & set(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=240)
    assert process.returncode == 0, process.stderr
    assert process.stdout.split() == []


def undocumented(cls: type) -> list[str]:
    """Public methods and properties of a class that have no docstring, neither their own nor an inherited one."""
    kinds = (classmethod, property, staticmethod)
    own = [name for name, value in vars(cls).items() if inspect.isfunction(value) or isinstance(value, kinds)]
    public = [name for name in own if not name.startswith("_")]
    return [f"{cls.__qualname__}.{name}" for name in public if not inspect.getdoc(getattr(cls, name))]


@of_rooms(lambda name: name not in {"apps", "__main__"})
def test_public_methods_have_a_docstring(path: Path) -> None:
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    classes = [c for c in vars(module).values() if inspect.isclass(c) and c.__module__ == module.__name__]
    names = [name for cls in classes if not cls.__name__.startswith("_") for name in undocumented(cls)]
    assert not names, f"Write a docstring for {', '.join(names)}."


def foreign_reads(tree: ast.AST) -> Iterator[str]:
    """Places where a field of something called a state is read, by attribute or by ``getattr`` and ``hasattr``."""
    for node in ast.walk(tree):
        holder: ast.expr | None = None
        if isinstance(node, ast.Attribute):
            holder = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
            holder = node.args[0]
        name = holder.id if isinstance(holder, ast.Name) else holder.attr if isinstance(holder, ast.Attribute) else ""
        if name == "state" and ast.unparse(holder) not in ("pn.state", "panel.state"):
            yield f"line {node.lineno}: {ast.unparse(node)}"


@of_rooms(lambda name: name != "solvers")
def test_only_solvers_know_what_a_state_is_made_of(path: Path) -> None:
    """Other rooms ask ``Solver.iterate`` and ``Solver.output``."""
    assert list(foreign_reads(parse(path))) == []


def test_a_read_of_a_state_is_seen() -> None:
    source = 'getattr(state, "y", None)\nself.state.x\nhasattr(worker.state, "v")\npn.state.cache\nstatement.x\n'
    lines = [read.partition(":")[0] for read in foreign_reads(ast.parse(source))]
    assert sorted(lines) == ["line 1", "line 2", "line 3"]


def module_caches(tree: ast.AST) -> Iterator[str]:
    """Functions and methods whose results are kept for the whole process."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if {"cache", "lru_cache"} & {one.id for one in ast.walk(decorator) if isinstance(one, ast.Name)}:
                    yield node.name


@FOR_EACH_FILE
def test_no_module_keeps_results_for_the_whole_process(path: Path) -> None:
    assert list(module_caches(parse(path))) == []


def test_a_cache_of_a_module_is_seen() -> None:
    source = "@lru_cache(maxsize=2)\ndef one(): ...\n@cache\ndef two(): ...\n@cached_property\ndef three(self): ...\n"
    assert list(module_caches(ast.parse(source))) == ["one", "two"]


def imitations(tree: ast.AST) -> Iterator[str]:
    """Classes that look like an oracle: they have methods with the names of two of its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
            if {"affords", "resample"} <= methods:
                yield node.name


@of_rooms(lambda name: name != "oracle")
def test_no_class_imitates_an_oracle(path: Path) -> None:
    """What a solver asks is the run's own oracle; what another use of it needs is a capability of it."""
    assert list(imitations(parse(path))) == []


def test_an_imitation_of_an_oracle_is_seen() -> None:
    source = "class View:\n def affords(self): ...\n def resample(self): ...\nclass Other:\n def affords(self): ...\n"
    assert list(imitations(ast.parse(source))) == ["View"]
    assert list(imitations(parse(ROOT / PACKAGE / "oracle" / "oracle.py"))) == ["Oracle"]


def test_a_check_of_each_file_names_all_that_fail() -> None:
    def check(path: Path) -> None:
        assert path.name[0] != "s", "begins with an s"

    files = [ROOT / name for name in ("setup.py", "zoviz.py", "sources.py")]
    with pytest.raises(AssertionError, match=r"(?s)^setup\.py: begins with an s.*\n *sources\.py: begins"):
        for_each(files)(check)()
