"""The page to work in, from a file to a decision: by mouse and by keyboard, wide and narrow."""

import numpy as np
import pandas as pd
import pytest
from tests.browser.app_pages import AppPage, serious
from tests.unit.app.serving import Served

import kes
from kes.app.serve import _entry
from kes.app.workspace import Workspace


def mixed(rows=150):
    rng = np.random.default_rng(3)
    age = rng.normal(50, 12, rows).round()
    smoker = np.where(rng.random(rows) < 0.4, "yes", "no")
    pressure = 90 + 0.8 * age + np.where(smoker == "yes", 15, 0) + rng.normal(0, 4, rows)
    table = pd.DataFrame({"age": age, "smoker": smoker, "pressure": pressure.round(1)})
    table.loc[rng.random(rows) < 0.1, "pressure"] = np.nan
    return table.assign(nothing=None)


def continuous(rows=200):
    rng = np.random.default_rng(4)
    a = rng.normal(size=rows)
    b = a + rng.normal(size=rows)
    return pd.DataFrame({"a": a, "b": b, "c": b - rng.normal(size=rows)})


def discrete(rows=300):
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2, rows)
    b = np.where(rng.random(rows) < 0.8, a, 1 - a)
    c = np.where(rng.random(rows) < 0.7, b, rng.integers(0, 2, rows))
    return pd.DataFrame({"rain": a, "wet": b, "slippery": c})


def wide(rows=120, columns=300):
    rng = np.random.default_rng(6)
    base = rng.normal(size=(rows, columns))
    base[:, 1:] += 0.9 * base[:, :-1]
    return pd.DataFrame(base.round(4), columns=[f"gene_{i:03d}" for i in range(columns)])


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    one = Served(tmp_path_factory.mktemp("app"))
    yield one
    one.close()


@pytest.fixture
def open_app(browser, served):
    """Return a function that opens the page with an empty draft."""
    opened = []

    def start(**options):
        version = served.ask("GET", "state")["draft"]["version"]
        served.ask("PUT", "draft", {"version": version, "draft": {}})
        opened.append(AppPage(browser, served, **options))
        return opened[-1]

    yield start
    for app in opened:
        app.close()


def test_a_table_with_gaps_by_mouse(open_app, served, tmp_path):
    """The whole way, in light and dark; axe-core looks at every step."""
    mixed().to_csv(tmp_path / "patients.csv", index=False)
    app = open_app()
    page = app.page
    accessible(page)
    app.take(tmp_path / "patients.csv")
    app.mend("Leave out nothing")
    app.mend("Fill in missing")
    assert "3 variables ready" in page.inner_text("#problem")
    assert page.locator(".column svg.picture").count() == 2
    page.select_option("[aria-label='Kind of age']", "continuous")
    page.wait_for_selector(".column:has-text('age') select >> nth=0")
    accessible(page, "light", "dark")

    app.go("knowledge", ".tier")
    for name in ("age", "pressure"):
        page.drag_and_drop(f".tier [data-name={name}]", ".tier:last-child")
        page.wait_for_selector(f'.tier:not([data-tier="-1"]) [data-name={name}]')
    page.click("#single .chips [data-name=pressure]")
    page.click("#single .chips [data-name=age]")
    page.click("button:text-is('pressure → age must be there')")
    page.wait_for_selector(".message:has-text('pressure -> age is required')")
    accessible(page)
    page.click("[aria-label^='Remove: pressure']")
    page.wait_for_selector("text=No contradiction")

    app.go("learn", "button.main")
    page.click("summary:has-text('More options')")
    page.fill("label:has-text('runs') input >> nth=0", "20")
    page.press("label:has-text('runs') input >> nth=0", "Tab")
    page.wait_for_selector("#code-text:has-text('--runs 20')")
    accessible(page)
    out = app.learned(lambda: page.click("button.main"))
    page.wait_for_selector("#job .live svg")
    accessible(page)
    app.see_result()
    accessible(page, "light", "dark")
    command = page.inner_text("#code-text")
    assert "--missing em" in command
    assert "--knowledge patients.knowledge.toml" in command
    suffixes = {"Report": ".html", "BIF": ".bif", "CSV": ".csv", "SVG": ".svg"}
    for label, suffix in suffixes.items():
        assert app.saved(label).endswith(suffix)
    known = kes.load(served.folder / out).settings.knowledge
    assert known == kes.Knowledge(tiers=[["age"], ["pressure"]])
    app.go("history", "table")
    page.fill("textarea >> nth=0", "first try")
    page.press("textarea >> nth=0", "Tab")
    accessible(page)


