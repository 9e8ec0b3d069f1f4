"""The page's keys without a browser: what each says to the run; and the tour, whose stops are parts of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import zoviz
from helpers.waiting import until
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.app.guide import KEYS, TOUR, Guide


def status(page: Dashboard) -> Any:
    page.refresh()
    return page.controller.status


def test_space_holds_and_lets_go_and_s_starts_and_stops() -> None:
    page = Dashboard(NonconvexQCQP(n=4), ZOSPLM(primal_step=1e-6))
    guide = Guide(page.controller)
    for nonsense in ("space", "x", None, ["s"], {"key": "s"}):
        guide.press(nonsense)
    assert page.controller.run is None
    page.form.settings.seconds = None
    guide.press("s")
    until(lambda: status(page) == "running")
    guide.press("space")
    until(lambda: status(page) == "paused")
    guide.press("space")
    until(lambda: status(page) == "running")
    guide.press("s")
    until(lambda: status(page) == "stopped")


def test_every_stop_of_the_tour_is_a_part_of_the_page() -> None:
    folder = Path(zoviz.__file__).parent / "views"
    files = [*folder.glob("**/*.py"), *folder.glob("**/*.js")]
    views = "".join(path.read_text(encoding="utf-8") for path in files)
    for stop in TOUR:
        name = stop.selector[1:]
        assert any(f'{place}"{name}"' in views for place in ("css_classes=[", '"css_classes": [', "class="))
    assert [key for key, _ in KEYS] == ["Space", "S", "F", "Ctrl", "?", "Esc"]
