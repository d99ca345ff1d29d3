"""Pages that complain about errors and network requests."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kes


class Complaints(list):
    """Faults of a page: errors, and requests other than for the page itself."""

    def watch(self, page, path):
        page.on("console", lambda message: self.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.append(f"error: {error}"))
        page.on(
            "dialog", lambda dialog: (self.append(f"dialog: {dialog.message}"), dialog.dismiss())
        )
        page.on("request", lambda request: self.check(request.url, path))

    def check(self, url, path):
        if url != path.as_uri() and not url.startswith(("data:", "blob:")):
            self.append(f"request: {url}")


@pytest.fixture
def open_page(browser):
    """Return a function that opens a file; at the end of the test no page may have complained."""
    complaints, contexts = Complaints(), []

    def opened(path: Path, **options):
        options.setdefault("viewport", {"width": 1400, "height": 1000})
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(60_000)  # the machine may be busy
        complaints.watch(page, path)
        page.goto(path.as_uri())
        for last in ("#landscape circle", "#optima tbody tr", "#target-name"):
            page.wait_for_selector(last, state="attached")  # parts that are made later
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture(scope="session")
def data():
    return kes.datasets.alarm(rows=2000)


@pytest.fixture(scope="session")
def optima(data):
    return kes.learn(data, k=0.5, runs=120, random_state=5)


@pytest.fixture(scope="session")
def report(optima, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "alarm.html"
    optima.report(path)
    return path


@pytest.fixture
def page(open_page, report):
    return open_page(report)


@pytest.fixture(scope="session")
def measured():
    """A Gaussian table: a chain, a collider, and a column that is joined to nothing."""
    rng = np.random.default_rng(7)
    dose = rng.normal(10, 2, 400)
    effect = 0.5 * dose + rng.normal(0, 1, 400)
    noise = rng.normal(size=400)
    columns = {"dose": dose, "effect": effect, "cost": 3 - 1.2 * effect + rng.normal(size=400)}
    columns |= {"noise": noise, "total": dose + 2 * noise + rng.normal(size=400)}
    return pd.DataFrame(columns | {"alone": rng.normal(size=400)})


@pytest.fixture(scope="session")
def large():
    """120 variables, each with up to two parents not far before it."""
    rng = np.random.default_rng(1)
    columns = rng.integers(0, 3, (120, 2000))
    for i in range(2, 120):
        for parent in {int(p) for p in rng.integers(max(0, i - 9), i, rng.integers(1, 3))}:
            follows = rng.random(2000) < 0.6
            columns[i] = np.where(follows, columns[parent], columns[i])
    names = [f"measurement_{i:03d}" for i in range(120)]
    return kes.Dataset(names, [["low", "middle", "high"]] * 120, columns)


@pytest.fixture(scope="session")
def large_report(large, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "large.html"
    kes.learn(large, runs=5, improve=10, prove=False).report(path)
    return path
