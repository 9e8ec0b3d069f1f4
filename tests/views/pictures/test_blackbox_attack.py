"""The picture of the attack: images, perturbation and sums where they belong, and the classes that they are read as."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')

from zoviz import Run  # noqa: E402
from zoviz.core.registry import discover  # noqa: E402
from zoviz.problems import BlackBoxAttack, QuadraticBilevel  # noqa: E402
from zoviz.solvers import ZOGD  # noqa: E402
from zoviz.views.common.colours import PALETTE  # noqa: E402
from zoviz.views.common.figure_frame import EVERY  # noqa: E402
from zoviz.views.pictures.base import Picture, PictureCard  # noqa: E402
from zoviz.views.pictures.blackbox_attack import CLASSES, Attack, first_of_classes  # noqa: E402


def test_only_the_attack_has_this_picture() -> None:
    kinds = discover("zoviz.views.pictures", Picture).values()
    assert [kind for kind in kinds if kind.draws(BlackBoxAttack())] == [Attack]
    assert not Attack.draws(QuadraticBilevel())


def test_tiles_are_images_perturbation_and_sums() -> None:
    problem, picture, rng = BlackBoxAttack(), Attack(), np.random.default_rng(0)
    path = rng.uniform(-15.0, 15.0, (4, problem.n))
    picture.update(problem, path)
    y, test = path[-1], problem.data.test
    places = first_of_classes(test)
    assert test.labels[places].tolist() == list(range(CLASSES))
    tiles = [tile[::-1].ravel() for tile in picture.images.data["image"]]
    for i, a in enumerate(test.pixels[places]):
        np.testing.assert_array_equal(tiles[i], a)
        np.testing.assert_array_equal(tiles[CLASSES + i], a + y)
    np.testing.assert_array_equal(picture.change.data["image"][0][::-1].ravel(), y)
    words, net = picture.words.data, problem.data.network
    right, wrong = words["colour"][0], PALETTE[7]
    for i, a in enumerate([*test.pixels[places], *(test.pixels[places] + y)]):
        logits = np.maximum(a @ net.first + net.shift, 0.0) @ net.second + net.offset
        assert words["text"][i] == f"read as {logits.argmax()}"
        assert words["colour"][i] == (right if logits.argmax() == i % CLASSES else wrong)
    assert words["text"][-1] == f"‖y‖∞ = {np.abs(y).max():.2f}"
    assert wrong in words["colour"], "a misread image is told by its colour"


def test_the_card_follows_the_perturbation() -> None:
    card = PictureCard()
    run = Run(problem=BlackBoxAttack(), solver=ZOGD(inner_step=1.0), replicas=2, iterations=20)
    run.run()
    for _ in range(EVERY):
        card.update(run)
    assert isinstance(card.picture, Attack)
    np.testing.assert_array_equal(card.picture.change.data["image"][0][::-1].ravel(), run.state.inner[0])
