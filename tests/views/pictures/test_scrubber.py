"""The slider through a picture's path: it goes back, stays where it is while the run goes on, and follows again."""

from __future__ import annotations

import numpy as np

from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSPLM
from zoviz.views.common.figure_frame import EVERY
from zoviz.views.pictures.base import PictureCard
from zoviz.views.pictures.network_work import NetworkWork
from zoviz.views.pictures.quadratic_slice import QuadraticSlice
from zoviz.views.pictures.scrubber import WHOLE


def drawn(card: PictureCard) -> int:
    """How many points of the path the picture shows."""
    assert isinstance(card.picture, QuadraticSlice)
    return len(card.picture.path.data["x"])


def test_the_slider_goes_back_stays_and_follows_again() -> None:
    card, counts = PictureCard(), []
    run = Run(NonconvexQCQP(n=4), ZOSPLM(), replicas=1, iterations=200)

    def look() -> None:
        card.update(run)
        at = run.progress.iteration
        if at == 100:
            assert card.scrubber is not None
            card.scrubber.share = 50
        elif at == 160:
            card.scrubber.share = WHOLE
        counts.append(drawn(card))

    run.run(observer=look)
    iterations = run.path.snapshot().columns["iteration"]
    middle = int(np.searchsorted(iterations, 50.0, side="right"))
    assert counts[99] > middle > 1, "it followed"
    assert set(counts[101:159]) == {middle}, "it stays at iteration 50, from the next look on"
    assert counts[161] > counts[99], "and follows the newest again"
    assert card.scrubber is not None
    card.scrubber.share = 25
    card.update(run)
    assert drawn(card) == int(np.searchsorted(iterations, 50.0, side="right"))
    assert card.scrubber.__panel__().words == "iteration 50 of 200"
    card.scrubber.share = 0
    card.update(run)
    assert drawn(card) == 1
    np.testing.assert_array_equal(card.picture.ends.data["x"][1], card.picture.ends.data["x"][2], "start is now")


def test_another_run_is_followed_and_what_draws_no_path_has_no_slider() -> None:
    card = PictureCard()
    for _ in range(2):
        run = Run(NonconvexQCQP(n=4), ZOSPLM(), replicas=1, iterations=30)
        run.run()
        for _ in range(EVERY):
            card.update(run)
        assert card.scrubber is not None and card.scrubber.share == WHOLE
        assert drawn(card) == len(run.path.snapshot().columns["x"])
        card.scrubber.share = 10
    assert QuadraticSlice.follows_path() and not NetworkWork.follows_path()
