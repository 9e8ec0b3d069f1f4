"""Formulas as MathML, which browsers draw themselves: no script and nothing from the internet, in any colour scheme."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)

_LIMITS = re.compile(r"\\(min|max|sup|inf|lim)_")
"""What has its index below it in a displayed formula."""


def mathml(tex: str, display: str) -> str:
    r"""Return a formula as MathML; lines that are aligned, by ``&`` or ``\\``, need no environment of their own.

    Parameters
    ----------
    tex : str
        LaTeX without dollars.
    display : str
        "inline" or "block".
    """
    text = " ".join(tex.split())
    if display == "block":
        text = _LIMITS.sub(r"\\\1\\limits_", text)
        if r"\\" in text and not text.startswith(r"\begin"):
            text = rf"\begin{{align*}} {text} \end{{align*}}"
    return convert(text, display=display)


def _written(node: nodes.Element, display: str) -> str:
    """Return the formula of a node; a warning, and the LaTeX itself, where it cannot be converted."""
    try:
        return mathml(node.astext(), display)
    except Exception as error:  # the library has no base class of errors
        _LOGGER.warning("Formula not understood: %r in %r", error, node.astext(), location=node)
        return f"<code>{node.astext()}</code>"


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_written(node, "inline"))
    raise nodes.SkipNode


def _displayed(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math-display">{_written(node, "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
