"""The ink and spacing of the pages, and helpers that send the browser only what changes."""

from __future__ import annotations

import html
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import panel as pn
import param
from bokeh.document import Document
from panel.io.resources import LOCAL_DIST

WIDE: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}
"""Of a part that is as wide as the place that it stands in."""
HEADER = 44
"""Pixels of the page's header, and of the bar of a run below it."""
SIDEBAR = 300
"""Pixels of the sidebar with the forms."""


# Panel's scroll button would take the first cell once the figures are replaced.
_GRID = """:host {display: grid !important; height: max-content !important; flex: none !important;
  max-height: none !important; gap: 8px 16px}
.scroll-button {display: none} .zoviz-wide {grid-column: 1 / -1}"""

# The plots, and beside them, below them in a narrow window, the design and its picture.
RUN_ROOM = """:host {grid-template-columns: minmax(0, 1fr) 300px; align-items: start; gap: 0 16px}
.zoviz-plots, .zoviz-beside {min-width: 0; width: 100% !important}
@media (max-width: 1150px) {:host {grid-template-columns: minmax(0, 1fr) 260px}}
@media (max-width: 1000px) {:host {grid-template-columns: minmax(0, 1fr)}}"""

# A bar that stays at the top while what is below it scrolls.
STICKY = f""":host {{position: sticky !important; top: {HEADER}px; z-index: 10;
  background: var(--panel-background-color, Canvas)}}"""

# A drawer from the right, which moves nothing.
DRAWER = f""":host {{position: fixed !important; top: {HEADER}px; right: 0; bottom: 0; z-index: 30;
  width: min(420px, 100vw) !important;
  overflow-y: auto !important; box-sizing: border-box; padding: 8px 12px; max-height: none !important;
  height: auto !important; background: var(--panel-background-color, Canvas); box-shadow: 0 0 24px #0005}}"""

# Bokeh hides a part by a rule that comes before these, and is weaker than theirs.
_HIDDEN = ":host {display: none !important}"

COPY = """
    const fallback = () => {
        const field = Object.assign(document.createElement("textarea"), {value: text});
        document.body.append(field);
        field.select();
        document.execCommand("copy");
        field.remove();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).catch(fallback);
    else fallback();  // a page without https
"""
"""Code of a browser that copies ``text``."""

_SECTION = "font-size:.78rem;font-weight:600;letter-spacing:.05em;text-transform:uppercase;opacity:.65"
_NOTE = "font-size:.82rem;opacity:.75;line-height:1.3"


_TWO_BY_TWO = ":host {grid-template-columns: repeat(auto-fit, minmax(max(270px, 40%), 1fr))}"


class Grid(pn.Column):
    """A column whose parts stand side by side, two by two where the window has room for that.

    Parameters
    ----------
    columns : str
        A rule of a style sheet for its columns, instead.
    """

    def __init__(self, *objects: Any, columns: str = _TWO_BY_TWO, **params: Any) -> None:
        super().__init__(*objects, **params)
        self._rules = [_GRID, columns]
        self._lay_out()
        self.param.watch(lambda _: self._lay_out(), "visible")

    def _lay_out(self) -> None:
        update_changed(self, stylesheets=[*self._rules, *[_HIDDEN] * (not self.visible)])


def update_changed(target: param.Parameterized, **values: Any) -> None:
    """Set only the parameters whose values differ: Panel sends the browser every value that is set, old or new."""
    changed = {name: value for name, value in values.items() if getattr(target, name) != value}
    if changed:
        target.param.update(**changed)


def use_own_resources(document: Document) -> None:
    """Have a document's models take Panel's style sheets from the page's own server, never from the internet.

    Panel does so when it writes the page. A websocket that finds its session discarded meanwhile, as after a short
    ``--unused-session-lifetime`` on a busy machine, makes another, for which no page is written.
    """
    document.template_variables.setdefault("dist_url", LOCAL_DIST)


@contextmanager
def batched_changes(document: Document | None) -> Iterator[None]:
    """Return a context in which changes of a document's models are collected and sent at its end, all at once.

    For changes that bring new models, several at a time: its end counts all models of the document, which takes longer
    than most changes. Other changes need none.

    Bokeh counts a document's models anew after every change of a reference, unless told to do it once at the end. Until
    then it does not know a new model, and sends it again, data and all, with each change that refers to it, unless the
    changes wait for that end, too.
    """
    if document is None:
        yield
        return
    already_held = document.callbacks.hold_value is not None
    if not already_held:
        document.hold("combine")
    try:
        with document.models.freeze():
            yield
    finally:
        if not already_held:
            document.unhold()


def section(title: str) -> pn.pane.HTML:
    """Return a small heading."""
    return pn.pane.HTML(f"<div style='{_SECTION}'>{title}</div>", margin=(10, 10, 2, 10))


def muted_html(sentence: str) -> str:
    """Return a sentence as HTML in muted ink."""
    return f"<div style='{_NOTE}'>{sentence}</div>"


def scrolling_html(content: str, name: str, height: int = 0) -> str:
    """Return HTML in a region that scrolls, by keys too, where it is too wide, or higher than ``height`` pixels."""
    look = "overflow: auto" + f"; max-height: {height}px" * bool(height)
    return f"<div role='region' aria-label='{html.escape(name)}' tabindex='0' style='{look}'>{content}</div>"


def note(sentence: str, **options: Any) -> pn.pane.HTML:
    """Return a pane with a sentence in muted ink."""
    return pn.pane.HTML(muted_html(sentence), **{"margin": (2, 10), **options})


def details_html(summary: str, *sentences: str) -> str:
    """Return a muted line as HTML that shows further sentences when it is clicked."""
    more = "".join(f"<div style='margin-top:3px'>{sentence}</div>" for sentence in sentences)
    return f"<details style='{_NOTE}'><summary style='cursor:pointer'>{summary}</summary>{more}</details>"
