"""Keys for the page's commands, a sheet that lists them, and a short tour that can be left."""

from __future__ import annotations

from typing import NamedTuple

import param
from panel.custom import JSComponent

from zoviz.views.common.run_controller import RunController


class Stop(NamedTuple):
    """A stop of the tour: the part of the page that it is about, as a CSS selector, and what is said of it."""

    selector: str
    title: str
    text: str


TOUR = (
    Stop(
        ".zoviz-picker",
        "Problem and solver",
        "Choose a problem and a solver; type to filter. Click the line below a problem for its formula, dimensions, "
        "optimum and paper.",
    ),
    Stop(
        ".zoviz-parameters",
        "Parameters",
        "Solver parameters can be changed during a run; 'auto' is the solver's default rule. Noise, seed and budgets "
        "are under Problem and Run.",
    ),
    Stop(
        ".zoviz-buttons",
        "Commands",
        "Start, pause, step or stop. Every change is logged, so runs can be reproduced exactly.",
    ),
    Stop(
        ".zoviz-status",
        "Status",
        "Calls used, and how the run does since the last change: converging, at the noise floor, stalled or diverging.",
    ),
    Stop(
        ".zoviz-rooms",
        "Pages",
        "Switch freely; nothing is lost.",
    ),
)
"""The stops, in order."""

KEYS = (
    ("Space", "pause or continue"),
    ("S", "start or stop"),
    ("F", "full screen: the plot under the pointer, or the page"),
    ("Ctrl", "with the wheel: zoom the plots along x"),
    ("?", "this help"),
    ("Esc", "close this help, the tour or full screen"),
)
"""What each key does, for the sheet."""

_STYLE = """
button {font: inherit; cursor: pointer; color: inherit; background: none; border-radius: 4px; padding: 4px 12px;
  border: 1px solid color-mix(in srgb, currentColor 40%, transparent)}
button.strong {background: var(--zv-accent); color: var(--zv-on-accent); border-color: var(--zv-accent)}
.help {width: 28px; height: 28px; padding: 0; font: 400 13px/26px var(--zv-font)}
dialog, .stop {font: 400 14px/20px var(--zv-font); border-radius: 8px; padding: 16px 20px;
  border: 1px solid var(--zv-line-2); color: var(--zv-ink); background: var(--zv-surface); box-shadow: var(--zv-shadow)}
dialog {max-width: 460px} dialog::backdrop {background: #0007}
h2 {font-size: 17px; margin: 0 0 8px} p {margin: 0 0 12px}
dl {display: grid; grid-template-columns: auto 1fr; gap: 6px 14px}
dt {font-weight: 600; text-align: center; border: 1px solid #8a8f98; border-radius: 4px; padding: 0 8px} dd {margin: 0}
.row {display: flex; gap: 8px; justify-content: flex-end; align-items: center}
.stop {position: fixed; z-index: 10001; width: 330px; box-sizing: border-box} .count {margin-right: auto; opacity: .8}
.ring {position: fixed; z-index: 10000; pointer-events: none; border-radius: 8px; outline: 3px solid #d5691e;
  box-shadow: 0 0 0 9999px #0005}
[hidden] {display: none !important}
"""

