"""The page for everybody: any screen, by keyboard, on paper; harmless, small and fast."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from tests.browser.reading import choose, drawn, node, until, view_box

import kes

SCREENS = [(1400, "light"), (1400, "dark"), (420, "light"), (420, "dark")]


def test_the_page_comes_in_the_order_in_which_it_is_read(page):
    assert page.locator("main h2").all_inner_texts()[0] == "Data"
    ids = page.evaluate("[...document.querySelectorAll('main > section')].map(s => s.id)")
    assert [name for name in ids if name] == [
        "network",
        "certainty",
        "target",
        "reproduction",
        "reproduce",
    ]
    order = ["#variables", "#stage", "#edges", "#answers", "#landscape", "#optima"]
    tops = [page.locator(part).bounding_box()["y"] for part in order]
    assert tops == sorted(tops)
    assert "optima from" not in page.inner_text("h1")


def test_variables_are_shown_with_their_cases(page, data):
    page.click("#all-variables")
    cards = page.locator("#variables .variable")
    assert cards.count() == 37
    shown = cards.first.locator(".cases").all_inner_texts()
    counts = np.bincount(data.codes[0])
    assert [int(re.sub(r"\D", "", text)) for text in shown] == counts.tolist()
    cards.nth(20).locator("button").first.click()
    assert page.inner_text("#target-name") == data.names[20]


# --- any screen ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_nothing_sticks_out_and_nothing_overlaps(open_page, report, width, scheme):
    page = open_page(report, viewport={"width": width, "height": 900}, color_scheme=scheme)
    for view in ("overview", "optimum", "consensus", "difference"):
        choose(page, view)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
    cut = page.evaluate(
        "[...document.querySelectorAll('button, h1, h2, h3, dd, .share-text')]"
        ".filter(e => e.offsetParent && !e.closest('.wide') && e.scrollWidth > e.clientWidth + 1"
        " && getComputedStyle(e).display !== 'inline').map(e => e.outerHTML.slice(0, 90))"
    )
    assert cut == []


def test_a_phone_sees_all_names_at_once(open_page, report):
    page = open_page(report, viewport={"width": 420, "height": 800}, has_touch=True)
    assert page.locator("#overview").is_visible()
    heights = page.evaluate(
        "[...document.querySelectorAll('#overview .node text')]"
        ".map(t => t.getBoundingClientRect().height)"
    )
    assert min(heights) >= 7.5
    choose(page, "optimum")
    whole = page.evaluate(
        "[...document.querySelectorAll('#stage .node')].every(n => {"
        " const a = n.getBoundingClientRect(), b = document.querySelector('#stage')"
        ".getBoundingClientRect(); return a.left >= b.left && a.right <= b.right; })"
    )
    assert whole, "the network fits"
    page.fill("#find", "CATECHOL")
    assert node(page, "CATECHOL").locator("text").bounding_box()["height"] >= 8


def luminance(colour):
    parts = np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])  # WCAG 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_pages_are_legible(open_page, report, scheme):
    page = open_page(report, color_scheme=scheme)
    style = "getComputedStyle(document.querySelector('{}')).{}"
    back = luminance(page.evaluate(style.format(".panel", "backgroundColor")))
    assert (back < 0.2) == (scheme == "dark")
    texts = [
        ("h2", "color"),
        (".panel p", "color"),
        (".tag", "color"),
        (".share-text", "color"),
        ("#landscape .tick", "fill"),
        ("#landscape .key", "color"),
        (".node text", "fill"),
        ("#selection", "color"),
    ]
    for selector, name in texts:
        front = luminance(page.evaluate(style.format(selector, name)))
        contrast = (max(front, back) + 0.05) / (min(front, back) + 0.05)
        assert contrast >= 4.5, selector


def test_charts_follow_a_change_of_theme_and_of_width(page):
    colour = "getComputedStyle(document.querySelector('#scores .line.main')).stroke"
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colour) != light
    page.set_viewport_size({"width": 700, "height": 900})
    until(page, "document.querySelector('#scores > svg').clientWidth < 680")
    ratio = page.evaluate(
        "(s => s.viewBox.baseVal.width / s.clientWidth)(document.querySelector('#scores > svg'))"
    )
    assert ratio == pytest.approx(1, abs=0.05)


def test_the_network_begins_on_the_first_screen(page, optima):
    assert page.locator("#stage").bounding_box()["y"] < 1000
    words = page.inner_text(".headline")
    assert "connections" in words
    assert "proven" in words
    assert "score" not in page.inner_text(".card:first-child")


def test_missing_values_are_shown_as_missing(open_page, tmp_path):
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(["x", "y"], 200), "b": rng.normal(size=200)})
    frame["c"] = frame["a"]
    frame.loc[:149, "c"] = None
    frame.loc[:19, "b"] = None
    optima = kes.learn(frame, runs=2, missing="em")
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    for name, gaps in (("b", 20), ("c", 150)):
        own = page.locator("#variables .variable", has=page.locator(f"bdi:text-is('{name}')"))
        bar = own.locator(".missing")
        assert bar.locator(".cases").inner_text() == str(gaps)
        assert bar.locator(".share-text").inner_text() == f"{gaps / 2:.1f} %"
    [said] = page.locator("#variables .imputed").all_inner_texts()  # once, above the cards
    assert "5 times each" in said
    shown = own.locator(".state-row:not(.missing) .cases").all_inner_texts()
    assert [int(text) for text in shown] == frame["c"].value_counts().sort_index().tolist()


def test_on_paper_nothing_overlaps(browser, report):
    page = browser.new_page(viewport={"width": 1400, "height": 700})
    page.goto(report.as_uri())
    page.wait_for_selector("#best-so-far .line", state="attached")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 1000})  # a sheet of paper
    page.wait_for_timeout(300)
    boxes = page.evaluate(
        "[...document.querySelectorAll('figure .chart > svg, figcaption, .key')]"
        ".map(e => e.getBoundingClientRect()).map(b => [b.left, b.top, b.right, b.bottom])"
    )
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 1 or b[3] <= a[1] + 1
            assert apart, (a, b)
    assert page.locator("#optima tbody tr:visible").count() == 10
    adjust = "getComputedStyle(document.querySelector('.bar-back')).printColorAdjust"
    assert page.evaluate(adjust) == "exact", "bars are backgrounds"
    page.close()


def test_paper_has_all_charts_and_no_controls(browser, report):
    page = browser.new_page(viewport={"width": 1400, "height": 700})
    page.goto(report.as_uri())
    page.emulate_media(media="print")
    page.wait_for_selector("#best-so-far .line", state="attached")
    for control in ("#zoom-in", "#threshold", "#save-svg"):
        assert not page.is_visible(control)
    assert page.is_visible("#stage")
    assert page.pdf(format="A4")[:4] == b"%PDF"
    page.close()


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler reads what was printed")
@pytest.mark.parametrize("width", [210, 216], ids=["A4", "Letter"])
def test_settings_stay_on_the_sheet_and_together(browser, measured, tmp_path, width):
    """Wherever a sheet ends, a label stands with its value; nothing comes near the sheet's edge."""
    frame = measured.assign(**{"a name that is rather long": measured["noise"] > 0})
    frame.loc[:9, "dose"] = None
    optima = kes.learn(frame, runs=3, missing="em", knowledge=kes.Knowledge(roots=["dose"]))
    optima.report(tmp_path / "a.html")
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto((tmp_path / "a.html").as_uri())
    pairs = {"fingerprint of the data": optima.record.fingerprint, "start": "the empty graph"}
    pairs |= {"phases": "additions and removals", "maximum number of parents": "no limit"}
    for height in range(240, 300, 7):
        page.pdf(path=tmp_path / "a.pdf", width=f"{width}mm", height=f"{height}mm")
        words = ["pdftotext", "-layout", tmp_path / "a.pdf", "-"]
        sheets = subprocess.run(words, capture_output=True, check=True).stdout.decode().split("\f")
        for label, value in pairs.items():
            found = [i for i, sheet in enumerate(sheets) if label in sheet and value in sheet]
            assert found, (height, label)
    words = ["pdftotext", "-bbox", tmp_path / "a.pdf", "-"]
    boxes = subprocess.run(words, capture_output=True, check=True).stdout.decode()
    left, right = (
        [float(x) for x in re.findall(rf'{end}="([0-9.]+)', boxes)] for end in ("xMin", "xMax")
    )
    assert min(left) > 20, "points"
    assert max(right) < width / 25.4 * 72 - 20
    page.close()


