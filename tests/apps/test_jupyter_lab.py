"""JupyterLab in a real browser: cells that live through the kernel's own channel, and notebooks that outlive it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from helpers.jupyter_lab import PATIENCE, OpenNotebook, jupyter_lab, write
from helpers.serving import is_local

pytest.importorskip("jupyterlab", reason='JupyterLab is missing: python -m pip install -e ".[notebook]"')
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

BEGIN = """
from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSPLM
run = Run(NonconvexQCQP(n=20), ZOSPLM(), replicas=2)
run.start()
"""
BUSY = "import time\nwhile not run.journal and run.active:\n    time.sleep(0.1)\nprint('seen', run.journal[0].name)"
HANDLE = ".logslider-primal_step input[type=range]"
MARKS = """() => {
    const texts = [];
    for (const d of Bokeh.documents) for (const m of d._all_models.values())
        try { if (m.name === "marks") texts.push(...m.data.text) } catch {}
    return texts;
}"""


@pytest.fixture
def open_lab_page(open_page: Callable[..., Any], pages: Any) -> Iterator[Callable[..., Any]]:
    """``open_lab_page()``: a page for JupyterLab, whose own messages in the console are no errors of ours.

    What it asks for comes from one port, the notebook's own: a hub or a remote editor passes on no other.
    """
    ports: list[set[int | None]] = []

    def open_one() -> Any:
        page, own = open_page(), set[int | None]()
        page.on("request", lambda request: is_local(request.url) and own.add(urlsplit(request.url).port))
        page.on("websocket", lambda socket: own.add(urlsplit(socket.url).port))
        page.set_default_timeout(1000 * PATIENCE)
        ports.append(own)
        return page

    yield open_one
    assert ports and all(len(own - {None}) == 1 for own in ports), ports  # data and blobs have none
    pages.problems[:] = [one for one in pages.problems if "outside localhost" in one]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for notebooks."""
    (tmp_path / "notebooks").mkdir()
    return tmp_path / "notebooks"


def test_a_run_lives_in_its_cell_and_its_outcome_is_saved(folder: Path, open_lab_page: Callable[..., Any]) -> None:
    write(folder / "live.ipynb", BEGIN, BUSY)
    with jupyter_lab(folder) as lab:
        book = OpenNotebook(open_lab_page(), lab, "live.ipynb")
        book.idle()
        book.execute(0)
        book.until(lambda: book.last_calls() > 0, "lines are drawn")
        before = book.last_calls()
        book.until(lambda: book.last_calls() > before, "they grow")

        book.execute(1, wait=False)  # the kernel's main thread is busy until the slider is moved
        busy = book.last_calls()
        book.until(lambda: book.last_calls() > busy, "they grow while a cell is executed")
        assert book.count(1) == "[*]:"
        book.page.get_by_role("button", name="Pause", exact=True).wait_for()
        book.page.locator(HANDLE).first.press("ArrowRight")
        book.until(lambda: "seen primal_step" in book.text(1), "the slider has reached the solver")
        book.until(lambda: len(book.page.evaluate(MARKS)) > 0, "the change is marked")

        book.page.get_by_role("button", name="Stop", exact=True).click()
        book.page.get_by_text("Stopped after").first.wait_for()
        book.page.get_by_text("best feasible objective").wait_for()
        assert book.page.get_by_role("button", name="Pause", exact=True).count() == 0, "nothing that needs a kernel"
        drawn = book.last_calls()
        book.save()
        book.page.close()
    with jupyter_lab(folder) as lab:  # another server, whose kernel has executed nothing
        again = OpenNotebook(open_lab_page(), lab, "live.ipynb")
        again.until(lambda: again.last_calls() == drawn, "the last figure is there")
        again.page.get_by_text("best feasible objective").wait_for()


def test_the_tour_runs_from_the_first_cell_to_the_last(folder: Path, open_lab_page: Callable[..., Any]) -> None:
    tour = Path(__file__).resolve().parents[2] / "notebooks" / "01_tour.ipynb"
    (folder / "tour.ipynb").write_text(tour.read_text(encoding="utf-8"), encoding="utf-8")
    with jupyter_lab(folder, ZOVIZ_SMOKE="1") as lab:
        book = OpenNotebook(open_lab_page(), lab, "tour.ipynb")
        book.idle()
        book.page.locator(".jp-Notebook").click()
        book.page.get_by_role("menuitem", name="Run", exact=True).click()
        book.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        last = book.page.locator(".jp-Notebook .jp-CodeCell").count() - 1
        book.until(lambda: book.count(last).strip("[]: ").isdigit(), "the last cell is executed")
        assert book.page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
        assert "The budget of 0.5 s is spent." in book.text(last)
