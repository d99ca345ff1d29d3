"""Settings and fixtures of all tests: hypothesis profiles, and a headless Chromium.

Hypothesis tries the same examples every time, and looks at no clock on a busy machine. There cannot
be two Chromiums in a process, so there is one for all of its tests. A
shell that starts the tests in the background makes them ignore Ctrl-C, which some of them press.
"""

import shutil
import signal

import pytest
from hypothesis import settings

settings.register_profile("kes", deadline=None, derandomize=True)
settings.load_profile("kes")

signal.signal(signal.SIGINT, signal.default_int_handler)

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="needs the Python package playwright")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs Chromium on the PATH: apt-get install chromium")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield started
        started.close()
