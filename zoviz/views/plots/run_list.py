"""The list of the runs on the plots, which is their legend, to show, rename, download or remove each."""

from __future__ import annotations

import asyncio
import io
import re
from functools import partial
from typing import Any

import numpy as np
import panel as pn
import param
from panel.custom import JSComponent

from zoviz.core.errors import ZovizError
from zoviz.core.ranking import quartile
from zoviz.core.threads.background_work import file_in_background
from zoviz.diagnosis.verdict import Verdict
from zoviz.runs.engine.columns import CALLS, GAP, OBJECTIVE, SECONDS, VIOLATION
from zoviz.runs.script import script
from zoviz.views.common.colours import TONES
from zoviz.views.common.drags import drags
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.shown_runs import ShownRun
from zoviz.views.common.style import update_changed

LONGEST_NAME = 80
"""Letters of a name, at most."""

_STYLE = """
.box {max-height: 30vh; overflow-y: auto; border: 1px solid var(--edge); border-radius: 6px;
  --edge: color-mix(in srgb, currentColor 16%, transparent)}
table {border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums}
tr {height: 28px} thead tr {height: 24px} tbody tr {border-top: 1px solid var(--edge)}
th {position: sticky; top: 0; text-align: left; font-size: 11px; font-weight: 400; padding: 0 8px;
  background: var(--panel-background-color, #fff)}
th, .remark, .hint {color: color-mix(in srgb, currentColor 75%, transparent)}
td {padding: 0 8px; white-space: nowrap} .number {text-align: right} .menu {width: 34px; padding: 0 4px}
.run {width: 45%} .remark {font-size: 12px; margin-left: 6px}
.swatch {display: inline-block; width: 15px; height: 4px; border-radius: 2px; margin-right: 8px; vertical-align: middle}
.current {background: color-mix(in srgb, var(--panel-primary-color, #1d5c96) 12%, transparent)}
.off .swatch, .off .verdict {filter: grayscale(1)} .off .swatch {opacity: .4}
.off .run input, .off .number {color: color-mix(in srgb, currentColor 75%, transparent)}
input {field-sizing: content; min-width: 4ch}
input {font: inherit; color: inherit; background: none; border: 1px solid transparent; border-radius: 4px;
  padding: 1px 3px; max-width: 60%} .current input {font-weight: 700}
input:hover, input:focus {border-color: color-mix(in srgb, currentColor 40%, transparent)}
.verdict {border-radius: 4px; padding: 1px 7px; font-size: 12px; font-weight: 700; --tone: currentColor;
  color: color-mix(in srgb, var(--tone) 60%, currentColor);
  background: color-mix(in srgb, var(--tone) 13%, transparent)}
.verdict:empty {display: none}
button {font: inherit; color: inherit; background: none; border: 0; border-radius: 4px; padding: 2px 8px;
  cursor: pointer}
button:hover, button:focus-visible {background: color-mix(in srgb, currentColor 12%, transparent)}
[popover] {position: fixed; inset: auto; margin: 0; padding: 4px; font-size: 13px; border-radius: 6px; color: inherit;
  background: var(--panel-background-color, #fff); border: 1px solid var(--edge, #8888); box-shadow: 0 4px 16px #0004}
[popover] button {display: block; width: 100%; text-align: left; padding: 5px 12px}
"""


def file_name(entry: ShownRun, suffix: str) -> str:
    """Return the name of a file of a run: its name, problem and solver, in letters that every disk takes."""
    words = (entry.name, type(entry.run.problem).__name__, type(entry.run.solver).__name__)
    plain = (re.sub(r"[^\w.-]+", "-", word, flags=re.ASCII).strip("-") for word in words)
    return f"zoviz_{'_'.join(word for word in plain if word)}.{suffix}"


