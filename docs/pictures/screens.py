"""Screens of `kes app` with the built-in example, as a browser shows them."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from canvas import THEMES
from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZE = {"width": 1120, "height": 700}
LARGEST = 150_000  # bytes of a picture
_MAP = "#job figure:last-child circle"


def screens(folder: Path) -> None:
    """Write the pictures of the steps, light and dark, into a folder."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("the pictures of kes app need Chromium on the PATH")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, _served() as address:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(address)
        _learned(page)
        state = page.context.storage_state()
        for theme in THEMES:
            for step, content in _steps(browser, address, state, theme.name):
                _write(folder / f"app-{step}-{theme.name}.webp", content)
        browser.close()


@contextmanager
def _served() -> Iterator[str]:
    """Serve an empty folder; yield the address."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "study"
        folder.mkdir()
        words = ["app", "--folder", str(folder), "--port", "0", "--no-browser"]
        process = subprocess.Popen(
            [sys.executable, "-m", "kes", *words], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if found := re.search(r"http://\S+token=\S+", line):
                    yield found[0]
                    break
        finally:
            process.send_signal(2)
            process.wait(60)


def _learned(page: Page) -> None:
    """Take the example, say what comes first, and learn."""
    page.set_default_timeout(60_000)
    page.click("text=Take the built-in example")
    page.wait_for_selector("#problem .message.good")
    page.goto(page.url.partition("#")[0] + "#knowledge")
    for place, name in enumerate(("HYPOVOLEMIA", "LVFAILURE", "HISTORY")):
        page.click(f".tier [data-name={name}]")
        page.click(f".tier[data-tier='{min(place // 2, 1)}'] button:has-text('Put')")
        page.wait_for_selector(f".tier:not([data-tier='-1']) [data-name={name}]")
    page.goto(page.url.partition("#")[0] + "#learn")
    page.click("button.main")
    page.wait_for_selector("#job a:has-text('See the result')")
    page.wait_for_selector(_MAP, state="attached")
    page.click("#job a:has-text('See the result')")
    page.frame_locator("iframe.report").locator("#network #shown").wait_for()


def _steps(
    browser: Browser, address: str, state: object, scheme: str
) -> Iterator[tuple[str, bytes]]:
    """Yield pictures of the steps that the server remembers."""
    base = address.partition("?")[0]
    context = browser.new_context(viewport=SIZE, color_scheme=scheme, storage_state=state)
    for step, ready in {
        "table": ".column >> nth=36",
        "knowledge": ".tier[data-tier='1'] .chip",
        "learn": _MAP,
        "result": "iframe.report",
    }.items():
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{base}#{step}")
        page.wait_for_selector(ready, state="attached")
        if step == "result":
            page.frame_locator("iframe.report").locator("#network #shown").wait_for()
        page.wait_for_timeout(2000)
        yield step, page.screenshot()
        page.close()
    context.close()


def _write(path: Path, content: bytes) -> None:
    """Write a picture as WebP, and refuse one that is too large for a page."""
    packed = io.BytesIO()
    Image.open(io.BytesIO(content)).convert("RGB").save(packed, "WEBP", quality=80, method=6)
    if len(packed.getvalue()) > LARGEST:
        raise SystemExit(f"{path.name} has {len(packed.getvalue())} bytes; the limit is {LARGEST}")
    path.write_bytes(packed.getvalue())
