"""The gallery of starting points: a card for each named set-up, which one click starts."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

import param
from panel.custom import JSComponent

from zoviz.views.app.set_ups import SetUp
from zoviz.views.app.thumbnails import GAP_LABEL, Thumbnail, ends

WIDTH, HEIGHT = 240, 64
"""Of a thumbnail, in the units of its picture."""

_CARD = (
    "<button class='card' type='button' data-at='{at}'><span class='title'>{title}</span>"
    "<span class='what'>{what}</span>"
    "<span class='plot' aria-hidden='true'><span class='ends'><span>{top}</span><span>{low}</span></span>"
    "<svg viewBox='-3 -4 {width} {height}' preserveAspectRatio='none'><polyline points='{points}'/></svg>"
    "<span class='across'><span>{scale}</span><span>iterations</span></span></span>"
    "<span class='sentence'>{sentence}</span><span class='what'>{course}</span></button>"
)
_HEAD = (
    "<h2>Start from an example, or set up your own problem.</h2>"
    "<p>One click starts a run; almost everything can be changed while it runs.</p>"
)
_OWN = """
<h2>Your own problem</h2>
<p>Put it into a module, and name it where you start the page. <code>zoviz.minimize</code> takes the function as SciPy's
does, and <code>zoviz run my_module:problem</code> solves it in the terminal.</p>
<pre># my_module.py
from zoviz.problems import BlackBox

def fun(x):
    return (x[0] - 2) ** 2 + x[1] ** 2, [x[0] + x[1] - 1]  # f(x), and h(x) &lt;= 0

problem = BlackBox(fun, joint=True, m=1, bounds=[(0, 5)] * 2)

# in the folder of the module
panel serve apps/dashboard.py --show --args my_module:problem</pre>
"""
_STYLE = """
pre {font-size: 12.5px; line-height: 1.5; padding: 10px 14px; margin: 0 0 14px; overflow-x: auto; border-radius: 8px;
  max-width: 800px; background: color-mix(in srgb, currentColor 4%, transparent)} code {font-size: 12.5px}
.cards + h2 {margin-top: 22px}
h2 {font-size: 17px; margin: 10px 0 2px; font-weight: 600} p {margin: 0 0 12px; font-size: 14px}
.cards {display: grid; gap: 14px; grid-template-columns: repeat(auto-fill, minmax(280px, 1fr)); max-width: 1420px}
.card {display: flex; flex-direction: column; gap: 5px; text-align: left; font: inherit; color: inherit;
  background: color-mix(in srgb, currentColor 3%, transparent); padding: 12px 14px; border-radius: 8px; cursor: pointer;
  border: 1px solid color-mix(in srgb, currentColor 22%, transparent)}
.card:hover, .card:focus-visible {border-color: var(--panel-primary-color);
  outline: 2px solid var(--panel-primary-color)}
.plot {display: grid; grid-template: 64px auto / 42px 1fr; gap: 1px 6px; font-size: 11px}
.ends {display: flex; flex-direction: column; justify-content: space-between; text-align: right}
.plot svg {width: 100%; height: 64px; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent)}
.across {grid-column: 2; display: flex; justify-content: space-between}
.card polyline {fill: none; stroke: var(--panel-primary-color); stroke-width: 2; vector-effect: non-scaling-stroke}
.title {font-weight: 600; font-size: 15px} .sentence {font-size: 13.5px; line-height: 1.35; flex: 1}
.what {font-size: 12.5px; opacity: .8}
"""


def card(at: int, one: SetUp, thumbnail: Thumbnail | None) -> str:
    """Return the card of a set-up as HTML: course, title, what is run, sentence, and how it went when it was drawn."""
    points, course, scale, top, low = "", "", "", "", ""
    if thumbnail is not None:
        points = " ".join(f"{x * WIDTH:.0f},{y * HEIGHT:.0f}" for x, y in thumbnail["points"])
        course = f"{thumbnail['label']} {thumbnail['first']:.3g} to {thumbnail['last']:.2g}"
        scale = thumbnail["label"].rpartition(" ")[2] + (", log scale" if thumbnail["label"] == GAP_LABEL else "")
        top, low = map(_short, ends(thumbnail))
    words = {"title": one.title, "what": f"{one.problem} · {one.solver}", "sentence": one.sentence, "course": course}
    words |= {"scale": scale, "top": top, "low": low}
    escaped = {name: html.escape(text, quote=False) for name, text in words.items()}
    return _CARD.format(at=at, width=WIDTH + 6, height=HEIGHT + 8, points=points, **escaped)


def _short(value: float) -> str:
    """Return a number for the end of a small axis."""
    return f"{value:.3g}" if 0.01 <= abs(value) < 1e4 else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")


class Gallery(JSComponent):
    """A gallery of set-ups, each on a card with a picture of its course.

    Parameters
    ----------
    set_ups : sequence of SetUp
        Those that can be had.
    thumbnails : mapping of str to Thumbnail
        By the titles of the set-ups.
    begin : callable
        Called with the set-up whose card is clicked.
    """

    content = param.String(default="", doc="The cards as HTML.")

    _esm = """
export function render({model}) {
    const box = document.createElement("div");
    box.innerHTML = model.content;
    box.addEventListener("click", event => {
        const card = event.target.closest("[data-at]");
        if (card) model.send_msg(Number(card.dataset.at));
    });
    return box;
}
"""

    def __init__(
        self,
        set_ups: Sequence[SetUp],
        thumbnails: dict[str, Thumbnail],
        begin: Callable[[SetUp], None],
    ) -> None:
        cards = "".join(card(at, one, thumbnails.get(one.title)) for at, one in enumerate(set_ups))
        super().__init__(
            content=f"{_HEAD}<div class='cards'>{cards}</div>{_OWN}",
            stylesheets=[_STYLE],
            sizing_mode="stretch_width",
            margin=(4, 14),
        )
        self._set_ups, self._begin = list(set_ups), begin

    def choose(self, data: object) -> None:
        """Begin with the set-up whose place this is; what else a browser may send is left alone."""
        if isinstance(data, int) and 0 <= data < len(self._set_ups):
            self._begin(self._set_ups[data])

    _handle_msg = choose