def row_of(entry: ShownRun, verdict: Verdict | None, current: bool, several: bool) -> dict[str, Any]:
    """Return what the list says of a run; numbers are medians over the replicas, as in plots and verdicts.

    Parameters
    ----------
    entry : ShownRun
    verdict : Verdict or None
    current : bool
        Whether it is the run that the page's buttons command.
    several : bool
        Whether runs of several problems are listed, so that each is named with its own.
    """
    rows = entry.run.trace.snapshot().columns
    last = {name: np.asarray(rows[name][-1:], dtype=float).ravel() for name in rows if len(rows[name])}

    def middle(column: str, magnitude: bool = True) -> str:
        values = last.get(column, np.empty(0))
        known = values[np.isfinite(values)]
        return f"{quartile(np.abs(known) if magnitude else known):.3g}" if known.size else ""

    changes = len(drags(list(entry.run.journal)))
    words = [f"{changes} change{'s' * (changes != 1)}"] * (changes > 0) + [entry.problem_title] * several
    word = verdict.word if verdict is not None else None
    objective = middle(OBJECTIVE, magnitude=False)
    return {
        "key": entry.key,
        "name": entry.name,
        "colour": entry.colour,
        "visible": entry.visible,
        "current": current,
        "remark": " · ".join(words),
        "verdict": "" if word is None else str(word),
        "tone": "" if word is None else TONES[word],
        "gap": middle(GAP) or (f"f {objective}" if objective else ""),
        "violation": middle(VIOLATION),
        "calls": f"{last[CALLS].max():,.0f}" if CALLS in last else "",
        "seconds": f"{last[SECONDS].max():,.1f} s" if SECONDS in last else "",
    }