def test_what_a_table_lacks_is_mended_where_it_is_noticed(open_app, served, tmp_path):
    """At Learn as at Table; the settings show what a button has set."""
    mixed().drop(columns="nothing").replace({"smoker": {"no": "?"}}).to_csv(
        tmp_path / "gaps.csv", index=False
    )
    app = open_app()
    page = app.page
    app.take(tmp_path / "gaps.csv")
    page.click(".column button:has-text('“?” means missing')")
    page.wait_for_selector("label:has-text('also mean missing') input[value='?']")
    app.go("learn", "#problem .message")
    before = served.ask("GET", "jobs")
    page.click("button.main")
    page.wait_for_selector("#messages:has-text('mend the table')")
    assert served.ask("GET", "jobs") == before
    accessible(page)
    page.click("#problem button:has-text('Leave out incomplete rows')")
    page.wait_for_selector("#problem:empty", state="attached")
    app.go("table", "#problem .message.good")
    assert page.input_value("label:has-text('Missing cells') select") == "drop"
    assert " --" not in page.text_content("details:has-text('Notes on the table')")


def test_another_table_is_chosen_before_the_first_is_read(open_app, served, tmp_path):
    """The answer about the first one comes late, and is not shown."""
    wide().to_csv(served.folder / "slow.csv", index=False)
    app = open_app()
    page = app.page
    page.reload()
    page.click("button:has-text('slow.csv')")
    page.click("text=Choose another table")
    page.wait_for_selector("h1:has-text('Which table?')")
    page.click("text=Take the built-in example")
    page.wait_for_selector("#problem .message.good")
    assert page.locator("h1").all_inner_texts() == ["ALARM, 2000 rows"]
    assert page.locator(".column").count() == 37
    assert page.inner_text("#messages") == ""


def accessible(page, *schemes):
    """Look at a step, in light unless told otherwise."""
    for scheme in schemes or ("light",):
        page.emulate_media(color_scheme=scheme)
        assert serious(page) == []
    page.emulate_media(color_scheme="light")


def test_a_wrong_arrow_is_turned_and_its_cost_is_told(open_app, served, tmp_path):
    discrete().to_csv(tmp_path / "weather.csv", index=False)
    app = open_app()
    page = app.page
    app.take(tmp_path / "weather.csv")
    first = app.learn()
    app.see_result()
    frame = app.report()
    frame.locator("#stage .edge").first.click(force=True)
    chosen = [page.input_value(f"#picture-knowledge select >> nth={i}") for i in (0, 1)]
    assert len(set(chosen)) == 2
    button = "#picture-knowledge button:has-text('No edge between')"
    second = app.learned(lambda: page.click(button))
    page.wait_for_selector("#job p:has-text('nats')")
    told = page.inner_text("#job p[role=status]")
    before, after = (kes.load(served.folder / name) for name in (first, second))
    cost = before.best.score - after.best.score
    assert f"{cost:.2f} nats lower" in told
    app.go("history", "table")
    for i in (0, 1):
        page.check(f"tbody input[type=checkbox] >> nth={i}")
    page.click("button:has-text('side by side')")
    page.wait_for_selector(".pair-of-reports iframe >> nth=1")
    assert "SHD" in page.inner_text("#step")


