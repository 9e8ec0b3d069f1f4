"""The report of an experiment as Markdown: what is printed, how it was measured, the tables and the verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from zoviz.papers.reproduction import Reproduction


def markdown(work: Reproduction, level: int = 2) -> str:
    """Return the report of an experiment whose parts are all measured.

    Parameters
    ----------
    work : Reproduction
    level : int
        Of its heading.
    """
    one = work.experiment
    days = sorted({part["date"] for part in work.parts.values()})
    commits = list(dict.fromkeys(part["commit"] for part in work.parts.values()))
    seconds = sum(part["seconds"] for part in work.parts.values())
    lines = [f"{'#' * level} {one.title}: {one.subject}", "", f"The paper prints: {one.printed}", ""]
    lines += [f"Measured: {one.protocol}"]
    if tuning := one.tuning():
        trials, own = (", ".join(map(str, seeds)) for seeds in (tuning.trial_seeds, tuning.reported_seeds))
        lines += [
            f"Steps are the best of {tuning.settings} settings for every method alike, by {tuning.criterion}, on "
            f"seed {trials}; figures are of seed {own}."
        ]
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    lines += ["", f"`{work.command}`, {when}, commit {', '.join(commits)}, {seconds:.0f} s.", ""]
    for table in one.tables(work.measured):
        lines += [f"{table.heading}:", "", *_table(table.heads, table.rows), ""]
    heads = ("Place", "Claim", "Verdict", "Figures", "Without what it credits")
    lines += _table(heads, [_verdict(row) for row in work.judgements()])
    return "\n".join([*lines, ""])


def _verdict(row: dict[str, str]) -> tuple[str, ...]:
    without = f"{row['ablation']}: {row['ablation_verdict']}, {row['ablation_figures']}" if "ablation" in row else ""
    return row["place"], row["says"], f"**{row['verdict']}**", row["figures"], without


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]
