"""HTML that changes while somebody reads it."""

from __future__ import annotations

from typing import Any

import param
from panel.custom import JSComponent


class LiveHTML(JSComponent):
    """A pane of HTML whose region that scrolls stays the same element: its place and the keyboard's focus are kept.

    Panel's own pane makes all elements anew at every change.
    """

    object = param.String(default="", doc="The HTML, with one element of role region at most, which comes first.")

    _esm = """
export function render({model}) {
    const box = document.createElement("div");
    const draw = () => {
        const next = document.createElement("div");
        next.innerHTML = model.object;
        const old = box.querySelector("[role=region]"), fresh = next.querySelector("[role=region]");
        if (!old || !fresh) return box.replaceChildren(...next.childNodes);
        old.replaceChildren(...fresh.childNodes);
        while (old.nextSibling) old.nextSibling.remove();
        while (fresh.nextSibling) box.append(fresh.nextSibling);
    };
    model.on("object", draw);
    draw();
    return box;
}
"""

    def __init__(self, object: str = "", **params: Any) -> None:
        super().__init__(object=object, **params)
