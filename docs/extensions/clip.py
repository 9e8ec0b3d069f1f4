"""Films the dashboard in Chromium: Start, a step that is moved too far and taken back, and a fork; as a GIF.

Run by hand where the page has changed: ``python docs/extensions/clip.py docs/_static/clip.gif``, and with
``docs/_static/dashboard.png`` for a picture of a run that has ended.
"""

from __future__ import annotations

import io
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
WIDTH, HEIGHT, SCALE = 1280, 720, 0.75
STILL = {"width": 1440, "height": 900}
"""Pixels of the picture."""
STILL_QUERY = {"problem": "Welded beam design", "solver": "ZOSQP", "run.replicas": 8, "run.calls": 300}
QUERY = {"problem": "Nonconvex QCQP", "solver": "ZO-SPLM"}
"""What the pages of picture and clip are opened with."""
EVERY = 0.4
"""Seconds between two frames."""
COLOURS = 255
STEP = ".logslider-primal_step input[type=range]"


class Clip:
    """The frames of a page so far."""

    def __init__(self, page: Page) -> None:
        self._page, self._frames = page, list[Image.Image]()

    def film(self, seconds: float) -> None:
        """Take frames for so long."""
        for _ in range(round(seconds / EVERY)):
            begun = time.monotonic()
            frame = Image.open(io.BytesIO(self._page.screenshot())).convert("RGB")
            size = round(SCALE * WIDTH), round(SCALE * HEIGHT)
            self._frames.append(frame.resize(size, Image.Resampling.LANCZOS))
            self._page.wait_for_timeout(max(0.0, 1000.0 * (EVERY - (time.monotonic() - begun))))

    def write(self, path: Path) -> None:
        """Write them, all in the colours of the last one."""
        palette = self._frames[-1].quantize(COLOURS, Image.Quantize.MAXCOVERAGE)
        first, *rest = (frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self._frames)
        first.save(path, save_all=True, append_images=rest, duration=round(1000 * EVERY), loop=0, optimize=True)


def session(page: Page, clip: Clip) -> None:
    """Play the session."""
    button = page.get_by_role("button", name="Start", exact=True)
    button.wait_for(timeout=60_000)
    page.wait_for_timeout(3000)
    clip.film(1.2)
    button.click()
    page.locator(".bk-Figure:visible").first.wait_for()
    clip.film(4.0)
    slider = page.locator(STEP)
    for _ in range(12):
        slider.press("ArrowRight")
    clip.film(1.6)
    page.get_by_role("button", name=re.compile("^Use ")).click()  # beyond its stability limit, after a warning
    clip.film(3.6)
    page.get_by_role("button", name="Undo", exact=True).click()
    clip.film(3.6)
    page.get_by_role("button", name="Pause", exact=True).click()
    page.wait_for_timeout(1000)
    box = page.locator(".bk-Figure").first.bounding_box()
    assert box is not None, "the first plot is there"
    page.mouse.dblclick(box["x"] + 0.35 * box["width"], box["y"] + 0.6 * box["height"])
    back = page.get_by_role("button", name=re.compile(r"Go back to iteration \d+"))
    back.wait_for()
    clip.film(1.2)
    back.click()
    page.wait_for_timeout(2000)
    for _ in range(5):
        slider.press("ArrowLeft")
    page.get_by_role("button", name="Start", exact=True).or_(page.get_by_role("button", name="Continue")).first.click()
    clip.film(4.0)


def picture(page: Page, path: Path) -> None:
    """Start a run, wait for its end, and write a picture of it with its plots, its design and its course."""
    page.get_by_role("button", name="Start", exact=True).click(timeout=60_000)
    page.get_by_text("finished", exact=True).first.wait_for(timeout=120_000)
    page.wait_for_timeout(6000)  # strips and slice are computed meanwhile
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(path, optimize=True)


def main(path: Path) -> None:
    """Serve the dashboard, and write the clip of the session, or the picture of a run for a ``.png``."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "panel", "serve", str(ROOT / "apps" / "dashboard.py"), "--port", str(port)]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([*command, "--address", "127.0.0.1"], cwd=folder)
        try:
            _wait_for(port)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
                still = path.suffix == ".png"
                page = browser.new_page(
                    viewport=STILL if still else {"width": WIDTH, "height": HEIGHT}, color_scheme="light"
                )
                query = urlencode(STILL_QUERY if still else QUERY)
                page.goto(f"http://127.0.0.1:{port}/dashboard?{query}")
                if still:
                    picture(page, path)
                else:
                    clip = Clip(page)
                    session(page, clip)
                    clip.write(path)
                browser.close()
        finally:
            server.terminate()
            server.wait()


def _wait_for(port: int) -> None:
    for _ in range(120):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.5)
    raise TimeoutError(f"Expected a server on port {port} within a minute, got none.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
