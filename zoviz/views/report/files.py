"""Writes reports of runs as files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from zoviz.runs.storage.database import UnknownName
from zoviz.views.plots.named_runs import Runs
from zoviz.views.report.html_page import html_page
from zoviz.views.report.markdown import markdown
from zoviz.views.report.pdf import pdf
from zoviz.views.report.report import Report


def page_of(runs: Runs) -> bytes:
    """Return the report of runs as an HTML file."""
    return html_page(Report.of(runs)).encode()


FORMATS: dict[str, Callable[[Runs], bytes]] = {
    ".html": page_of,
    ".md": lambda runs: markdown(Report.of(runs)).encode(),
    ".pdf": lambda runs: pdf(Report.of(runs)),
}
"""What a report is written as, by the endings of names."""


def write_report(runs: Runs, path: str | os.PathLike[str]) -> None:
    """Write a report of runs; one run has beside it the forks that its store knows.

    Parameters
    ----------
    runs : Run or StoredRun, sequence of them or mapping of str to them
        Runs that have begun.
    path : path
        ``.html``: a page that needs nothing else, with plots that zoom and hover, and a player of the course. ``.md``:
        its figures as Markdown. ``.pdf``: two pages for print, which need the extra ``figures``.

    Raises
    ------
    UnknownName
        For another suffix.
    ValueError
        For a run that has not begun.
    MissingExtra
        Where Matplotlib is not installed, for ``.pdf``.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise UnknownName(f"Expected a name that ends in {', '.join(FORMATS)}, got {path.name!r}.")
    path.write_bytes(FORMATS[path.suffix](runs))
