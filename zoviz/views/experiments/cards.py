"""Cards of experiments by paper; what a card draws is asked for when it comes into sight."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

import param
from panel.custom import JSComponent

from zoviz.studies.contents import TITLES, Row
from zoviz.views.experiments.overview import NOT_MEASURED, Overview, Record
from zoviz.views.experiments.words import FEW, VERDICT_STYLE, brief_claims_html, states_html, verdict_html

_CARD = (
    "<article class='card' data-name='{name}'><h3>{title}</h3><p class='subject'>{subject}</p>"
    "<div class='figure'></div><p class='paper-says'><span>{printed}</span></p><p class='verdicts'>{verdicts}</p>"
    "{claims}"
    "<div class='buttons'>{live}<button type='button' data-does='open' aria-label='Figures and verdicts of {title}'>"
    "Figures and verdicts</button></div></article>"
)
_LIVE = "<button type='button' class='first' data-does='live' aria-label='Run {title} live'>Run it live</button>"
_EMPTY = "<p>No experiment has this verdict. Choose another verdict, or all papers.</p>"
_STYLE = (
    VERDICT_STYLE
    + """
h2 {font-size: 17px; margin: 16px 0 8px; font-weight: 600} h3 {margin: 0; font-size: 15px; font-weight: 600}
p {margin: 0} ul {margin: 8px 0 0; padding-left: 18px; font-size: 13px; line-height: 1.45}
.paper {font-weight: 400; font-size: 14px; opacity: .85}
.grid {display: grid; gap: 14px; grid-template-columns: repeat(auto-fill, minmax(270px, 1fr))}
.card {display: flex; flex-direction: column; gap: 7px; padding: 12px 14px; border-radius: 8px;
  background: color-mix(in srgb, currentColor 3%, transparent);
  border: 1px solid color-mix(in srgb, currentColor 22%, transparent)}
.subject {font-size: 13.5px; line-height: 1.35}
.figure {height: 92px} .figure svg {width: 100%; height: 92px}
.figure.bare {height: auto; font-size: 12.5px; opacity: .8}
polyline {fill: none; stroke-width: 1.8; vector-effect: non-scaling-stroke}
.paper-says {font-size: 13px; line-height: 1.35; flex: 1}
.paper-says span {display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 5; overflow: hidden}
.verdicts {display: flex; flex-wrap: wrap; gap: 4px}
.claims {margin: 0; font-size: 12.5px} ul.claims, .claims ul {padding: 0; margin: 4px 0 0; list-style: none}
.claims li {margin-top: 4px} .claims .verdict {font-size: 11px; padding: 0 6px}
.buttons {display: flex; flex-wrap: wrap; gap: 8px}
button {font: inherit; font-size: 13px; padding: 4px 10px; border-radius: 5px; cursor: pointer; color: inherit;
  background: none; border: 1px solid color-mix(in srgb, currentColor 40%, transparent)}
