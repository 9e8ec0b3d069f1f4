"""Pages of the reference: one for every package with all public names, their parameters told from the registry."""

from __future__ import annotations

import importlib
import inspect
import re
import types
from collections import defaultdict
from pathlib import Path
from typing import Any

import param
from sphinx.application import Sphinx

from zoviz.core import registry

FOLDER = "reference/packages"
"""Of the pages, in the folder of the sources."""

_NUMBERED = re.compile(r"name='[^']*\d{5}',? ?")
_LITERAL = re.compile(r"(``.+?``|:\w+:`[^`]*`|`[^`]*`)")


def public_names(module: str) -> list[str]:
    """Return the public classes and functions that a module defines.

    Parameters
    ----------
    module : str
        Dotted name.
    """
    imported = importlib.import_module(module)
    return [
        name
        for name, thing in vars(imported).items()
        if not name.startswith("_")
        and isinstance(thing, (type, types.FunctionType))
        and not isinstance(thing, types.GenericAlias)
        and thing.__module__ == module
    ]


def packages() -> dict[str, list[str]]:
    """Return the public modules that define something, by their package."""
    groups: dict[str, list[str]] = defaultdict(list)
    for module in registry.modules("zoviz"):
        if public_names(module):
            groups[module.rpartition(".")[0]].append(module)
    return dict(groups)


def _page(package: str, members: list[str]) -> str:
    """Return the page of a package in reStructuredText, all of it from docstrings."""
    lines = [package, "=" * len(package), "", (inspect.getdoc(importlib.import_module(package)) or ""), ""]
    for module in members:
        title = module.rpartition(".")[2]
        lines += [title, "-" * len(title), "", f".. automodule:: {module}", "   :members:", "   :show-inheritance:", ""]
    return "\n".join(lines)


def write_pages(app: Sphinx) -> None:
    """Write the pages before Sphinx looks for sources."""
    folder = Path(app.srcdir) / FOLDER
    pages = {f"{package}.rst": _page(package, members) for package, members in packages().items()}
    write_all(folder, pages)


def write_all(folder: Path, pages: dict[str, str]) -> None:
    """Write files and remove others; one with the same text stays as it is, since Sphinx reads what is newer.

    Parameters
    ----------
    folder : Path
    pages : dict of str to str
        Texts by names of files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.iterdir():
        if path.is_file() and path.name not in pages:
            path.unlink()


def _prepare(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Give a class its parameters as a section, and take bars and stars of formulas for what they are."""
    if what == "class" and isinstance(thing, type) and issubclass(thing, param.Parameterized):
        _add_parameters(thing, lines)
    within_math = False
    for at, line in enumerate(lines):
        if line.lstrip().startswith(".. math::"):
            within_math = True
        elif line and not line.startswith(" "):
            within_math = False
        if not within_math:
            lines[at] = "".join(
                part if _LITERAL.fullmatch(part) else re.sub(r"(?<!\\)([|*])", r"\\\1", part)
                for part in _LITERAL.split(line)
            )


def _add_parameters(cls: type[param.Parameterized], lines: list[str]) -> None:
    """Put the parameters of a class before its other sections, in numpydoc's manner."""
    own = [one for key, one in cls.param.objects().items() if key != "name" and not key.startswith("_")]
    if not own or "Parameters" in lines:
        return
    section = ["Parameters", "----------"]
    for one in own:
        section += [f"{one.name} : {in_words(one)}", f"    {one.label}. {' '.join((one.doc or '').split())}"]
    headings = [at for at in range(1, len(lines)) if lines[at] and set(lines[at]) == {"-"}]
    at = headings[0] - 1 if headings else len(lines)
    lines[at:at] = ["", *section, ""]


def in_words(one: param.Parameter[Any]) -> str:
    """Return a parameter's default in words; None is what a form calls auto.

    Parameters
    ----------
    one : param.Parameter
    """
    default = one.default
    if isinstance(default, param.Parameterized):
        default = type(default).__name__
    if callable(default):
        default = getattr(default, "__name__", "a function")
    return "default auto" if default is None else f"default {default!r}"


def _sign(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Leave out of a signature the names that Param numbers, which are others at every build."""
    return (_NUMBERED.sub("", signature) if signature else signature), returned


def _skip(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out aliases of types, which have no documentation of their own."""
    return True if isinstance(thing, types.GenericAlias) else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the writing of pages and what docstrings need before numpydoc reads them."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", _prepare, priority=100)
    app.connect("autodoc-process-signature", _sign, priority=600)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
