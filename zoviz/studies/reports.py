"""The report of an experiment: what is printed, how it was measured, the tables and the verdicts; Markdown or HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from zoviz.studies.experiment import Table
from zoviz.studies.reproduction import Reproduction
from zoviz.studies.verdict import stated, without

_VERDICTS = ("Place", "Claim", "Verdict", "Figures", "Without what it credits")


def sentences(work: Reproduction) -> list[str]:
    """Return the introduction of an experiment's report: what the paper prints, and how and when it was measured.

    Parameters
    ----------
    work : Reproduction
        All of whose parts are measured.
    """
    one = work.experiment
    measured = f"Measured: {one.protocol}"
    if tuning := one.tuning():
        trials, own = (
            ", ".join(str(one.seed(seed)) for seed in seeds) for seeds in (tuning.trial_seeds, tuning.reported_seeds)
        )
        measured += (
            f" Steps are the best of {tuning.settings} settings for every method alike, by {tuning.criterion}, on seed "
            f"{trials}; figures are of seed {own}."
        )
    days = sorted({part["date"] for part in work.parts.values()})
    commits = ", ".join(dict.fromkeys(part["commit"] for part in work.parts.values()))
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    printed = [f"The paper prints: {one.printed}"] if one.printed else []
    return [*printed, measured, f"{work.command}, {when}, commit {commits}, {work.seconds:.0f} s."]


def verdicts(work: Reproduction) -> Table:
    """Return the table of claims with their verdicts, and the same test's verdict on each ablation."""
    rows = [(row["place"], row["says"], stated(row), row["figures"], without(row)) for row in work.judgements()]
    return Table("Verdicts", _VERDICTS, rows)


def markdown(work: Reproduction, level: int = 2) -> str:
    """Return the report of an experiment as Markdown.

    Parameters
    ----------
    work : Reproduction
        All of whose parts are measured.
    level : int
        Of its heading.
    """
    one = work.experiment
    lines = [f"{'#' * level} {one.title}: {one.subject}", ""]
    for sentence in sentences(work):
        lines += [escaped(sentence), ""]
    for table in _tables(work):
        lines += [f"{escaped(table.heading)}:", "", *_markdown_table(table.heads, table.rows), ""]
    return "\n".join(lines)


def _tables(work: Reproduction) -> list[Table]:
    """Return the verdicts, where there are claims, and what was measured."""
    own = work.experiment.tables(work.measured)
    return [verdicts(work), *own] if work.experiment.claims() else list(own)


def escaped(text: str) -> str:
    """Return text with Markdown's bars and stars escaped."""
    return text.replace("|", r"\|").replace("*", r"\*")


def _markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(map(escaped, line))} |" for line in lines]


def html(work: Reproduction, figures: str = "") -> str:
    """Return the report of an experiment as a section of HTML.

    Parameters
    ----------
    work : Reproduction
        All of whose parts are measured.
    figures : str
        HTML that goes between the sentences and the tables.
    """
    one = work.experiment
    lines = [f"<section><h2>{escape(one.title)}: {escape(one.subject)}</h2>"]
    lines += [f"<p>{escape(sentence)}</p>" for sentence in sentences(work)]
    lines.append(figures)
    for table in _tables(work):
        lines += [f"<h3>{escape(table.heading)}</h3><table><thead>{_html_row(table.heads, 'th')}</thead><tbody>"]
        lines += [_html_row(row, "td") for row in table.rows]
        lines.append("</tbody></table>")
    return "\n".join([*lines, "</section>"])


def _html_row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
