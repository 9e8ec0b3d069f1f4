"""Figures for print: their sizes, inks, caption, and the scripts that remake them."""

from __future__ import annotations

import re
import struct
import threading
import zipfile
from pathlib import Path

import pytest

from zoviz import Run
from zoviz.problems import LoadTracking
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.views.common.shown_runs import ShownRuns
from zoviz.views.plots.board import Board
from zoviz.views.plots.paper_figure import INKS, RESOLUTION, WIDTHS, PaperFigure
from zoviz.views.report.figure_download import FigureDownload

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    schedule = [(10, 0, 0.0, "primal_step", None, 0.01)]
    out = [Run(LoadTracking(n=5), ZOSPLM(), replicas=3, iterations=20, schedule=schedule)]
    out.append(Run(LoadTracking(n=5), ZOCEG(), replicas=3, iterations=20))
    for run in out:
        run.run()
    return out


def test_an_archive_has_three_formats_of_a_columns_width_a_caption_and_scripts(runs: list[Run], tmp_path: Path) -> None:
    PaperFigure(runs).save(tmp_path / "figure.zip")
    with zipfile.ZipFile(tmp_path / "figure.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert set(files) == {
        *("figure.pdf", "figure.svg", "figure.png"),
        *("caption.txt", "figure.py", "run_1.py", "run_2.py"),
    }
    points = 72 * WIDTHS["one column"]
    svg = files["figure.svg"].decode()
    assert f'width="{points:g}pt"' in svg and INKS[0] in svg and INKS[1] in svg
    assert re.search(rb"/MediaBox \[ ?0 0 252 ", files["figure.pdf"]) and b"/Type3" not in files["figure.pdf"]
    assert struct.unpack(">I", files["figure.png"][16:20])[0] == round(RESOLUTION * WIDTHS["one column"])
    for name in ("figure.py", "run_1.py", "run_2.py"):
        compile(files[name], name, "exec")
    assert b"'ZOCEG': runpy.run_path" in files["figure.py"] and b"'one column'" in files["figure.py"]


def test_calls_are_drawn_logarithmically_where_that_is_asked(runs: list[Run]) -> None:
    figure = PaperFigure(runs, log_x=True)
    plain, logarithmic = (one.drawn("svg")["svg"].decode() for one in (PaperFigure(runs), figure))
    ticks = [text.count('id="xtick_') for text in (plain, logarithmic)]
    assert ticks[1] > 2 * ticks[0] > 0, "with ticks between powers of ten"
    assert "log_x=True" in figure.scripts()["figure.py"]


def test_the_caption_has_the_settings_and_what_was_changed(runs: list[Run]) -> None:
    one, both = PaperFigure(runs[0], width="two columns"), PaperFigure(runs)
    assert one.plots == ("Gap", "Violation") and both.plots == ("Gap",)
    assert one.caption.startswith("Objective gap |f − f*| (a) and constraint violation ‖[h(x)]₊‖ (b) against oracle")
    step = runs[0].resolved["primal_step"]
    for words in ("5 variables", f"Primal step c {step:.3g}*", "3 replicas", "seed 0", "at the dashed lines"):
        assert words in one.caption
    assert f"(1) Primal step c from {step:.3g} to 0.01 at iteration 10 (" in one.caption
    assert "ZO-SPLM, " in both.caption and "ZOCEG, " in both.caption and "Thin lines: best feasible" in both.caption


# Values that are set, with their iterations: of none, one, two and many steps, and one that is put back.
STEERING: dict[str, list[tuple[int, float]]] = {
    "not steered": [],
    "one step": [(5, 0.01)],
    "two steps": [(5, 0.01), (15, 0.02)],
    "a drag": [(at, 0.01 + 1e-3 * at) for at in range(4, 14)],
    "put back": [(5, 0.01), (15, 0.03), (16, 0.01)],
}


@pytest.fixture(scope="module")
def steered() -> dict[str, Run]:
    out = {}
    for name, steps in STEERING.items():
        schedule = [(at, 0, 0.0, "primal_step", None, value) for at, value in steps]
        out[name] = Run(LoadTracking(n=5), ZOSPLM(primal_step=0.03), replicas=2, iterations=20, schedule=schedule)
        out[name].run()
    return out