# --- by keyboard ---------------------------------------------------------------------------------


def test_the_keyboard_is_enough(page, optima):
    page.focus("#edge-filter")
    for _ in range(12):  # past the headings, to the one row that takes part in tabbing
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "TR":
            break
    assert page.evaluate("document.activeElement.getAttribute('aria-selected')") == "true"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    index = int(page.evaluate("document.activeElement.dataset.key"))
    page.keyboard.press("Enter")
    graph = optima[index].graph
    assert drawn(page) == (graph.directed, graph.undirected)
    page.focus("input[name=view]:checked")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#shown").startswith("Consensus")
    page.focus("#threshold")
    before = page.inner_text("#threshold-value")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#threshold-value") != before
    page.focus("#stage")
    whole = view_box(page)
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    assert view_box(page)[2] < whole[2]
    page.keyboard.press("0")
    page.keyboard.press("Tab")
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    assert page.inner_text("#target-name") == name
    page.keyboard.press("Escape")
    assert page.locator(".node.chosen").count() == 0


def test_focus_can_be_seen(page):
    page.focus("#edge-filter")
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_every_control_has_a_name(page):
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, select, [role=button], tr[tabindex]')]"
        ".filter(e => !(e.ariaLabel || e.innerText?.trim() || e.labels?.length))"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert nameless == []


