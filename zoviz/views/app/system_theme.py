"""Light or dark: a page looks as the person's system asks for, unless the person chose otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from bokeh.document import Document
from bokeh.models import CustomJS

COOKIE = "zoviz_theme"
"""What the next page of a browser begins with: a person's choice, or ``system-`` and what the system asked for last."""

# A toggle to what the system asks for follows the system again: there is no third state to choose.
_FOLLOW = """
    // Asked for each time: once a lost connection is back, the page is another model.
    const present = () => Bokeh.documents.flatMap(one => one.roots()).find(model => model.class_name === "Page");
    const asked = window.matchMedia("(prefers-color-scheme: dark)");
    const cookie = () => document.cookie.match(/(?:^|; )%(name)s=([a-z-]*)/)?.[1] ?? "";
    const word = dark => dark ? "dark" : "light";
    const write = text => { document.cookie = `%(name)s=${text}; path=/; max-age=31536000; samesite=lax`; };
    function follow() {
        const chosen = cookie();
        const dark = ["dark", "light"].includes(chosen) ? chosen === "dark" : asked.matches;
        const page = present();
        if (page && page.data.dark_theme !== dark) page.data.dark_theme = dark;
        if (chosen !== word(dark)) write(`system-${word(dark)}`);
    }
    if (present()) {
        follow();
        asked.addEventListener("change", follow);
        document.addEventListener("click", event => {
            const toggled = event.composedPath().some(node => node.ariaLabel === "Toggle theme");
            if (toggled) setTimeout(() => {
                const dark = present().data.dark_theme;
                write(dark === asked.matches ? `system-${word(dark)}` : word(dark));
            });
        });
    }
"""

# The server cannot know what a system asks for before a browser has told it: the page is asked for once more then, and
# not drawn light first.
ASK_SYSTEM = """
(() => {
    const cookie = () => document.cookie.match(/(?:^|; )COOKIE=([a-z-]*)/)?.[1] ?? "";
    const begun = cookie(), dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    if (["dark", "light"].includes(begun) || dark === (begun === "system-dark")) return;
    const word = dark ? "system-dark" : "system-light";
    document.cookie = `COOKIE=${word}; path=/; max-age=31536000; samesite=lax`;
    if (cookie() === word) location.reload();
})();
""".replace("COOKIE", COOKIE)
"""The script of a page's head that has the page come as dark or light as the system asks for."""


def begins_dark(cookies: Mapping[str, str]) -> bool:
    """Return whether a page begins dark for a browser with these cookies; without one it begins light."""
    return cookies.get(COOKIE, "") in ("dark", "system-dark")


def follow_system_theme(document: Document) -> None:
    """Have a page be light or dark as the system asks for, now and whenever that changes, unless the person chose."""
    document.js_on_event("document_ready", CustomJS(code=_FOLLOW % {"name": COOKIE}))
