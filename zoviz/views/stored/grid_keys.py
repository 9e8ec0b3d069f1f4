"""A table whose rows are reached, ticked, opened and edited by keys, after the grid pattern of WAI-ARIA."""

from __future__ import annotations

from collections.abc import Callable

import param
from panel.custom import JSComponent

FOCUS_RING = ".tabulator .tabulator-row:focus-visible {outline: 3px solid #d5691e; outline-offset: -3px}"
"""For the table's style sheets: the row that has the focus."""

_ESM = """
function attach(model, host, signal) {
    const root = host.shadowRoot;
    const rows = () => [...root.querySelectorAll(".tabulator-table > .tabulator-row")];
    const cell = (row, field) => row.querySelector(`.tabulator-cell[tabulator-field="${field}"]`);
    const box = row => row.querySelector("input[type=checkbox]");
    const row_of = event => event.composedPath().find(node => node.classList?.contains("tabulator-row"));
    let at = 0, held = false;  // the row that Tab comes to, and whether the focus is in the table
    let editing = false, drawn = false;

    function focus(number) {
        const all = rows();
        at = Math.max(0, Math.min(number, all.length - 1));
        dress();
        all[at]?.focus();
    }

    // Rows and cells are made anew with new data: one row is in the order of Tab, and what stands in it is not.
    function dress() {
        const grid = root.querySelector(".tabulator"), all = rows();
        const edits = root.querySelector(".tabulator-editing") !== null;
        if (edits !== editing) model.send_msg({editing: editing = edits});
        if (!grid || !all.length) return;  // while new rows are made
        if (!drawn) model.send_msg({drawn: drawn = true});
        at = Math.max(0, Math.min(at, all.length - 1));
        grid.removeAttribute("aria-owns");  // its body stands in it, and screen readers look for the id elsewhere
        grid.setAttribute("aria-label", model.title);
        grid.setAttribute("aria-multiselectable", "true");
        grid.querySelector(".tabulator-tableholder")?.removeAttribute("tabindex");
        grid.querySelector(".tabulator-header input[type=checkbox]")?.setAttribute("aria-label", "Tick all rows");
        all.forEach((row, i) => {
            const name = model.spoken.map(field => cell(row, field)?.innerText.trim()).filter(text => text).join(", ");
            row.tabIndex = i === at ? 0 : -1;
            row.setAttribute("aria-label", name);
            row.setAttribute("aria-selected", row.classList.contains("tabulator-selected"));
            box(row)?.setAttribute("aria-label", `Tick ${name}`);
            for (const one of row.querySelectorAll("[tabindex='0'], input[type=checkbox]")) one.tabIndex = -1;
        });
        if (held && !root.activeElement && document.activeElement === document.body) all[at]?.focus();
    }

    function step(event, row) {
        const moves = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows().length - 1};
        if (event.key in moves) focus(moves[event.key]);
        else if (event.key === " ") box(row)?.click();
        else if (event.key === "Enter") model.send_msg({open: cell(row, model.key).innerText.trim()});
        else if (event.key === "F2") cell(row, model.edited[0])?.focus();
        else return false;
        return true;
    }

    function edit(event, row, field) {
        const next = model.edited[model.edited.indexOf(field) + (event.shiftKey ? -1 : 1)];
        if (event.key === "Tab") next ? cell(row, next).focus() : focus(at);
        else if (event.key === "Enter" || event.key === "Escape") setTimeout(() => focus(at));  // once it is taken
        return event.key === "Tab";
    }

    function press(event) {
        const row = row_of(event);
        if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
        const editing = event.composedPath().find(node => node.classList?.contains("tabulator-editing"));
        const taken = editing ? edit(event, row, editing.getAttribute("tabulator-field")) : step(event, row);
        if (!taken) return;
        event.preventDefault();
        event.stopPropagation();
    }

    host.addEventListener("keydown", press, {capture: true, signal});  // before the table's own keys
    host.addEventListener("focusin", event => {
        held = true;
        const number = rows().indexOf(row_of(event));
        if (number < 0 || number === at) return;
        at = number;
        dress();
    }, {signal});
    // What is replaced loses the focus, too, to nothing: then the row that comes instead is to have it.
    host.addEventListener("focusout", event => {
        const left = event.composedPath()[0];
        if (event.relatedTarget) held = root.contains(event.relatedTarget);
        else setTimeout(() => { if (left.isConnected) held = root.activeElement !== null; });
    }, {signal});
    const observer = new MutationObserver(dress);
    observer.observe(root, {childList: true, subtree: true, attributes: true, attributeFilter: ["class"]});
    signal.addEventListener("abort", () => observer.disconnect());
    dress();
}

export function render({model}) {
    const anchor = document.createElement("span"), end = new AbortController();
    function seek() {
        const host = anchor.getRootNode().host?.getRootNode().querySelector(`.${model.table}`);
        if (end.signal.aborted) return;
        if (host?.shadowRoot) attach(model, host, end.signal);
        else setTimeout(seek, 50);  // until both are on the page
    }
    setTimeout(seek);
    model.on("remove", () => end.abort());
    return anchor;
}
"""


class GridKeys(JSComponent):
    """Keys for a table beside it: Tab comes to one row, arrows move on, Space ticks, Enter opens, F2 edits.

    It stands in the column of a Tabulator that has ``table`` among its CSS classes, ``FOCUS_RING`` among its style
    sheets, check boxes, and all of its rows drawn at once. It shows nothing itself.

    Parameters
    ----------
    open : callable
        Is given the text in the column ``key`` of the row that Enter was pressed on.

    Attributes
    ----------
    editing : bool
        Whether a cell is being edited: new rows would undo what is typed.

    Notes
    -----
    Tabulator has a stop of the Tab key in every cell that can be edited, or none at all, and none for its rows: its
    check boxes were reached by no key. The pattern: https://www.w3.org/WAI/ARIA/apg/patterns/grid/. As the parent of
    the table this would have Panel draw the table late, when changes of it arrive already.
    """

    table = param.String(default="", doc="A CSS class that the table alone has.")
    title = param.String(default="", doc="What a screen reader calls the table.")
    key = param.String(default="", doc="The column that tells a row from the others.")
    spoken = param.List(default=[], item_type=str, doc="The columns that a screen reader reads for a row.")
    edited = param.List(default=[], item_type=str, doc="The columns that are edited in place, in their order.")
    drawn = param.Boolean(default=False, doc="Whether a browser shows the table's rows.")

    _esm = _ESM

    def __init__(self, open: Callable[[str], object], **params: object) -> None:
        super().__init__(width=0, height=0, margin=0, **params)
        self._open, self.editing = open, False

    def press(self, data: object) -> None:
        """Take a message: open the row that it names, or note what is edited or drawn; all else is left alone."""
        if not isinstance(data, dict):
            return
        if isinstance(data.get("editing"), bool):
            self.editing = data["editing"]
        if data.get("drawn") is True:
            self.drawn = True
        if isinstance(data.get("open"), str):
            self._open(data["open"])

    _handle_msg = press
