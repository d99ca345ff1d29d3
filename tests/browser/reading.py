"""Reading the page: what stands in its tables and pictures."""

import time


def until(page, expression, seconds=20):
    """Wait until something holds; Playwright's own way evaluates texts, which the page forbids."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"not within {seconds} s: {expression}"
        page.wait_for_timeout(50)


def rows(page, selector="#optima"):
    """Return the cells of a table, as text."""
    return page.evaluate(
        "selector => [...document.querySelectorAll(`${selector} tbody tr`)]"
        ".map(row => [...row.cells].map(cell => cell.innerText))",
        selector,
    )


def value(text):
    """Return the number that a text on the page is."""
    plain = text.replace("−", "-").replace("\u202f", "").replace(" ", "")
    return float(plain.removesuffix("%"))


def drawn(page, stage="#stage"):
    """Return the edges of a picture: (from, to) for arrows, frozensets for lines without."""
    titles = page.evaluate(
        "stage => [...document.querySelectorAll(`${stage} .edge`)].map(edge => "
        "[edge.querySelector('title').textContent, edge.querySelectorAll('polygon').length])",
        stage,
    )
    directed, undirected = set(), set()
    for title, heads in titles:
        edge = title.split("\n")[0]
        if heads:
            directed.add(tuple(edge.split(" → ")))
        else:
            undirected.add(frozenset(edge.split(" – ")))
    return directed, undirected


def node(page, name, stage="#stage"):
    return page.locator(f'{stage} .node[aria-label="{name}"]')


def choose(page, view):
    """Choose what is drawn."""
    page.check(f"input[value={view}]", force=True)


def view_box(page):
    return [float(part) for part in page.get_attribute("#stage svg", "viewBox").split()]