def marks(figure: PaperFigure, ink: str) -> int:
    """How many dashed lines of this ink mark changes on a figure."""
    svg = figure.drawn("svg")["svg"].decode()
    return len(re.findall(rf"stroke-dasharray: 3.6,1.2;[^\"]*stroke: {ink}; stroke-width: 0.6", svg))


@pytest.mark.parametrize("names", [[*STEERING], [*STEERING][::-1], ["not steered", "two steps"], ["one step"]])
def test_every_change_of_every_run_is_marked_and_told(steered: dict[str, Run], names: list[str]) -> None:
    figure = PaperFigure({name: steered[name] for name in names})
    runs = {name: figure.caption.index(f"{name}: ZO-SPLM") for name in names}
    ends = [*sorted(runs.values())[1:], len(figure.caption)]
    numbers = []
    for at, (name, start) in enumerate(runs.items()):
        words, steps = figure.caption[start : ends[at]], STEERING[name]
        ink = INKS[at] if len(names) > 1 else "#8a8f98"
        assert marks(figure, ink) == (len(steps) if len(steps) <= 4 else 2), name
        assert ("changed while it ran, at the dashed lines" in words) == bool(steps)
        numbers += re.findall(r"\((\d+)\) Primal step c from 0.03 ", words)
        if len(steps) > 4:
            assert "in 10 steps to 0.023 at iterations 4 to 13 (" in words
        else:
            told = [f"to {value:g} at iteration {iteration} (" in words for iteration, value in steps]
            assert told == [True] * len(steps)
    assert numbers == [str(k) for k in range(1, len(numbers) + 1)]
    assert len(numbers) == sum(bool(STEERING[name]) for name in names)


def test_the_legend_of_several_runs_has_their_thin_lines(steered: dict[str, Run]) -> None:
    both = PaperFigure({name: steered[name] for name in ("one step", "a drag")}, width="two columns").drawn("svg")
    assert both["svg"].count(b"<!-- best feasible -->") == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"width": "wide"}, "Expected a width of one column, two columns, got 'wide'"),
        ({"axis": "samples"}, "Expected runs with samples"),
        ({"plots": ["Regret"]}, "Expected plots on which the runs have values, .*got .*'Regret'"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_a_sentence(runs: list[Run], options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        PaperFigure(runs, **options)


def test_only_names_of_figures_are_written(runs: list[Run], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Expected a name that ends in .pdf, .svg, .png or .zip"):
        PaperFigure(runs).save(tmp_path / "figure.eps")


def test_the_page_offers_the_plots_that_it_shows(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    shown = ShownRuns()
    board = Board(shown)
    download = FigureDownload(board)
    download.update()
    assert not download.__panel__().visible
    shown.put(runs[0])
    board.refresh()
    download.update()
    assert download.__panel__().visible and download.plots == "Gap"
    assert download.param.plots.names["Objective gap + Constraint violation"] == "Gap+Violation"
    monkeypatch.setattr(
        PaperFigure, "archive", lambda one: f"{' '.join(one.plots)} {one.width} {one.log_x} {one.log_y}".encode()
    )
    download.param.update(plots="Gap+Violation", width="two columns")
    board.log_x = True
    assert download.make().result(60) == b"Gap Violation two columns True True"
    page = download.make_report().result(60).decode()
    assert page.startswith("<!doctype html>") and f'"id": "{runs[0].id}"' in page


def test_the_servers_loop_goes_on_while_a_figure_is_drawn(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    board = Board()
    board.runs_shown.put(runs[0])
    board.refresh()
    download = FigureDownload(board)
    download.__panel__()
    download.update()
    looked = threading.Event()
    monkeypatch.setattr(PaperFigure, "archive", lambda figure: b"drawn" if looked.wait(60) else b"the loop stood still")
    making = download.make()
    looked.set()
    assert making.result(60) == b"drawn"
