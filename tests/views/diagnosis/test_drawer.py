"""The drawer with the ledger, the certificate and the microscope, on a page without a browser."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

from helpers.waiting import until
from zoviz.core.types import Array
from zoviz.estimators import Sphere
from zoviz.problems import BlackBox, ConexQCQP
from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.diagnosis.microscope_card import RADIUS


def paused_page(problem: Problem) -> tuple[Dashboard, Run]:
    """A page whose run is paused after five iterations."""
    page = Dashboard(problem, ZOSPLM(estimator=Sphere(smoothing_radius=1e-5, batch_size=4)))
    page.form.settings.param.update(iterations=50, seconds=None, replicas=2)
    page.controller.start(steps=5)
    run = page.controller.run
    assert run is not None
    until(lambda: run.status == "paused")
    return page, run


def refresh_until(page: Dashboard, ready: Callable[[], bool]) -> None:
    """Look at the run, as the page does, until something is shown."""

    def look() -> bool:
        page.refresh()
        return ready()

    until(look)


def test_it_costs_nothing_while_it_is_closed_and_shows_the_ledger_when_it_is_opened() -> None:
    page, run = paused_page(ConexQCQP(n=4))
    for _ in range(4):
        page.refresh()
    drawer = page.diagnosis
    assert not drawer.ledger.pane.object and not drawer.certificate.control.note.object.count("calls")
    drawer.open = True
    refresh_until(page, lambda: "directions" in drawer.ledger.pane.object)
    assert "20 · 77 %" in drawer.ledger.pane.object, "5 iterations of 4 directions, of 26 calls"
    page.controller.stop()
    run.wait()


def test_the_suggested_radius_goes_to_the_run_as_any_steering_does() -> None:
    page, run = paused_page(ConexQCQP(n=4, noise="independent", noise_scale=1e-2))
    page.diagnosis.open = True
    card = page.diagnosis.microscope
    refresh_until(page, lambda: not card.control.button.disabled)
    assert "extra calls, not charged to the run" in card.control.note.object
    before = run.progress.calls
    card.control.begin()
    refresh_until(page, lambda: card.use_button.visible)
    radius = card.usable
    assert radius is not None and radius > 1e-3, "1e-5 is far below the wall of the noise"
    assert run.progress.calls == before
    assert np.nanmax(card.source.data["variance"]) == pytest.approx(np.nanmax(card.shown.variance))
    card.use()
    until(lambda: run.parameters[RADIUS] == radius)
    page.refresh()
    assert page.form.picker.solver_form.fields[RADIUS].value == radius
    assert [(change.name, change.new) for change in run.journal] == [(RADIUS, radius)]
    page.controller.stop()
    run.wait()


class Counted:
    """A noisy objective of a user's own, which counts its calls and may be held."""

    def __init__(self) -> None:
        self.calls, self.gate = 0, threading.Event()
        self.gate.set()
        self.random = np.random.default_rng(0)

    def __call__(self, x: Array) -> float:
        self.calls += 1
        assert self.gate.wait(60)
        return float(np.square(x - 0.3).sum() + 1e-3 * self.random.standard_normal())


def test_a_noisy_black_box_is_certified_at_the_price_that_was_said_and_may_be_called_off() -> None:
    count = Counted()
    problem = BlackBox(count, bounds=[(0, 1)] * 2, x0=[0.5, 0.5], m=0, noise="independent")
    page, run = paused_page(problem)
    page.diagnosis.open = True
    card, before = page.diagnosis.certificate, count.calls
    refresh_until(page, lambda: not card.control.button.disabled)
    sure = 16 * 3  # for f*
    least, most = 16 + 8 * 4 + sure, 16 + 8 * 7 + 8 * 4 + sure  # the last where some functions turn out to be exact
    assert f"{least}–{most} extra calls, not charged to the run" in card.control.note.object and count.calls == before
    card.control.begin()
    refresh_until(page, lambda: bool(card.line.visible))
    assert card.certificate is not None and least <= card.certificate.calls == count.calls - before <= most
    assert "Certificate of iteration 5" in card.line.object and "KKT residual" in card.line.object
    count.gate.clear()
    card.control.begin()
    until(lambda: count.calls == before + card.certificate.calls + 1)
    refresh_until(page, lambda: bool(card.control.cancel_button.visible))
    card.control.cancel()
    count.gate.set()
    refresh_until(page, lambda: not card.control.at_work)
    assert count.calls == before + card.certificate.calls + 1, "no call was begun after it was called off"
    assert card.control.note.object.count("Cancelled.") == 1
    page.controller.stop()
    run.wait()
