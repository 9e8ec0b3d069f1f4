"""Views in a notebook's cells, through the kernel's own channel: no second port, and nothing from the internet."""

from __future__ import annotations

from typing import Any, TypeAlias

import panel as pn
from IPython.display import DisplayHandle, display

from zoviz.views.app.process import configure_process
from zoviz.views.common.style import WIDE
from zoviz.views.notebook.page_thread import page_thread
from zoviz.views.upstream.panel import OrderedColumn

View: TypeAlias = pn.viewable.Viewable | pn.viewable.Viewer


def load() -> None:
    """Bring the cell what views need in a browser, inline; once for each kernel.

    A notebook that called ``pn.extension()`` itself has Panel's part from where it said.
    """
    pn.state.as_cached("zoviz cells", _load)


def _load() -> None:
    configure_process()
    if not pn.extension._loaded:
        pn.extension(inline=True)


def put(view: View, text: str) -> DisplayHandle:
    """Show a view in the present cell, and return the handle by which ``replace`` shows another in its place.

    Parameters
    ----------
    view : Viewable or Viewer
    text : str
        What a front end without HTML shows instead.
    """
    load()
    data, metadata = _bundle(view, text)
    return display(data, metadata=metadata, raw=True, display_id=True)


def replace(handle: DisplayHandle, view: View, text: str) -> None:
    """Show another view where ``put`` has shown one, also when its cell was left long ago."""
    data, metadata = _bundle(view, text)
    # First by something of another kind: a front end gives what is of one kind to the same renderer, and Panel's draws
    # but once.
    handle.update({"text/html": "<div></div>", "text/plain": text}, raw=True)
    handle.update(data, metadata=metadata, raw=True)


def _bundle(view: View, text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the view as data of a cell, and what front ends need to know of them."""
    thread = page_thread()

    def render() -> tuple[dict[str, Any], dict[str, Any]]:
        # Else Panel opens a place for printed output, in whatever cell is executed at this moment.
        with pn.config.set(console_output="disable"):
            return OrderedColumn(view, handle=thread.soon, **WIDE)._repr_mimebundle_()

    data, metadata = thread.do(render)
    return {**data, "text/html": _closed(data["text/html"]), "text/plain": text}, metadata


def _closed(html: str) -> str:
    """Return a view's HTML with no end of a script in its data: a run's name must not be able to begin markup."""
    head, opening, script = html.partition('<script type="application/javascript">')
    return head + opening + script.removesuffix("</script>").replace("</", "<\\/") + "</script>"
