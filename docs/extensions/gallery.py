"""Pages of the gallery: one for every problem and every solver of the registry, with a picture and measured facts."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from extensions.pictures import draw
from extensions.reference import FOLDER, write_all
from zoviz.core import registry
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver

KINDS: dict[str, type[Any]] = {"problems": Problem, "solvers": Solver}
"""What there is a gallery of, by the name of its folder and of its package."""

_FORMS = {
    "constrained": "Constraints h(x) ≤ 0",
    "linearly constrained": "Expectations under linear constraints",
    "online bilevel": "Online bilevel problems",
}
_LAST = "Other kinds"
_SENTENCES = {"good": "Good for", "bad": "Bad for"}
"""What may have been measured of a solver, and how its page says so."""


def classes(kind: str) -> dict[str, type[Any]]:
    """Return the package's own classes of a kind, by name.

    Parameters
    ----------
    kind : str
        "problems" or "solvers".
    """
    every = registry.discover(f"zoviz.{kind}", KINDS[kind])
    return {name: cls for name, cls in every.items() if cls.__module__.startswith("zoviz.")}


def measured(folder: Path) -> dict[str, dict[str, str]]:
    """Return what was measured of solvers by their names: what each is good and bad for, and the page with the table.

    Parameters
    ----------
    folder : Path
        Of the sources.
    """
    return tomllib.loads((folder / "gallery" / "measured.toml").read_text(encoding="utf-8"))


def _group(cls: type[Any]) -> str:
    if issubclass(cls, Solver):
        forms = cls().forms
    else:
        forms = (cls.form,) if registry.required(cls) else (*(one := cls()).kinds, one.form)
    return next((_FORMS[form] for form in forms if form in _FORMS), _LAST)


def _summary(cls: type[Any]) -> str:
    return " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split()).replace("|", r"\|").replace("*", r"\*")


def _figure(name: str, title: str, width: str) -> list[str]:
    """Return the directives of a picture in both colour schemes; the page shows the one that suits it."""
    lines = []
    for scheme in ("light", "dark"):
        lines += [
            f".. image:: ../figures/{name}.{scheme}.svg",
            f"   :alt: {title}",
            f"   :class: only-{scheme}",
            f"   :width: {width}",
            "",
        ]
    return lines


def _page(kind: str, cls: type[Any], caption: str | None, found: dict[str, str] | None) -> str:
    """Return the page of a class in reStructuredText."""
    name, heading = cls.__name__, f"{cls.title or cls.__name__}"
    lines = [
        f".. _{kind}-{name}:",
        "",
        heading,
        "=" * (2 * len(heading)),
        "",
        f"``from zoviz.{kind} import {name}``",
        "",
    ]
    if caption is not None:
        lines += [*_figure(name, caption, "620px"), f"*{caption}*", ""]
    if found is not None:
        lines += [f":{words}: {found[key]}" for key, words in _SENTENCES.items() if key in found]
        lines += [f":Measured: :doc:`/{found['page']}`", ""]
    elif kind == "solvers":
        lines += [":Good and bad for: not measured beyond its paper's comparison and the course above.", ""]
    if kind == "solvers":
        solver = cls()
        lines += [f":Changes while it runs: {', '.join(f'``{one}``' for one in solver.live) or 'nothing'}"]
        families = [f"``{one.__name__}``" for one in solver.families]
        lines += [f":Estimators: {', '.join(families)}"] if families else []
        lines += [f":Solves: {' and '.join(solver.forms)} problems", ""]
    package = cls.__module__.rpartition(".")[0]
    lines += [
        f".. autoclass:: {cls.__module__}.{name}",
        "   :no-index:",
        "",
        f"All methods: :doc:`/{FOLDER}/{package}`.",
        "",
    ]
    return "\n".join(lines)


def _index(kind: str, members: dict[str, type[Any]], drawn: dict[str, str]) -> str:
    """Return the page that leads to all classes of a kind, as cards."""
    title = kind.capitalize()
    lines = [title, "=" * len(title), ""]
    groups: dict[str, list[type[Any]]] = {}
    for cls in sorted(members.values(), key=lambda one: (one.order if kind == "problems" else 0, one.__name__)):
        groups.setdefault(_group(cls), []).append(cls)
    for group in [*_FORMS.values(), _LAST]:
        if group not in groups:
            continue
        lines += [group, "-" * len(group), "", ".. grid:: 1 2 3 3", "   :gutter: 3", ""]
        for cls in groups[group]:
            lines += [f"   .. grid-item-card:: {cls.title or cls.__name__}", f"      :link: {kind}-{cls.__name__}"]
            lines += ["      :link-type: ref", ""]
            if cls.__name__ in drawn:
                pictures = _figure(cls.__name__, "", "100%")
                lines += [f"      {line.replace('../figures', 'figures')}".rstrip() for line in pictures]
            lines += [f"      {_summary(cls)}", ""]
    lines += [".. toctree::", "   :hidden:", ""]
    return "\n".join(lines + [f"   {kind}/{name}" for name in members]) + "\n"


def write_pages(app: Sphinx) -> None:
    """Write the pages, and draw the pictures unless the build is quick."""
    folder = Path(app.srcdir) / "gallery"
    found = measured(Path(app.srcdir))
    for kind in KINDS:
        members = classes(kind)
        drawn = {} if app.tags.has("quick") else draw(kind, members, folder / "figures")
        pages = {f"{name}.rst": _page(kind, cls, drawn.get(name), found.get(name)) for name, cls in members.items()}
        write_all(folder / kind, pages)
        (folder / f"{kind}.rst").write_text(_index(kind, members, drawn), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the writing of pages."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
