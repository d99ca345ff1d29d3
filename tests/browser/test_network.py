"""The picture of the network: models, consensus, differences, overview, and saving them."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from tests.browser.reading import choose, drawn, node, until, view_box

import kes
from kes.cli import run


def test_the_best_network_is_drawn_at_first(page, optima):
    assert drawn(page) == (optima.best.graph.directed, optima.best.graph.undirected)
    shown = page.inner_text("#shown")
    assert shown.startswith(f"The best network: {len(optima.best.graph.skeleton)} connections")
    page.select_option("#first", "3")
    shown = page.inner_text("#shown")
    assert shown.startswith("Optimum 3")
    assert shown.endswith(optima[3].origin)


def test_all_of_it_can_be_read_at_once(page):
    stage = page.locator("#stage").bounding_box()
    for box in page.locator("#stage .node").all():
        own = box.bounding_box()
        assert own["x"] >= stage["x"]
        assert own["x"] + own["width"] <= stage["x"] + stage["width"]
        assert own["y"] + own["height"] <= stage["y"] + stage["height"]
    height = page.evaluate("document.querySelector('.node text').getBoundingClientRect().height")
    assert height >= 10


def test_models_beyond_the_best_are_drawn_too(page, optima):
    last = len(optima) - 1
    page.select_option("#first", str(last))
    assert drawn(page) == (optima[last].graph.directed, optima[last].graph.undirected)


@pytest.mark.parametrize("kind", ["search", "weight"])
def test_the_slider_draws_the_consensus_of_python(page, optima, kind):
    choose(page, "consensus")
    page.select_option("#support", kind)
    for percent in (5, 33, 50, 90, 100):
        page.fill("#threshold", str(percent))
        expected = optima.consensus(percent / 100, support=kind)
        assert drawn(page) == (expected.directed, expected.undirected)
        assert page.inner_text("#threshold-value") == f"{percent} %"


def test_evidence_is_width_unless_a_support_is_chosen(page, optima):
    nats = {frozenset((row["x"], row["y"])): row["evidence"] for row in optima.evidence()}
    supports = {frozenset((row["x"], row["y"])): row["search_support"] for row in optima.edges()}
    assert_widths_follow(page, nats)
    page.select_option("#support", "search")
    assert_widths_follow(page, supports)
    assert "Width: search support" in page.inner_text("#legend")


def assert_widths_follow(page, strengths):
    widths = page.evaluate(
        "[...document.querySelectorAll('#stage .edge')].map(e => [e.querySelector('title')"
        ".textContent, Number(e.querySelector('path:not(.touch)').getAttribute('stroke-width'))])"
    )
    found = []
    for title, width in widths:
        pair = frozenset(re.split(" [→–] ", title.split("\n")[0]))
        found.append((strengths[pair], width))
    ordered = [width for _, width in sorted(found)]
    assert ordered == sorted(ordered)
    assert ordered[0] < ordered[-1]


def test_differences_are_those_of_python(page, optima):
    choose(page, "difference")
    page.select_option("#first", "0")
    page.select_option("#second", "9")
    found = optima[0].compare(optima[9])

    def pairs(change):
        titles = page.locator(f"#stage .edge.{change} title").all_text_contents()
        return {frozenset(re.split(" [→–] ", title.split("\n")[0])) for title in titles}

    assert pairs("removed") == found.removed
    assert pairs("added") == found.added
    turned = (*found.reversed, *found.newly_directed, *found.newly_undirected)
    assert pairs("turned") == {frozenset(pair) for pair in turned}
    assert f"{found.shd} difference" in page.inner_text("#edges-summary")
    assert page.locator("#edges tbody tr").count() == found.shd
    shown = f"{found.score_difference:.4f}".replace("-", "−")
    assert shown in page.inner_text("#edges-summary")


def test_a_variable_is_brought_out_with_its_blanket(page, optima):
    node(page, "CATECHOL").click()
    marked = page.locator("#stage .node.blanket").evaluate_all("all => all.map(n => n.ariaLabel)")
    assert set(marked) == optima.best.graph.markov_blanket("CATECHOL")
    assert node(page, "CATECHOL").get_attribute("aria-pressed") == "true"
    assert page.inner_text("#target-name") == "CATECHOL"
    page.click("#selection a")
    assert page.evaluate("location.hash") == "#target"
    node(page, "CATECHOL").click()
    assert page.locator(".node.chosen").count() == 0


def test_an_edge_is_told_in_words(page, optima):
    a, b = sorted(optima.best.graph.directed)[0]
    edge = page.locator("#stage .edge", has=page.locator(f"title:text('{a} → {b}')"))
    edge.dispatch_event("click")
    said = page.inner_text("#selection")
    assert said.startswith(f"{a} → {b}: ")
    assert "direction" in said
    assert "nats worse, as far as the search found" in said
    [worth] = [row["worth"] for row in optima.explain().edges() if {row["x"], row["y"]} == {a, b}]
    shown = re.search(r"score by ([\d\u202f]+\.\d)", said)[1].replace("\u202f", "")
    assert float(shown) == pytest.approx(
        worth, abs=0.056
    )  # rounded to 0.01 in the page, then to 0.1
    assert page.inner_text("#edge-description") == said


def test_find_brings_a_variable_into_view(page):
    page.fill("#find", "anaph")
    assert page.inner_text("#target-name") == "ANAPHYLAXIS"
    page.fill("#find", "nothing like it")
    assert page.inner_text("#find-status") == "no variable matches “nothing like it”"
    assert page.locator(".node.found").count() == 0
    page.fill("#find", "hr")  # a name, and part of others
    assert page.inner_text("#target-name") == "HR"


@pytest.mark.parametrize("width", [1400, 420])
def test_find_goes_through_all_that_fit(open_page, report, data, width):
    page = open_page(report, viewport={"width": width, "height": 900})
    page.fill("#find", "vent")
    fitting = [name for name in data.names if "VENT" in name]
    found = page.locator("#stage .node.found").evaluate_all("all => all.map(n => n.ariaLabel)")
    assert sorted(found) == sorted(fitting)
    assert page.inner_text("#find-status").startswith(f"{len(fitting)} variables")
    seen = []
    for number in range(len(fitting) + 1):
        page.press("#find", "Enter")
        seen.append(page.locator("#stage .node.chosen").get_attribute("aria-label"))
        place = number % len(fitting) + 1
        assert page.inner_text("#find-status") == f"{place} of {len(fitting)} variables"
    assert seen == [*fitting, fitting[0]]
    page.press("#find", "Escape")
    assert page.locator(".node.found, .node.chosen").count() == 0


def test_a_click_on_the_background_clears_what_is_brought_out(page):
    node(page, "CATECHOL").click()
    assert page.locator("#stage svg.focused").count() == 1
    box = page.locator("#stage").bounding_box()
    page.mouse.click(box["x"] + 4, box["y"] + box["height"] - 4)
    assert page.locator("#stage svg.focused, .node.chosen").count() == 0


def test_a_question_leaves_the_picture_as_it_is(page):
    page.select_option("#target-choice", label="BP")
    assert page.inner_text("#target-name") == "BP"
    assert page.locator("#stage svg.focused, .node.chosen").count() == 0


def test_arrows_are_said_to_be_no_causes(page):
    under = page.locator("#not-causal").bounding_box()["y"]
    assert page.locator("#stage").bounding_box()["y"] < under
    assert under < page.locator("#save-svg").bounding_box()["y"]
    page.emulate_media(media="print")
    assert page.is_visible("#not-causal")
    assert "--tiers" in page.inner_text("#not-causal")


def test_zoom_and_pan(page):
    whole = view_box(page)
    page.click("#zoom-in")
    assert view_box(page)[2] == pytest.approx(whole[2] / 1.25)
    page.click("#zoom-out")
    page.click("#zoom-fit")
    assert view_box(page) == pytest.approx(whole)
    stage = page.locator("#stage")
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    x, y = box["x"] + 15, box["y"] + box["height"] - 15
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 40, steps=4)
    page.mouse.up()
    scale = box["width"] / whole[2]
    moved = np.subtract(view_box(page), whole)
    assert moved[:2] == pytest.approx([-60 / scale, 40 / scale], abs=3)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    narrower = f"document.querySelector('#stage svg').viewBox.baseVal.width < {whole[2] * 0.9}"
    until(page, narrower)


def test_full_screen_is_all_network(page):
    page.click("#fullscreen")
    until(page, "document.fullscreenElement?.id === 'network'")
    assert page.locator("#stage").bounding_box()["height"] > 500
    until(page, "document.getElementById('fullscreen').innerText === 'Exit full screen'")
    page.click("#fullscreen")
    until(page, "!document.fullscreenElement")
    until(page, "document.getElementById('fullscreen').innerText === 'Full screen'")


# --- many variables ------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1400, 420])
def test_120_variables_can_be_read_in_an_overview(open_page, large_report, large, width):
    page = open_page(large_report, viewport={"width": width, "height": 900})
    assert page.locator("#overview").is_visible()
    names = page.locator("#overview .node").evaluate_all("all => all.map(n => n.ariaLabel)")
    names += page.locator("#overview .cluster.all .chips button").all_inner_texts()
    assert sorted(names) == sorted(large.names), "every variable once"
    heights = page.evaluate(
        "[...document.querySelectorAll('#overview .node text')]"
        ".map(t => t.getBoundingClientRect().height)"
    )
    assert min(heights) >= 7.5
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    overlapping = page.evaluate(
        """[...document.querySelectorAll('#overview .cluster')].filter(c => {
            const boxes = [...c.querySelectorAll('.node')].map(n => n.getBoundingClientRect());
            return boxes.some((a, i) => boxes.slice(i + 1).some(b => a.left < b.right - 1
                && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1));
        }).length"""
    )
    assert overlapping == 0


def test_the_overview_leads_to_the_whole_and_to_its_parts(open_page, large_report):
    page = open_page(large_report)
    inside = drawn(page, "#overview")
    across = page.locator("#overview .chips button", has_text="to ").all_inner_texts()
    parts = page.locator("#overview .cluster:not(.all)").count()
    assert page.inner_text("#shown").startswith(f"The best network in {parts} parts")
    choose(page, "optimum")
    assert page.locator("#stage").is_visible()
    for view in ("difference", "optimum"):
        choose(page, view)
        assert page.evaluate(
            """() => {
                const stage = document.getElementById("stage").getBoundingClientRect();
                return [...document.querySelectorAll("#stage .node rect")].every((one) => {
                    const box = one.getBoundingClientRect();
                    return box.left >= stage.left && box.right <= stage.right
                        && box.top >= stage.top && box.bottom <= stage.bottom;
                });
            }"""
        ), "nothing is cut off"
    page.fill("#find", "measurement_077")
    page.press("#find", "Enter")
    found = node(page, "measurement_077").locator("text")
    assert found.bounding_box()["height"] >= 8, "what is found can be read"
    directed, undirected = drawn(page)
    twice = sum(int(text.split()[0]) for text in across)  # told on both sides
    rest = len(directed) + len(undirected) - len(inside[0]) - len(inside[1])
    assert 2 * rest == twice
    choose(page, "overview")
    name = page.locator("#overview .node").first.get_attribute("aria-label")
    node(page, name, "#overview").click()
    assert page.inner_text("#target-name") == name
    page.fill("#find", "measurement_077")
    assert page.locator("#stage").is_visible()
    height = node(page, "measurement_077").locator("text").bounding_box()["height"]
    assert height >= 8, "found, and large enough to be read"


@pytest.fixture(scope="module")
def pairs_report(tmp_path_factory):
    """1 100 variables in 550 related pairs."""
    first = np.random.default_rng(2).normal(size=(60, 550))
    second = first + 0.2 * np.random.default_rng(3).normal(size=first.shape)
    names = [f"{letter}_{i:03d}" for letter in "ab" for i in range(550)]
    table = pd.DataFrame(np.hstack([first, second]), columns=names)
    path = tmp_path_factory.mktemp("report") / "pairs.html"
    kes.learn(table, runs=1, improve=False, prove=False).report(path)
    return path


def test_a_variable_of_thousands_is_found_in_its_neighbourhood(open_page, pairs_report):
    page = open_page(pairs_report)
    assert page.locator("#names option").count() == 0, "built when they are asked for"
    page.fill("#find", "_5")
    assert page.locator("#names option").count() == 50
    page.fill("#find", "b_543")
    assert page.locator("#overview").is_visible()
    found, other = node(page, "b_543", "#overview"), node(page, "a_543", "#overview")
    for one, marked in ((found, "chosen"), (other, "blanket")):
        box = one.bounding_box()
        assert 0 <= box["y"] <= page.viewport_size["height"] - box["height"]
        assert marked in one.get_attribute("class").split()
    page.locator("#target").scroll_into_view_if_needed()
    until(page, "document.getElementById('target-name')")
    assert page.inner_text("#target-name") == "b_543"
    choice = page.locator("#target-choice")
    assert choice.locator("option").count() <= 2, "those that were asked about"
    chosen = "list => list.selectedOptions[0].textContent"
    assert choice.evaluate(chosen) == "b_543"
    choice.focus()
    assert choice.locator("option").count() == 1100
    assert choice.evaluate(chosen) == "b_543"
    choice.select_option(label="a_007")
    assert page.inner_text("#target-name") == "a_007"
    page.focus("#add-evidence")
    assert page.locator("#add-evidence option").count() == 1101


# --- saving --------------------------------------------------------------------------------------


def saved(page, button):
    with page.expect_download() as download:
        page.click(button)
    return download.value.path().read_bytes()


@pytest.mark.parametrize("view", ["optimum", "consensus"])
def test_files_are_called_after_the_source_and_what_is_in_them(open_page, measured, tmp_path, view):
    measured.to_csv(tmp_path / "trial.csv", index=False)
    kes.learn(tmp_path / "trial.csv", runs=3).report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    choose(page, view)
    names = {"#save-svg": "network.svg", "#save-edges": "edges.csv", "#save-json": "network.json"}
    if view == "consensus":
        names |= {"#save-svg": "consensus.svg", "#save-edges": "edges-consensus.csv"}
    for button, name in names.items():
        with page.expect_download() as download:
            page.click(button)
        assert download.value.suggested_filename == f"trial-{name}"
        if name.startswith("edges"):
            text = download.value.path().read_text(encoding="utf-8-sig")
            assert not re.search(r"\d\.\d{7}", text), "numbers have no digits that mean nothing"


def test_pictures_can_be_saved(page):
    import xml.etree.ElementTree as ET

    root = ET.fromstring(saved(page, "#save-svg"))
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert len(texts) == 37
    assert "CATECHOL" in texts
    width, height = float(root.get("width")), float(root.get("height"))
    png = saved(page, "#save-png")
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    size = [int.from_bytes(png[at : at + 4]) for at in (16, 20)]
    assert size == pytest.approx([2 * width, 2 * height], abs=2)


@pytest.mark.parametrize("kind", ["bif", "json"])
def test_networks_are_saved_as_python_fits_them(page, optima, data, tmp_path, kind):
    page.select_option("#first", "3")
    path = tmp_path / f"network.{kind}"
    path.write_bytes(saved(page, f"#save-{kind}"))
    read, fitted = kes.read_network(path), optima[3].fit(data)
    assert (read.nodes, dict(read.states), dict(read.parents)) == (
        fitted.nodes,
        dict(fitted.states),
        dict(fitted.parents),
    )
    for name in fitted.nodes:
        assert read.cpts[name] == pytest.approx(fitted.cpts[name], abs=1e-12)


def test_gaussian_networks_are_saved_as_json_only(open_page, measured, tmp_path):
    optima = kes.learn(measured, runs=3)
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    assert page.is_hidden("#save-bif"), "a button that does nothing is none"
    path = tmp_path / "network.json"
    path.write_bytes(saved(page, "#save-json"))
    fitted = optima.best.fit(measured)
    read = kes.read_network(path)
    assert dict(read.models) == dict(fitted.models)


@pytest.mark.parametrize("number", [0, 1])
def test_what_cannot_be_saved_here_a_command_writes(
    open_page, measured, tmp_path, monkeypatch, number
):
    """The command that stands in the place of the button, as it is copied from the page."""
    monkeypatch.chdir(tmp_path)
    measured.assign(high=measured["dose"] > 10).to_csv("my trial.csv", index=False)
    learn = ["learn", "my trial.csv", "--runs", "9", "--k", "0.2", "--out", "my trial.kes.json.gz"]
    assert run(learn) == 0
    assert run(["report", "my trial.kes.json.gz", "--out", "a.html"]) == 0
    page = open_page(tmp_path / "a.html")
    page.select_option("#first", str(number))
    assert page.is_hidden("#save-bif")
    command = shlex.split(page.inner_text("#save-note code"))
    assert run(command[1:]) == 0
    optima = kes.load("my trial.kes.json.gz")
    assert kes.read_network("my trial.bif").graph == optima[number].graph


def test_without_data_a_command_names_them(open_page, measured, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    measured.to_csv("trial.csv", index=False)
    assert run(["learn", "trial.csv", "--runs", "3", "--out", "a.kes.json.gz"]) == 0
    (tmp_path / "trial.csv").rename(tmp_path / "away.csv")
    assert run(["report", "a.kes.json.gz", "--out", "a.html"]) == 0
    page = open_page(tmp_path / "a.html")
    assert page.is_hidden("#save-bif")
    assert page.is_hidden("#save-json")
    command = "kes fit a.kes.json.gz --data trial.csv --out trial.json"
    assert page.inner_text("#save-note code") == command
    (tmp_path / "away.csv").rename(tmp_path / "trial.csv")
    assert run(shlex.split(command)[1:]) == 0
