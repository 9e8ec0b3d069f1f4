"""What a page says of the problem that is picked: what it is, its dimensions, what is known of it, and its source."""

from __future__ import annotations

import html
import inspect
import re

from bokeh.document import Document
from bokeh.models import CustomJS

from zoviz.problems.base import Problem
from zoviz.problems.noise import UNKNOWN
from zoviz.solvers.base import Solver
from zoviz.views.common.style import details_html
from zoviz.views.upstream.panel import TYPESETTER


def documentation(subject: Problem | Solver) -> str:
    """Return the documentation of a problem's or solver's class, without what Param appends to it in a notebook."""
    return inspect.cleandoc((inspect.getdoc(type(subject)) or "").partition("\x1b")[0])


def sentence(subject: Problem | Solver) -> str:
    """Return the first sentence of the documentation of a problem's or solver's class."""
    return documentation(subject).partition("\n\n")[0].replace("\n", " ")


def formula(subject: Problem | Solver) -> str:
    """Return the first formula of the documentation of a problem's or solver's class, as TeX; empty without one."""
    match = re.search(r"^\.\. math::((?:[^\n]+|\n[ \t]+[^\n]*|\n(?=\n[ \t]))*)", documentation(subject), re.MULTILINE)
    return "" if match is None else " ".join(match[1].split())


def source(subject: Problem | Solver) -> str:
    """Return the references of a problem's or solver's class in one line; empty where it names none."""
    match = re.search(r"^References\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", documentation(subject), re.MULTILINE | re.DOTALL)
    return "" if match is None else " ".join(match[1].split())


def facts(problem: Problem) -> str:
    """Return numbers of variables and constraints, kind, noise, and whether the optimum is known; needs its data."""
    n, m = problem.domain.n, problem.m
    counts = f"{n:,} variable{'s' * (n != 1)}, {m:,} constraint{'s' * (m != 1)}"
    kinds = ", ".join((problem.form, *problem.kinds))
    known = problem.known_optimum
    optimum = "optimum unknown" if known is None else f"optimum {known.value:.6g}"
    values = "of unknown noise" if problem.noise == UNKNOWN else problem.noise
    return f"{counts}; {kinds}; values {values}; {optimum}"


def equation(subject: Problem | Solver) -> str:
    """Return the formula of a problem or solver as TeX that may be displayed by itself; empty without one."""
    text = formula(subject)
    return rf"\begin{{aligned}} {text} \end{{aligned}}" if re.search(r"(?<!\\)&|\\\\", text) else text


_FORMULA = (
    "<div class='zoviz-formula' role='group' aria-label='Formula' tabindex='0' "
    "style='overflow-x:auto;padding:6px 0'>{}</div>"
)
"""Wider than the sidebar at times: it is scrolled, by the keyboard too."""

# In the browser when it is first asked for: a page opens without the 270 kB that set it. MathML is read out by screen
# readers, and needs neither style sheet nor fonts. Until then, and where the file is missing, TeX stands there.
_TYPESET = """
    const load = () => globalThis.katex ? Promise.resolve() : new Promise((done, fail) => {
        const script = Object.assign(document.createElement("script"), {src: file, onload: done, onerror: fail});
        document.head.append(script);
    });
    document.addEventListener("click", async event => {
        const summary = event.composedPath().find(node => node.tagName === "SUMMARY");
        for (const box of summary?.parentNode.querySelectorAll(".zoviz-formula:not([data-set])") ?? []) {
            await load();
            katex.render(box.textContent, box, {output: "mathml", displayMode: true, throwOnError: false});
            box.dataset.set = "";
        }
    }, true);
"""


def typeset_formulas(document: Document) -> None:
    """Have a page set the formula of a problem when what is known of the problem is opened."""
    document.js_on_event("document_ready", CustomJS(args={"file": TYPESETTER}, code=_TYPESET))


def about_html(problem: Problem) -> str:
    """Return what is known of a problem as HTML: its sentence, and when it is clicked formula, facts and source."""
    try:
        known = facts(problem)
    except ValueError as error:  # the problem's own complaint on its parameters
        known = str(error)
    tex, origin = html.escape(equation(problem), quote=False), source(problem)
    lines = [_FORMULA.format(tex)] if tex else []
    lines += [f"{html.escape(known[:1].upper() + known[1:])}."]
    lines += [f"Source: {html.escape(origin)}"] if origin else []
    return details_html(html.escape(sentence(problem)), *lines)
