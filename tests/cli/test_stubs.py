"""The types that the packages ship are those of their classes."""

from __future__ import annotations

import ast
import importlib
from types import ModuleType

import pytest

from zoviz.cli.stubs import PACKAGES, SETTINGS, keywords, path, stub

EACH_PACKAGE = pytest.mark.parametrize("package", [importlib.import_module(name) for name in PACKAGES], ids=PACKAGES)


@EACH_PACKAGE
def test_the_stub_is_what_the_script_writes(package: ModuleType) -> None:
    assert path(package).read_text(encoding="utf-8") == stub(package), "Run python -m zoviz.cli.stubs."


def test_the_settings_of_runs_are_what_the_script_writes() -> None:
    assert SETTINGS.read_text(encoding="utf-8") == keywords(), "Run python -m zoviz.cli.stubs."


@EACH_PACKAGE
def test_the_stub_has_every_class_with_all_that_its_constructor_takes(package: ModuleType) -> None:
    tree = ast.parse(path(package).read_text(encoding="utf-8"))
    constructors = {
        node.name: next(one for one in node.body if isinstance(one, ast.FunctionDef)).args
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    concrete = {name for name in package.__all__ if not getattr(package, name).abstract}
    assert constructors.keys() == concrete
    assert [
        name
        for name, arguments in constructors.items()
        if {one.arg for one in (*arguments.args, *arguments.kwonlyargs)} <= {"self", *getattr(package, name).param}
        or arguments.args[1:]
    ] == list(constructors)
    assert all(arguments.kwarg is None for arguments in constructors.values())


def test_a_type_checker_is_told_that_the_package_has_types() -> None:
    assert path(importlib.import_module("zoviz")).with_name("py.typed").exists()