class RunList(JSComponent):
    """A list with one row for each run on the plots.

    Parameters
    ----------
    controller : RunController
        Ends the page's run before its row is removed.
    """

    rows = param.List(default=[], doc="What each row says, as ``row_of`` returns it.")

    _esm = """
const CELLS = ["verdict", "gap", "violation", "calls", "seconds"];
const make = (tag, parent, properties = {}) => {
    const one = Object.assign(document.createElement(tag), properties);
    parent.append(one);
    return one;
};
export function render({model}) {
    const box = document.createElement("div"), made = new Map();
    box.className = "box";
    const table = make("table", box, {ariaLabel: "Runs on the plots"});
    const head = make("tr", make("thead", table)), body = make("tbody", table);
    for (const [text, kind] of [["Run", ""], ["Verdict", ""], ["Gap", "number"], ["Violation", "number"],
            ["Calls", "number"], ["Time", "number"], ["", "menu"]])
        make("th", head, {textContent: text, className: kind, scope: "col"});
    const hint = make("td", make("tr", body, {className: "hint"}), {colSpan: 7,
        textContent: "Runs appear here. A finished run stays on the plots when the next one starts."});
    const say = (act, key, value = null) => model.send_msg({act, key, value});
    const add = key => {
        const row = make("tr", body, {className: `zoviz-run-${key}`}), parts = {row};
        const first = make("td", row, {className: "run"});
        parts.swatch = make("span", first, {className: "swatch", ariaHidden: "true"});
        const name = parts.name = make("input", first, {spellcheck: false});
        name.addEventListener("change", () => say("rename", key, name.value));
        name.addEventListener("keydown", event => {
            if (event.key === "Escape") name.value = parts.data.name;
            if (["Enter", "Escape"].includes(event.key)) name.blur();
        });
        parts.remark = make("span", first, {className: "remark"});
        for (const cell of CELLS) {
            const place = make("td", row, {className: cell === "verdict" ? "" : "number"});
            parts[cell] = make("span", place, {className: cell});
        }
        const last = make("td", row, {className: "menu"});
        const more = parts.more = make("button", last, {type: "button", textContent: "⋯", ariaHasPopup: "menu"});
        const menu = parts.menu = make("div", last, {popover: "auto", role: "menu"});
        more.popoverTargetElement = menu;
        menu.addEventListener("toggle", ({newState}) => {
            if (newState !== "open") return;
            const {right, bottom} = more.getBoundingClientRect();
            const {width, height} = menu.getBoundingClientRect();
            menu.style.left = `${Math.max(4, right - width)}px`;
            menu.style.top = `${Math.min(bottom + 2, innerHeight - height - 4)}px`;
            menu.firstElementChild.focus();
        });
        menu.addEventListener("keydown", event => {
            const items = [...menu.children], at = items.indexOf(event.target);
            const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
            if (step === undefined) return;
            event.preventDefault();
            items[(at + step + items.length) % items.length].focus();
        });
        const item = (text, act) => {
            const one = make("button", menu, {type: "button", role: "menuitem", textContent: text});
            one.addEventListener("click", () => { menu.hidePopover(); more.focus(); act(); });
            return one;
        };
        parts.reveal = item("Hide", () => say("reveal", key, !parts.data.visible));
        item("Trace as CSV", () => say("csv", key));
        item("Report", () => say("report", key));
        item("Python script", () => say("script", key));
        item("Remove from the plots", () => say("remove", key));
        return parts;
    };
    const set = (one, property, value) => { if (one[property] !== value) one[property] = value; };
    const show = () => {
        const rows = model.rows, keys = new Set(rows.map(row => row.key));
        for (const [key, {row}] of made) if (!keys.has(key)) { row.remove(); made.delete(key); }
        for (const data of rows) {
            if (!made.has(data.key)) made.set(data.key, add(data.key));
            const parts = made.get(data.key);
            parts.data = data;
            parts.row.classList.toggle("off", !data.visible);
            parts.row.classList.toggle("current", data.current);
            parts.swatch.style.background = data.colour;
            if (parts.name !== parts.name.getRootNode().activeElement) set(parts.name, "value", data.name);
            set(parts.name, "size", Math.min(Math.max(data.name.length, 4), 40));
            set(parts.name, "ariaLabel", `Name of ${data.name}`);
            set(parts.more, "ariaLabel", `Menu of ${data.name}`);
            set(parts.reveal, "textContent", data.visible ? "Hide" : "Show");
            set(parts.remark, "textContent", data.visible ? data.remark : "hidden");
            for (const cell of CELLS) set(parts[cell], "textContent", data[cell]);
            parts.verdict.style.setProperty("--tone", data.tone);
        }
        set(hint.parentElement, "hidden", rows.length > 0);
    };
    model.on("rows", show);
    model.on("msg:custom", ({file, text}) => {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([text]));
        link.download = file;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    show();
    return box;
}
"""

    def __init__(self, controller: RunController) -> None:
        super().__init__(
            stylesheets=[_STYLE], css_classes=["zoviz-runs"], sizing_mode="stretch_width", margin=(2, 10, 6, 10)
        )
        self._controller, self._runs_shown = controller, controller.runs_shown

    def update(self) -> None:
        """Bring the rows to the runs on the plots; called by the page's refreshes, which have the document's lock."""
        entries = list(self._runs_shown.runs.values())
        several, own = len({entry.problem for entry in entries}) > 1, self._controller.run
        judge = self._controller.verdict
        update_changed(self, rows=[row_of(one, judge(one.run), one.run is own, several) for one in entries])

    def hear(self, data: object) -> None:
        """Do what a browser's message says."""
        if isinstance(data, dict):
            self.act(data.get("act"), data.get("key"), data.get("value"))

    _handle_msg = hear

    def act(self, act: object, key: object, value: object = None) -> None:
        """Do what a person asks of a run; what else a browser may send is left alone.

        Parameters
        ----------
        act : str
            ``rename``, ``reveal``, ``remove``, ``csv``, ``report`` or ``script``.
        key : str
            Of the run.
        value : str or bool, optional
            The new name, or whether the run is to be seen.
        """
        entry = self._runs_shown.runs.get(key) if isinstance(key, str) else None
        if entry is None:
            return
        if act == "rename" and isinstance(value, str):
            self._runs_shown.rename(entry.key, value.strip()[:LONGEST_NAME] or entry.name)
            self.update()
        elif act == "reveal" and isinstance(value, bool):
            self._runs_shown.reveal(entry.key, value)
            self.update()
        elif act == "remove":
            self._controller.forget(entry.key)
            self.update()
        elif act == "report":
            pn.state.execute(partial(self._send_report, entry))
        elif act == "csv":
            file = io.StringIO()
            entry.run.trace.write_csv(file)
            self.send_file(file_name(entry, "csv"), file.getvalue())
        elif act == "script":
            self.send_file(file_name(entry, "py"), script(entry.run))

    async def _send_report(self, entry: ShownRun) -> None:
        """Send the report of a run, once a thread has made it: that takes seconds."""
        try:
            page = await asyncio.wrap_future(file_in_background(entry.run.report, "html"))
        except (ZovizError, ValueError) as error:
            self._controller.say(str(error))
            return
        self.send_file(file_name(entry, "html"), page.decode())

    def send_file(self, name: str, text: str) -> None:
        """Have the browser save a text under a name."""
        self._send_msg({"file": name, "text": text})
