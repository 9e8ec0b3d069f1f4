"""What axe-core finds wrong with a page in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page


def serious(page: Page) -> list[str]:
    """What it finds that is serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    # Colours change in a transition: one that is half done has the contrast of neither.
    page.wait_for_timeout(1500)
    response: dict[str, Any] = Axe().run(page, options={"resultTypes": ["violations"]}).response
    return [
        f"{one['id']} {node['target']} {node['html'][:120]} {[check['message'] for check in node['any']]}"
        for one in response["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
