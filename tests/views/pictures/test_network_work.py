"""The picture of tuned networks: work and error of every iterate, the staircase below them, the limit."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')

from zoviz import Run  # noqa: E402
from zoviz.core.registry import discover  # noqa: E402
from zoviz.estimators import Gaussian  # noqa: E402
from zoviz.problems import Gramacy, NetworkTuning  # noqa: E402
from zoviz.solvers import SZOConEX  # noqa: E402
from zoviz.views.common.figure_frame import EVERY  # noqa: E402
from zoviz.views.pictures.base import Picture, PictureCard  # noqa: E402
from zoviz.views.pictures.network_work import NetworkWork, frontier  # noqa: E402


def test_only_networks_have_this_picture() -> None:
    kinds = discover("zoviz.views.pictures", Picture).values()
    assert [kind for kind in kinds if kind.draws(NetworkTuning())] == [NetworkWork]
    assert not NetworkWork.draws(Gramacy())


def test_the_frontier_has_what_no_other_point_beats() -> None:
    work, error = np.array([5.0, 1.0, 3.0, 2.0, 3.0]), np.array([1.0, 9.0, 4.0, 9.0, 6.0])
    x, y = frontier(work, error)
    assert x.tolist() == [1.0, 3.0, 5.0] and y.tolist() == [9.0, 4.0, 1.0]


def test_the_card_shows_the_iterates_of_the_run() -> None:
    solver = SZOConEX(primal_step=0.01, dual_step=0.05, estimator=Gaussian(smoothing_radius=0.05, batch_size=1))
    run = Run(problem=NetworkTuning(steps=2), solver=solver, replicas=2, iterations=3)
    run.run()
    card = PictureCard()
    for _ in range(EVERY):
        card.update(run)
    picture = card.picture
    assert isinstance(picture, NetworkWork)
    np.testing.assert_array_equal(picture.newest.data["x"], run.problem.work(run.result.x[:1]))
    np.testing.assert_array_equal(picture.points.data["y"], run.trace["objective"][:, 0])
    assert picture.limit.location == run.problem.limit