# --- harmless ------------------------------------------------------------------------------------


def press_everything(page):
    """Click and hover whatever there is, in every view."""
    for view in ("overview", "optimum", "consensus", "difference"):
        if not page.locator(f"input[value={view}]").is_visible(timeout=0):
            choose(page, view) if view != "overview" else None
        else:
            choose(page, view)
        page.evaluate(
            """() => {
                const fire = (e, kind, Event) => e.dispatchEvent(
                    new Event(kind, { bubbles: true, cancelable: true }));
                const all = [...document.querySelectorAll(
                    'button, a, summary, tr, .node, .edge, circle, svg, .touch, h2, label')];
                for (const e of all) {
                    for (const kind of ['pointerover', 'pointermove', 'pointerleave'])
                        fire(e, kind, PointerEvent);
                    if (e.isConnected && e.id !== 'fullscreen') fire(e, 'click', MouseEvent);
                }
                for (const e of document.querySelectorAll('select')) {
                    e.selectedIndex = e.options.length - 1;
                    fire(e, 'change', window.Event);
                }
                for (const e of document.querySelectorAll('input[type=search]')) {
                    e.value = '<img src=x onerror=alert(1)>';
                    fire(e, 'input', window.Event);
                    e.value = '';
                    fire(e, 'input', window.Event);
                }
            }"""
        )
    page.wait_for_timeout(300)


def test_whatever_one_clicks_no_request_is_made(open_page, data, tmp_path):
    """`open_page` complains about every request, error and dialog; here everything is clicked."""
    report = tmp_path / "few.html"
    kes.learn(data, k=0.5, runs=12, improve=False, prove=False).report(report)
    page = open_page(report)
    press_everything(page)
    assert page.url.startswith(report.as_uri())
    links = page.evaluate("[...document.links].map(a => a.getAttribute('href'))")
    assert all(link.startswith("#") for link in links)
    assert page.locator("form, iframe, object, embed, link, img").count() == 0
    assert not re.search("upload|cloud", page.content(), re.IGNORECASE)