def test_what_few_tables_need_is_folded_away_but_there(open_app, served, tmp_path):
    """Cuts by column, a series, an experiment, a context: by clicks, and then in the command."""
    table = mixed().drop(columns="nothing").dropna()
    table.assign(visit=range(len(table)), arm=np.tile(["a", "b", "none"], 50)[: len(table)]).to_csv(
        tmp_path / "trial.csv", index=False
    )
    app = open_app()
    page = app.page
    app.take(tmp_path / "trial.csv")
    page.fill("[aria-label='Cut age into states']", "3")
    page.press("[aria-label='Cut age into states']", "Tab")
    page.wait_for_selector("#code-text:has-text('--discretize age=3')")
    page.click("details.more-table summary")
    page.fill("label:has-text('Earlier rows') input", "1")
    page.press("label:has-text('Earlier rows') input", "Tab")
    page.wait_for_selector("#code-text:has-text('--lags 1')")
    page.select_option("label:has-text('What orders the rows') select", "visit")
    page.wait_for_selector("#code-text:has-text('--time visit')")
    page.fill("label:has-text('Earlier rows') input", "")
    page.press("label:has-text('Earlier rows') input", "Tab")
    page.wait_for_selector("#code-text:not(:has-text('--lags'))")
    accessible(page)
    page.select_option("[aria-label='Kind of visit']", "omit")
    page.wait_for_selector("#code-text:has-text('--drop visit')")

    app.go("knowledge", ".tier")
    page.click(".tier [data-name=age]")
    page.click(".tier[data-tier='0'] button:has-text('Put age here')")  # as a finger does
    page.wait_for_selector(".tier[data-tier='0'] [data-name=age]")
    assert page.evaluate("document.activeElement.dataset.name") == "age"
    page.click("#single .chips [data-name=smoker]")
    page.click("button:has-text('only says where a row is from')")
    page.wait_for_selector("li:has-text('smoker says where a row is from')")
    page.click("details.experiments summary")
    page.select_option("label:has-text('Column of experiments') select", "arm")
    page.wait_for_selector("[aria-label='What none acts on']")
    page.select_option("[aria-label='What none acts on']", "none")
    page.wait_for_selector("#code-text:has-text('--interventions trial.interventions.json')")
    page.select_option("[aria-label='What a acts on']", "known")
    page.click(".experiment .chip:has-text('pressure')")
    page.wait_for_selector(".experiment .chip[aria-pressed=true]:has-text('pressure')")
    accessible(page, "light", "dark")
    known = kes.load(served.folder / app.learn()).settings.knowledge
    assert dict(known.targets) == {"arm[a]": ("pressure",)}
    assert set(known.exogenous) == {"smoker", "arm[a]", "arm[b]"}
    assert known.tiers == (("age",),)


def test_by_keyboard_alone_on_a_narrow_dark_screen(open_app, served):
    narrow = {"width": 420, "height": 900}
    app = open_app(viewport=narrow, color_scheme="dark")
    page = app.page
    assert app.fits()
    press(page, "Take the built-in example")
    page.wait_for_selector("#problem .message.good")
    assert app.fits()
    press(page, "2 What you know")
    page.wait_for_selector(".tier [data-name=HR]")
    focus(page, ".tier [data-name=HR]")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector('.tier[data-tier="0"] [data-name=HR]')
    assert page.evaluate("document.activeElement.dataset.name") == "HR"
    assert app.fits()
    press(page, "3 Learn")
    page.wait_for_selector("button.main")
    focus(page, "#more summary")
    page.keyboard.press("Enter")
    focus(page, "label:has-text('runs') input")
    page.keyboard.type("10")
    page.keyboard.press("Tab")
    page.wait_for_selector("#code-text:has-text('--runs 10')")
    focus(page, "button.main")
    app.learned(lambda: page.keyboard.press("Enter"))
    assert app.fits()
    press(page, "See the result")
    app.report()
    assert app.fits()
    with page.expect_download() as download:
        press(page, "Edges (CSV)")
    assert download.value.suggested_filename.endswith("-edges.csv")


def focus(page, selector):
    """Move the focus by Tab until it is there, backwards if it is before."""
    wanted = page.locator(selector).first
    is_before = "element => element.compareDocumentPosition(document.activeElement) & 4"
    is_far = "() => document.activeElement === document.body"
    back = not page.evaluate(is_far) and wanted.evaluate(is_before)
    for _ in range(3000):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Shift+Tab" if back else "Tab")
    raise AssertionError(f"Tab does not reach {selector}")


def press(page, text):
    focus(page, f"a:text-is('{text}'), button:text-is('{text}')")
    page.keyboard.press("Enter")


def test_closing_the_browser_loses_nothing(open_app, browser, served):
    app = open_app()
    page = app.page
    page.click("text=Take the built-in example")
    page.wait_for_selector("#problem .message.good")
    page.select_option("label:has-text('Variable to predict') select", "HR")
    page.wait_for_selector("#code-text:has-text('--target HR')")
    job = served.ask("POST", "learn", {"draft": {"example": 300, "options": {"runs": 100_000}}})
    app.close()
    again = AppPage(browser, served)
    again.page.wait_for_selector("#code-text:has-text('--target HR')")
    again.page.wait_for_selector("#job-line:has-text('running')")
    again.go("learn", "#job .live svg")
    again.page.click("button:has-text('Stop, and keep')")
    again.page.wait_for_selector("#job:has-text('Stopped')")
    again.close()
    assert len(kes.load(served.folder / job["out"]).runs) > 0


