"""Links between built pages: each leads to a file, and where it names a place in it, the place is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)


class _Page(HTMLParser):
    """The links of a page and the places in it that a link may name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.links += [given[name] or "" for name in ("href", "src") if name in given]
        self.places |= {given[name] or "" for name in ("id", "name") if name in given}


def _pages(folder: Path) -> dict[Path, _Page]:
    """Return the pages of a site by their files, without the templates that a theme has among its own files."""
    paths = (path for path in sorted(folder.rglob("*.html")) if path.relative_to(folder).parts[0] != "_static")
    return {path: _Page(path.read_text(encoding="utf-8")) for path in paths}


def broken(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the pages of a built site and their links that lead nowhere; links out of the site are left alone.

    Parameters
    ----------
    folder : Path
        Of the built site.
    """
    pages = _pages(folder)
    for path, page in pages.items():
        name = path.relative_to(folder).as_posix()
        yield from ((name, link) for link in page.links if not _leads_somewhere(link, path, pages))


def _leads_somewhere(link: str, path: Path, pages: Mapping[Path, _Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target in pages:
        return not parts.fragment or unquote(parts.fragment) in pages[target].places
    return target.is_file()


def outer(folder: Path) -> set[str]:
    """Return the addresses outside of a built site that its pages link to.

    Parameters
    ----------
    folder : Path
        Of the built site.
    """
    return {link for page in _pages(folder).values() for link in page.links if urlsplit(link).netloc}


def _check(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        for page, link in broken(Path(app.outdir).resolve()):
            _LOGGER.warning("%s: the link %s leads nowhere", page, link)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the check to the end of a build."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
