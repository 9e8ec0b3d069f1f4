"""Buttons at the plot that is pointed at: zoom by a box, reset, full screen, and saving it as a picture."""

from __future__ import annotations

from panel.custom import JSComponent

_STYLE = """
:host {position: absolute !important; width: 0 !important; height: 0 !important; overflow: visible; z-index: 5}
.tools {position: absolute; display: flex; gap: 2px; opacity: 0; pointer-events: none; border-radius: 5px; padding: 1px;
  background: var(--zv-surface, Canvas)}
.tools.on, .tools:focus-within {opacity: 1; pointer-events: auto}
button {font: 14px/1 system-ui, sans-serif; width: 24px; height: 22px; padding: 0; cursor: pointer; border-radius: 4px;
  border: 1px solid transparent; background: none; color: inherit}
button:hover, button:focus-visible, button[aria-pressed=true] {border-color: currentColor}
.next {display: none}
.tools:focus-within:not(.on) .next {display: block}
"""

# A bar of Bokeh's own in each figure takes half of what a figure has in the page's document, and a menu of it breaks
# when a figure gets other tools.
_ESM = """
const BUTTONS = [["zoom", "⬚", "Zoom by a box"], ["reset", "⟲", "Reset axes"], ["full", "⤢", "Full screen"],
    ["save", "⤓", "Save as picture"], ["next", "›", "Next plot"]];

export function render({model}) {
    const bar = document.createElement("div");
    bar.className = "tools";
    bar.setAttribute("role", "toolbar");
    const buttons = Object.fromEntries(BUTTONS.map(([name, sign, words]) => {
        const button = document.createElement("button");
        Object.assign(button, {type: "button", textContent: sign, className: name, words});
        bar.append(button);
        return [name, button];
    }));
    const figures = () => Bokeh.documents.flatMap(one => [...one._all_models.values()])
        .filter(one => one.type === "Figure" && one.toolbar_location === null && one.toolbar.tools.length)
        .map(one => Bokeh.index.find_one(one)).filter(view => view?.el.offsetParent);
    const zoom_of = view => view.model.toolbar.tools.find(tool => tool.type === "BoxZoomTool");
    let at = null;

    function show(view) {
        at = view;
        const title = view?.model.title?.text.split("   ")[0] || "plots";
        for (const button of Object.values(buttons)) {
            button.title = button.words;
            button.setAttribute("aria-label", `${button.words}: ${title}`);
        }
        bar.setAttribute("aria-label", `Tools: ${title}`);
        if (!view) return;
        buttons.zoom.hidden = !zoom_of(view);
        buttons.zoom.setAttribute("aria-pressed", !!zoom_of(view)?.active);
        const [own, base] = [view.el.getBoundingClientRect(), bar.getRootNode().host.getBoundingClientRect()];
        bar.style.left = `${own.right - base.left - bar.offsetWidth - 8}px`;
        bar.style.top = `${own.top - base.top}px`;
    }
    const hover = event => {
        const path = event.composedPath();
        if (path.includes(bar)) return;
        const el = path.find(node => node.classList?.contains("bk-Figure"));
        const view = el ? at?.el === el ? at : figures().find(one => one.el === el) : null;
        bar.classList.toggle("on", !!view);
        if (view && view !== at) show(view);
    };
    buttons.zoom.onclick = () => {
        const zoom = zoom_of(at), pan = at.model.toolbar.tools.find(tool => tool.type === "PanTool");
        zoom.active = !zoom.active;
        if (!zoom.active && pan) pan.active = true;
        show(at);
    };
    buttons.reset.onclick = () => at.model.reset.emit();
    buttons.full.onclick = () => at.el.requestFullscreen().catch(() => {});  // a browser may refuse
    buttons.save.onclick = async () => {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(await at.export().to_blob());
        link.download = `${at.model.name}.png`;
        link.click();
        URL.revokeObjectURL(link.href);
    };
    buttons.next.onclick = () => {
        const all = figures();
        show(all[(all.indexOf(at) + 1) % all.length]);
    };
    bar.addEventListener("focusin", () => {
        if (!at?.el.isConnected || !at.el.offsetParent) show(figures()[0] ?? null);
    });
    show(null);
    document.addEventListener("pointermove", hover, {passive: true});
    model.on("remove", () => document.removeEventListener("pointermove", hover));
    return bar;
}
"""


class PlotTools(JSComponent):
    """Buttons that stand at the plot that is pointed at, and by keys at one after the other."""

    _esm = _ESM

    def __init__(self) -> None:
        super().__init__(stylesheets=[_STYLE], margin=0)