button.first {background: var(--panel-primary-color); border-color: var(--panel-primary-color);
  color: var(--panel-on-primary-color, #fff)}
button:hover, button:focus-visible {outline: 2px solid var(--panel-primary-color); outline-offset: 1px}
details {margin-top: 10px; font-size: 14px} summary {cursor: pointer}
"""
)


def card_html(record: Record) -> str:
    """Return the card of an experiment: what it is, what the paper prints, and our verdicts."""
    one = record.full
    words = {"name": record.name, "title": one.title, "subject": one.subject, "printed": f"The paper: {one.printed}"}
    escaped = {name: html.escape(text) for name, text in words.items()}
    live = _LIVE.format(title=escaped["title"]) if record.live else ""
    claims = brief_claims_html(record.work.judged) if record.whole else ""
    few = record.whole and len(record.work.judged) <= FEW  # whose list has the verdicts
    return _CARD.format(verdicts="" if few else states_html(record.states), claims=claims, live=live, **escaped)


def unmeasured_html(rows: Sequence[Row]) -> str:
    """Return what a paper prints and claims that no experiment measures, as a list that can be opened."""
    if not rows:
        return ""
    points = "".join(
        f"<li><b>{html.escape(row.place)}</b>: {html.escape(row.claim)}: {html.escape(row.missing)}</li>"
        for row in rows
    )
    chip = verdict_html(NOT_MEASURED)
    return f"<details><summary>{chip} {len(rows)} more results and claims</summary><ul>{points}</ul></details>"


def cards_html(overview: Overview) -> str:
    """Return the cards under their papers' names; a paper of which there is nothing is left out."""
    out = []
    for paper in overview.papers:
        cards = "".join(card_html(one) for one in overview.records if one.paper == paper)
        rows = unmeasured_html([row for row in overview.unmeasured if row.paper == paper])
        heading = f"{html.escape(paper)} <span class='paper'>{html.escape(TITLES.get(paper, ''))}</span>"
        out.append(f"<section><h2>{heading}</h2><div class='grid'>{cards}</div>{rows}</section>")
    return "".join(out) or _EMPTY


class Cards(JSComponent):
    """The cards of the room; which are in sight, and what is pressed on them, a browser says.

    Parameters
    ----------
    act : callable
        Called with "seen", "open" or "live" and the name of an experiment.
    """

    content = param.String(default="", doc="The cards as HTML.")

    _esm = """
export function render({model}) {
    const box = document.createElement("div"), drawn = new Map();
    // What comes into sight while the room is still being added to the page cannot be said yet.
    const say = message => {
        try { model.send_msg(message); } catch { setTimeout(() => say(message), 200); }
    };
    const fill = card => {
        const svg = drawn.get(card.dataset.name), figure = card.querySelector(".figure");
        if (svg === undefined) return;
        figure.classList.toggle("bare", !svg.startsWith("<svg"));
        figure.innerHTML = svg;
    };
    const watcher = new IntersectionObserver(entries => {
        for (const {isIntersecting, target} of entries) {
            if (!isIntersecting) continue;
            watcher.unobserve(target);
            if (drawn.has(target.dataset.name)) fill(target);
            else say({does: "seen", name: target.dataset.name});
        }
    });
    const show = () => {
        watcher.disconnect();
        box.innerHTML = model.content;
        for (const card of box.querySelectorAll(".card")) watcher.observe(card);
    };
    // A sheet begins at its top; who comes back finds the cards where they were.
    let left = null, hidden = false;
    const scroller = () => {
        for (let e = box; e; e = e.parentElement ?? e.getRootNode().host)
            if (e.scrollHeight > e.clientHeight && /auto|scroll/.test(getComputedStyle(e).overflowY)) return e;
        return document.scrollingElement;
    };
    new ResizeObserver(([entry]) => {
        const shown = entry.contentRect.height > 0;
        if (shown && hidden && left !== null) [scroller().scrollTop, left] = [left, null];
        hidden = !shown;
    }).observe(box);
    box.addEventListener("click", event => {
        const button = event.target.closest("[data-does]");
        if (!button) return;
        const does = button.dataset.does, page = scroller();
        if (does === "open") [left, page.scrollTop] = [page.scrollTop, 0];
        say({does, name: button.closest(".card").dataset.name});
    });
    model.on("msg:custom", data => {
        drawn.set(data.name, data.picture);
        for (const card of box.querySelectorAll(".card")) if (card.dataset.name === data.name) fill(card);
    });
    model.on("content", show);
    show();
    return box;
}
"""

    def __init__(self, act: Callable[[str, str], None]) -> None:
        super().__init__(stylesheets=[_STYLE], sizing_mode="stretch_width", margin=(0, 14))
        self._act = act

    def obey(self, data: object) -> None:
        """Do what a card's button says; what else a browser may send is left alone."""
        if isinstance(data, dict) and data.get("does") in ("seen", "open", "live"):
            self._act(data["does"], str(data.get("name")))

    _handle_msg = obey

    def draw(self, name: str, picture: str) -> None:
        """Show the picture of an experiment, as SVG or in words, on its card."""
        self._send_msg({"name": name, "picture": picture})
