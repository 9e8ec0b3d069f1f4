"""A picture of the black-box attack: images, the perturbation of all of them, and the classifier's answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.problems.learning.blackbox_attack import HALF, BlackBoxAttack, Pool
from zoviz.views.common.colours import PALETTE, TARGET
from zoviz.views.pictures.base import Picture

CLASSES = 5
"""Images, each of another class."""
_GREYS = tuple(f"#{level:02x}{level:02x}{level:02x}" for level in range(256))
_RIGHT, _WRONG = TARGET, PALETTE[7]


def first_of_classes(pool: Pool) -> np.ndarray:
    """Return the indices (classes,) of the first image of each of the first classes."""
    return np.array([int(np.argmax(pool.labels == label)) for label in range(CLASSES)])


def _diverging() -> tuple[str, ...]:
    """Return colours: blue for less, white for no change, orange for more."""
    ends = [np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) for colour in (PALETTE[0], PALETTE[1])]
    white = np.full(3, 247)
    half = np.linspace(0.0, 1.0, 64)[:, None]
    levels = np.concatenate([ends[0] + half * (white - ends[0]), white + half * (ends[1] - white)])
    return tuple("#" + "".join(f"{round(channel):02x}" for channel in level) for level in levels)


class Attack(Picture):
    """A picture in three rows: images with their classes, the perturbation, perturbed images with the answers."""

    title = "Original, perturbation, perturbed image, and their classes"
    kind = BlackBoxAttack
    height = 340
    follows = "inner"

    def build(self) -> figure:
        """Return the figure: three rows of tiles, the middle one a single tile, with a class beside each."""
        tiles: dict[str, Any] = {"x": [], "y": [], "image": []}
        self.images, self.change = ColumnDataSource(dict(tiles)), ColumnDataSource(dict(tiles))
        self.words = ColumnDataSource({"x": [], "y": [], "text": [], "colour": []})
        fig = self.frame("", "", x_range=(-0.9, 1.25 * CLASSES), y_range=(-0.35, 3.75), match_aspect=True)
        fig.grid.grid_line_color = None
        fig.axis.visible = False
        grey = LinearColorMapper(palette=_GREYS, low=-HALF, high=HALF)
        both = LinearColorMapper(palette=_diverging(), low=-HALF, high=HALF)
        for source, mapper in ((self.images, grey), (self.change, both)):
            fig.image("image", "x", "y", 1.0, 1.0, source=source, color_mapper=mapper)
        text = {"text_font_size": "13px", "text_align": "center", "text_baseline": "bottom"}
        fig.text("x", "y", text="text", text_color="colour", source=self.words, **text)
        return fig

    def update(self, problem: Any, path: Array) -> None:
        """Draw the newest perturbation of the path (rows, d), and the classifier's answers."""
        data, y = problem.data, path[-1]
        test, side = data.test, data.side
        places = first_of_classes(test)
        labels = test.labels[places]
        some = Pool(test.pixels[places], test.hidden[places], labels)
        before, after = (problem.classes(one[None], some)[0] for one in (np.zeros_like(y), y))

        def tile(pixels: Array) -> Array:
            return pixels.reshape(side, side, -1).mean(axis=2)[::-1]  # colours as their grey

        left = 1.25 * np.arange(CLASSES)
        images = [tile(a) for a in some.pixels] + [tile(a + y) for a in some.pixels]
        high, low = np.full(CLASSES, 2.5), np.zeros(CLASSES)
        self.images.data = {"x": np.tile(left, 2), "y": np.concatenate([high, low]), "image": images}
        self.change.data = {"x": [left[CLASSES // 2]], "y": [1.25], "image": [tile(y)]}
        classes = np.concatenate([before, after])
        size = f"‖y‖∞ = {np.abs(y).max():.2f}"
        self.words.data = {
            "x": [*(np.tile(left, 2) + 0.5), left[CLASSES // 2] + 1.75],
            "y": [*(high + 1.0), *(low + 1.0), 1.65],
            "text": [f"read as {one}" for one in classes] + [size],
            "colour": [_RIGHT if good else _WRONG for good in classes == np.tile(labels, 2)] + [PALETTE[0]],
        }
