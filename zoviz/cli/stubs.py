"""Types of the classes that a package finds at run time, for editors and type checkers: ``python -m zoviz.cli.stubs``.

A checker sees neither the classes that ``registry.LazyExports`` finds nor the parameters behind ``**params``. The stub
beside the package's ``__init__.py`` tells both; every class in it inherits from the one that it stands for.
Settings of runs and studies are in ``SETTINGS``, as types of keyword arguments.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import param

from zoviz.core.configurable import constructor, settable, value_type
from zoviz.runs.engine import spec

PACKAGES = ("zoviz.estimators", "zoviz.problems", "zoviz.solvers")
SETTINGS = Path(spec.__file__).with_name("keywords.pyi")
_PLAIN = (bool, int, float, str, type(None))
"""Types of defaults that a stub shows; of any other default it shows that there is one."""


def path(package: ModuleType) -> Path:
    """Return the path of the package's stub."""
    return Path(str(package.__file__)).with_suffix(".pyi")


def stub(package: ModuleType) -> str:
    """Return the text of the package's stub: every class of its ``__all__``."""
    classes = {name: getattr(package, name) for name in package.__all__}
    own = {name: cls for name, cls in classes.items() if not getattr(cls, "abstract", False)}
    imports = _Imports(own)
    bodies = [_class(cls, own, imports) for cls in _bases_first(own.values())]
    bases = [f"from {cls.__module__} import {name} as {name}" for name, cls in classes.items() if name not in own]
    head = f'"""The classes of ``{package.__name__}``, written by ``python -m zoviz.cli.stubs``."""'
    listed = "\n".join(f'    "{name}",' for name in sorted(classes))
    return "\n\n".join([head, "\n".join([*imports.lines(), *bases]), f"__all__ = [\n{listed}\n]", *bodies]) + "\n"


def _bases_first(classes: Iterable[type]) -> list[type]:
    return sorted(classes, key=lambda cls: (len(cls.__mro__), cls.__name__))


class _Imports:
    """The imports that annotations need."""

    def __init__(self, own: dict[str, type]) -> None:
        self._own, self._lines = own, set[str]()

    def lines(self) -> list[str]:
        """Return one line for each name."""
        return sorted(self._lines)

    def alias(self, cls: type) -> str:
        """Return an alias for a class whose name the stub redefines."""
        self._lines.add(f"from {cls.__module__} import {cls.__name__} as _{cls.__name__}")
        return f"_{cls.__name__}"

    def annotation_text(self, annotation: object, holder: type) -> str:
        """Return an annotation as the stub writes it: types by their last names, strings unchanged."""
        if isinstance(annotation, str):
            for node in ast.walk(ast.parse(annotation)):
                if isinstance(node, ast.Name) and not hasattr(builtins, node.id):
                    self._lines.add(_import_of(node.id, holder))
            return annotation
        # A union with a literal is Optional[...] to Python before 3.14.
        text = re.sub(r"Optional\[(.+)\]$", r"\1 | None", inspect.formatannotation(annotation))
        for module, name in re.findall(r"([a-z_.0-9]+)\.(\w+)", text):
            if name not in self._own:
                self._lines.add(f"from {module} import {name}")
            text = text.replace(f"{module}.{name}", name)
        # Of the names in ``typing`` the text has no module.
        self._lines |= {f"from typing import {name}" for name in ("Any", "Literal") if re.search(rf"\b{name}\b", text)}
        return text.replace("'", '"')


def _import_of(name: str, holder: type) -> str:
    """Return the import of a name that an annotation of the class, or of a base, was written with."""
    for module in dict.fromkeys(base.__module__ for base in holder.__mro__):
        if not hasattr(sys.modules[module], name):
            continue
        for node in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
            if isinstance(node, ast.ImportFrom) and name in [one.name for one in node.names]:
                return f"from {node.module} import {name}"
            if isinstance(node, ast.Import) and name in [one.name for one in node.names]:
                return f"import {name}"
        return f"from {module} import {name}"
    raise NameError(f"Expected the annotations of {holder.__name__} to name what its module has, got {name!r}.")


def _class(cls: type[param.Parameterized], own: dict[str, type], imports: _Imports) -> str:
    above = [base.__name__ for base in cls.__mro__[1:] if own.get(base.__name__) is base]
    lines = [f"class {cls.__name__}({', '.join([imports.alias(cls), *above[:1]])}):"]
    names = [name for name in settable(cls) if name != "name"]
    lines += [f"    {name}: {imports.annotation_text(value_type(cls, name), cls)}" for name in names]
    lines += ["    def __init__(", "        self,"]
    arguments = constructor(cls).parameters.values()
    by_name = [argument.kind is inspect.Parameter.KEYWORD_ONLY for argument in arguments]
    for place, argument in enumerate(arguments):
        if by_name[place] and not any(by_name[:place]):
            lines.append("        *,")
        lines.append(
            f"        {argument.name}: {imports.annotation_text(argument.annotation, cls)}{_default(argument)},"
        )
    return "\n".join([*lines, "    ) -> None: ..."])


def _default(argument: inspect.Parameter) -> str:
    if argument.default is inspect.Parameter.empty:
        return ""
    text = repr(argument.default).replace("'", '"') if type(argument.default) in _PLAIN else "..."
    return f" = {text}"


def keywords() -> str:
    """Return the text of ``SETTINGS``: the keyword arguments of a study and of a run."""
    shared, own = spec.SharedSettings, spec.RunSettings
    imports = _Imports({})
    bodies = []
    for name, base, cls in (("StudyKeywords", "TypedDict", shared), ("RunKeywords", "StudyKeywords", own)):
        names = [one for one in settable(cls) if one != "name" and (cls is shared or one not in shared.param)]
        lines = [f"    {one}: {imports.annotation_text(value_type(cls, one), cls)}" for one in names]
        bodies.append("\n".join([f"class {name}({base}, total=False):", *lines]))
    head = '"""The settings of runs as keyword arguments, written by ``python -m zoviz.cli.stubs``."""'
    return "\n\n".join([head, "\n".join([*imports.lines(), "from typing import TypedDict"]), *bodies]) + "\n"


def write() -> None:
    """Write the stubs of all packages, and the settings of runs."""
    SETTINGS.write_text(keywords(), encoding="utf-8")
    for name in PACKAGES:
        package = importlib.import_module(name)
        path(package).write_text(stub(package), encoding="utf-8")


if __name__ == "__main__":
    write()
