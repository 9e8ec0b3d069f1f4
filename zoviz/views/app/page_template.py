"""The HTML around a page: that of Panel Material UI's pages, with scripts that come before anything is drawn."""

from __future__ import annotations

import jinja2
from panel_material_ui.base import BASE_TEMPLATE

from zoviz.views.app.system_theme import ASK_SYSTEM
from zoviz.views.common.panel_internals import TELL_OWN_CHANGES

_BLOCKS = """
{% extends base %}
{% block preamble %}<script>{{ first }}</script>{{ super() }}{% endblock %}
{% block postamble %}{{ super() }}<script>{{ last }}</script>{% endblock %}
"""


def page_template() -> jinja2.Template:
    """Return the template of a page: the theme is settled first, and components are mended once their code is there."""
    names = {"base": BASE_TEMPLATE, "first": ASK_SYSTEM, "last": TELL_OWN_CHANGES}
    return BASE_TEMPLATE.environment.from_string(_BLOCKS, globals=names)