def test_requests_would_be_refused(browser, report):
    """The policy is in force: not even a script of ours could send or load anything."""
    page = browser.new_page()
    page.goto(report.as_uri())
    refused = page.evaluate(
        """() => Promise.all([
            fetch('https://example.org/').then(() => 'sent', () => 'refused'),
            new Promise(done => { const image = new Image(); image.onload = () => done('loaded');
                image.onerror = () => done('refused'); image.src = 'https://example.org/x.png'; }),
            new Promise(done => { const code = document.createElement('script');
                code.textContent = 'window.ran = true'; document.body.append(code);
                done(window.ran ? 'ran' : 'refused'); }),
        ])"""
    )
    assert refused == ["refused"] * 3
    page.close()


NASTY = [
    "</script><img src=x onerror=alert(1)>",
    "<img src=x onerror=alert(2)>",
    "quote\"'`&amp;",
    "a → b",
    "a -> b - c",
    "שלום עולם",
    "\u202eevil",
    "😀 emoji",
    "bell\x07 and \x01",
    "half \ud800",
    "tab\tand\nline",
    "$&${x}`",
    "=1+1",
    "__proto__",
    "x" * 300,
]


@pytest.mark.parametrize("width", [1400, 420])
def test_names_are_text_and_nothing_else(open_page, tmp_path, width):
    rng = np.random.default_rng(0)
    base = rng.integers(0, 2, 200)
    codes = [np.where(rng.random(200) < 0.9, base, 1 - base) for _ in NASTY]
    data = kes.Dataset(NASTY, [["</script><b>", "<!--\x02 '\""]] * len(NASTY), codes)
    path = tmp_path / "nasty <name>.html"
    kes.learn(data, runs=5, improve=10).report(path, title="<script>alert(3)</script>")
    page = open_page(path, viewport={"width": width, "height": 900})
    assert page.inner_text("h1") == "<script>alert(3)</script>"
    press_everything(page)
    for number in range(len(NASTY)):
        page.select_option("#target-choice", str(number))
        assert page.evaluate(
            "number => document.getElementById('target-name').textContent === "
            "JSON.parse(document.getElementById('data').textContent).names[number]",
            number,
        )
    assert page.locator("main img, main b, main i, main script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    choose(page, "optimum")
    with page.expect_download() as download:
        page.click("#save-png")
    assert download.value.path().read_bytes()[:4] == b"\x89PNG"
    with page.expect_download() as download:
        page.click("#save-bif")
    (tmp_path / "a.bif").write_bytes(download.value.path().read_bytes())
    assert kes.read_network(tmp_path / "a.bif").nodes == tuple(NASTY)


def test_one_variable_and_one_run(open_page, tmp_path):
    kes.learn(np.array([[0], [1], [1]]), runs=1).report(tmp_path / "one.html")
    page = open_page(tmp_path / "one.html")
    for view in ("consensus", "difference", "optimum"):
        choose(page, view)
        assert drawn(page) == (set(), set())


# --- small and fast ------------------------------------------------------------------------------


def test_a_thousand_runs_open_in_less_than_a_second(browser, tmp_path):
    many = kes.learn(kes.datasets.alarm(rows=1000), k=0.4, runs=1000, prove=False)
    assert len(many) >= 700
    path = tmp_path / "many.html"
    many.report(path)
    assert path.stat().st_size < 1_500_000
    spent = []
    for _ in range(2):  # processor time of the page's thread: the machine may be busy
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(path.as_uri())
        page.wait_for_selector("#stage .node", state="attached")
        metrics = session.send("Performance.getMetrics")["metrics"]
        spent.append(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))
        page.close()
    print(f"{path.stat().st_size / 1e6:.1f} MB, seconds to open: {spent}")
    assert min(spent) < 1
