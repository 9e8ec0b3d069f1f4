"""The HTML of a page: a header, the forms at the left, and the room that is open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import panel as pn
from panel.template import Template

from zoviz.views.common.design import DARK, LIGHT, TOKENS, PageDesign

# The theme is settled before anything is drawn: a dark page is never white first.
_HTML = """
{% extends base %}
{% block preamble %}{{ super() }}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{{ tokens }}{{ page_css }}</style>
<script>
(() => {
  const chosen = document.cookie.match(/(?:^|; )zoviz_theme=([a-z-]*)/)?.[1] ?? "";
  const system = matchMedia("(prefers-color-scheme: dark)").matches;
  const dark = ["dark", "light"].includes(chosen) ? chosen === "dark" : system;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
</script>
{% endblock %}
{% block body %}
<body class="zoviz-page" data-room="{{ open_room }}">
<header>{{ embed(roots.header) }}{{ embed(roots.guide) }}</header>
<aside aria-label="Problem, solver and parameters">{{ embed(roots.forms) }}</aside>
<main>{{ embed(roots.room) }}</main>
{% for doc in docs %}{% for root in doc.roots if root.name not in parts %}{{ embed(root) }}{% endfor %}{% endfor %}
{{ plot_script | indent(4) }}
</body>
{% endblock %}
"""
_CSS = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


def page_template(
    header: pn.viewable.Viewable,
    guide: pn.viewable.Viewable,
    forms: pn.viewable.Viewable | pn.viewable.Viewer,
    room: pn.viewable.Viewable,
    open_room: str,
    dark: bool,
) -> Template:
    """Return a page of these parts.

    Parameters
    ----------
    header, guide, forms, room : Viewable
    open_room : str
        The name of the room that is open at first.
    dark : bool
        Whether its figures begin dark.
    """
    if pn.state.curdoc is not None:
        pn.state.curdoc.theme = DARK if dark else LIGHT
    page = Template(_HTML, design=PageDesign, location=True)
    parts: dict[str, Any] = {"header": header, "guide": guide, "forms": forms, "room": room}
    variables = {"tokens": TOKENS, "page_css": _CSS, "open_room": open_room, "parts": list(parts)}
    for name, value in variables.items():
        page.add_variable(name, value)
    for name, part in parts.items():
        page.add_panel(name, part)
    if pn.state.notifications is not None:
        page.add_panel("notifications", pn.state.notifications)
    return page