_ESM = """
const FIELDS = "input, textarea, select, [contenteditable=true], [role=combobox], [role=menu], [role=listbox], dialog";
const PRESSED = "button, a, summary, [role=button], [role=tab], [role=switch]";
const within = (event, selector) => event.composedPath().some(node => node.matches?.(selector));

function seek(selector, root = document) {
    const hit = root.querySelector(selector);
    if (hit) return hit;
    for (const host of root.querySelectorAll("*")) {
        const inner = host.shadowRoot && seek(selector, host.shadowRoot);
        if (inner) return inner;
    }
    return null;
}

export function render({model}) {
    const box = document.createElement("div");
    box.innerHTML = `
      <button class="help" type="button" aria-label="Help and keys">?</button>
      <dialog aria-label="Help and keys"><h2>Keys</h2><dl>${model.keys.map(
        ([key, what]) => `<dt>${key}</dt><dd>${what}</dd>`).join("")}</dl>
        <p>Keys are ignored while you type in a field.</p>
        <div class="row"><button class="tour strong" type="button">Take the tour</button>
        <button class="close" type="button">Close</button></div></dialog>
      <div class="ring" hidden></div>
      <div class="stop" role="dialog" aria-label="Tour" aria-live="polite" hidden><h2></h2><p></p>
        <div class="row"><span class="count"></span><button class="leave" type="button">Leave</button>
        <button class="back" type="button">Back</button><button class="next strong" type="button">Next</button></div>
      </div>`;
    const part = selector => box.querySelector(selector);
    const [sheet, ring, stop] = [part("dialog"), part(".ring"), part(".stop")];
    let at = -1, plot = null;

    function show(number) {
        at = number >= 0 && number < model.tour.length ? number : -1;
        stop.hidden = at < 0;
        ring.hidden = true;
        if (at < 0) return;
        const [selector, title, text] = model.tour[at], target = seek(selector);
        const box = target?.getBoundingClientRect() ?? new DOMRect();
        const seen = box.width > 0 && box.height > 0 && box.right > 0 && box.left < innerWidth && box.bottom > 0;
        const area = seen ? box : new DOMRect(innerWidth / 2 - 165, innerHeight / 3, 330, 0);
        ring.hidden = !seen;
        const bottom = Math.min(area.bottom, innerHeight - 4);
        Object.assign(ring.style, {left: `${area.left - 4}px`, top: `${area.top - 4}px`,
                                   width: `${area.width + 8}px`, height: `${bottom - area.top + 4}px`});
        stop.querySelector("h2").textContent = title;
        stop.querySelector("p").textContent = seen ? text : `${text} Open the sidebar under Run to see it.`;
        part(".count").textContent = `${at + 1} of ${model.tour.length}`;
        part(".back").disabled = at === 0;
        part(".next").textContent = at + 1 < model.tour.length ? "Next" : "Done";
        const below = bottom + 230 < innerHeight, beside = area.right + 350 < innerWidth;
        const left = !below && beside ? area.right + 16 : Math.min(Math.max(area.left, 10), innerWidth - 345);
        Object.assign(stop.style, {left: `${left}px`, top: below ? `${bottom + 16}px` : `${Math.max(area.top, 10)}px`});
        part(".next").focus();
    }

    // One after the other: a browser takes a while for each, and says only then which of the two it is.
    let turn = Promise.resolve();
    function fullScreen() {
        const target = plot?.isConnected ? plot : document.documentElement;
        turn = turn.then(() => document.fullscreenElement ? document.exitFullscreen() : target.requestFullscreen())
            .catch(() => {});  // a browser may refuse
    }

    // A figure has its height from its model, and would leave most of the screen empty.
    let filled = null;
    function fill() {
        if (filled) filled.model.setv({width: null, height: filled.height, sizing_mode: "stretch_width"});
        filled = null;
        let full = document.fullscreenElement;  // at first the outermost host of it
        while (full?.shadowRoot?.fullscreenElement) full = full.shadowRoot.fullscreenElement;
        for (const model of Bokeh.documents.flatMap(one => [...one._all_models.values()])) {
            if (model.type !== "Figure" || Bokeh.index.find_one(model)?.el !== full) continue;
            filled = {model, height: model.height};
            const [width, height] = [innerWidth - 70, innerHeight - 70];
            model.setv({width, height, sizing_mode: "fixed"});
        }
    }

    function press(event) {
        if (event.key === "Escape" && at >= 0) return show(-1);
        if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
        if (sheet.open || within(event, FIELDS)) return;
        const key = event.key.toLowerCase();
        if (key === " " && !within(event, PRESSED)) model.send_msg("space");
        else if (key === "s") model.send_msg("s");
        else if (key === "f") fullScreen();
        else if (key === "?") sheet.showModal();
        else return;
        event.preventDefault();
    }

    const hover = event => { plot = event.composedPath().find(node => node.classList?.contains("bk-Figure")) ?? null; };
    document.addEventListener("keydown", press);
    document.addEventListener("pointermove", hover, {passive: true});
    document.addEventListener("fullscreenchange", fill);
    model.on("remove", () => {
        document.removeEventListener("keydown", press);
        document.removeEventListener("pointermove", hover);
        document.removeEventListener("fullscreenchange", fill);
    });
    part(".help").onclick = () => sheet.showModal();
    part(".close").onclick = () => sheet.close();
    part(".tour").onclick = () => { sheet.close(); show(0); };
    part(".leave").onclick = () => show(-1);
    part(".back").onclick = () => show(at - 1);
    part(".next").onclick = () => show(at + 1);
    return box;
}
"""


class Guide(JSComponent):
    """A button for help; the keys of the page and the tour work wherever it stands on the page.

    Parameters
    ----------
    controller : RunController
        Takes the commands.
    """

    keys = param.List(default=[list(pair) for pair in KEYS], doc="Keys and what they do.")
    tour = param.List(default=[list(stop) for stop in TOUR], doc="Selector, title and text of each stop.")

    _esm = _ESM

    def __init__(self, controller: RunController) -> None:
        super().__init__(stylesheets=[_STYLE], margin=(8, 12, 8, 0), width=28)
        self._controller = controller

    def press(self, data: object) -> None:
        """Do what a key says, "space" or "s"; what else a browser may send is left alone."""
        controller = self._controller
        if data == "space" and controller.active:
            controller.start_or_pause()
        elif data == "s" and (controller.active or controller.waiting):
            controller.stop()
        elif data == "s":
            controller.start()

    _handle_msg = press