def test_two_tabs_see_each_other(open_app, browser, served):
    app = open_app()
    other = AppPage(browser, served)
    app.page.click("text=Take the built-in example")
    app.page.wait_for_selector("#problem .message.good")
    other.page.click("text=Take the built-in example")
    other.page.wait_for_selector(".message:has-text('Another tab')")
    other.close()


def test_names_and_states_are_text(open_app, tmp_path):
    bad = '<img src=x onerror="alert(1)">'
    rng = np.random.default_rng(0)
    states = rng.choice([bad, "</script><script>alert(2)</script>"], 80)
    pd.DataFrame({bad: states, "b": states, "c": rng.choice(["u", "v"], 80)}).to_csv(
        tmp_path / "hostile.csv", index=False
    )
    app = open_app()
    app.take(tmp_path / "hostile.csv")
    assert app.page.locator(".column img").count() == 0
    assert bad in app.page.inner_text(".column-cards")
    app.go("knowledge", ".tier")
    assert app.page.locator("#step img").count() == 0
    app.learn()
    app.see_result()
    assert app.page.locator("#step img").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 420])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "make", [discrete, continuous, mixed, wide], ids=lambda make: make.__name__
)
def test_the_whole_way(open_app, served, tmp_path, make, scheme, width):
    make().to_csv(tmp_path / f"{make.__name__}.csv", index=False)
    app = open_app(viewport={"width": width, "height": 900}, color_scheme=scheme)
    app.take(tmp_path / f"{make.__name__}.csv")
    if make is mixed:
        app.mend("Leave out nothing")
        app.mend("Fill in missing")
    assert serious(app.page) == []
    for step in ("knowledge", "learn"):
        app.go(step)
        assert app.fits()
        assert serious(app.page) == []
    app.learn()
    app.see_result()
    assert app.fits()
    assert serious(app.page) == []
    for label in ("Report", "BIF", "CSV", "SVG"):
        app.saved(label)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (420, "dark")])
@pytest.mark.parametrize(
    "make", [discrete, continuous, mixed, wide], ids=lambda make: make.__name__
)
def test_the_whole_way_by_keyboard(open_app, served, make, scheme, width):
    name = f"keys-{make.__name__}-{width}.csv"
    table = make()
    table.to_csv(served.folder / name, index=False)
    app = open_app(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = app.page
    focus(page, f"button:has-text('{name}')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problem .message")
    if make is mixed:
        press(page, "Leave out nothing")
        page.wait_for_selector("#problem:not(:has-text('nothing'))")
        press(page, "Fill in missing cells (EM)")
    page.wait_for_selector("#problem .message.good")
    press(page, "what you know about the variables")
    chip = f".tier [data-name={table.columns[0]}]"
    page.wait_for_selector(chip)
    focus(page, chip)
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f'.tier[data-tier="0"] [data-name={table.columns[0]}]')
    press(page, "Go on to learning")
    page.wait_for_selector("button.main")
    focus(page, "button.main")
    out = app.learned(lambda: page.keyboard.press("Enter"))
    assert kes.load(served.folder / out).settings.knowledge.tiers == ((table.columns[0],),)
    press(page, "See the result")
    app.report()
    assert app.fits()
    for label in ("Report (HTML)", "Network (BIF)", "Edges (CSV)", "Picture (SVG)"):
        with page.expect_download():
            press(page, label)


@pytest.mark.slow
def test_the_example_is_there_within_a_second(open_app):
    """From a reload to cards that can be used; the best of five, as the machine may be busy."""
    app = open_app()
    app.page.click("text=Take the built-in example")
    app.page.wait_for_selector("#problem .message.good")
    times = []
    for _ in range(5):
        app.page.reload()
        app.page.wait_for_selector(".column >> nth=36")
        times.append(app.page.evaluate("performance.now()"))  # since the reload began
    assert min(times) < 1000


def test_the_file_that_the_browser_is_given_leads_to_the_page(browser, served):
    """The cookie must be sent although the browser comes from a file."""
    path = _entry(Workspace(served.folder), served.address)
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_url(f"http://{served.host}/")
    page.get_by_role("button").first.wait_for()
    assert page.evaluate("fetch('/api/state').then((answer) => answer.status)") == 200
    page.close()
    path.unlink()
