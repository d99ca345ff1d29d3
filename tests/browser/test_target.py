"""Asking about a variable: what the page computes is what Python computes."""

import math

import numpy as np
import pandas as pd
import pytest
from tests.browser.reading import rows, value

import kes


def shares(page, selector):
    """Return the probabilities behind the bars, with all digits."""
    found = page.locator(f"{selector} .state-row").evaluate_all(
        "all => all.map(row => Number(row.dataset.share))"
    )
    return np.array(found)


def target(page):
    return shares(page, "#answers .sides > div:first-child")


def card(page, name):
    return page.locator("#answers .variable", has=page.locator(f"h4 bdi:text-is('{name}')"))


def set_state(page, name, state):
    bar = f".state-row[data-state='{state}']"
    if not card(page, name).count():
        page.select_option("#add-evidence", label=name)
    card(page, name).locator(bar).click()


def distribution(network, name, evidence):
    return np.array([*network.probability(name, evidence).values()])


def test_answers_are_exact(page, optima, data):
    """Against Python's own exact inference, all variables in turn, given more and more."""
    network = optima.best.fit(data)
    rng = np.random.default_rng(0)
    evidence = {}
    for name in rng.permutation(list(network.nodes))[:9].tolist():
        page.select_option("#target-choice", label=name)
        given = {other: state for other, state in evidence.items() if other != name}
        assert target(page) == pytest.approx(distribution(network, name, given), abs=1e-9)
        other = str(rng.choice([one for one in network.nodes if one not in (name, *evidence)]))
        code = int(rng.integers(len(network.states[other])))
        set_state(page, other, code)
        evidence[other] = network.states[other][code]
        given = {other: state for other, state in evidence.items() if other != name}
        assert target(page) == pytest.approx(distribution(network, name, given), abs=1e-9)
        shown = float(page.get_attribute("#given-cases", "data-logarithm"))
        assert shown == pytest.approx(math.log(network.probability(given)), abs=1e-8)


def test_models_beside_the_best_answer_by_their_own_tables(page, optima, data):
    page.select_option("#first", "7")
    page.select_option("#target-choice", label="BP")
    network = optima[7].fit(data)
    set_state(page, "TPR", 0)
    given = {"TPR": network.states["TPR"][0]}
    assert target(page) == pytest.approx(distribution(network, "BP", given), abs=1e-9)


def test_what_is_set_can_be_forgotten(page, optima, data):
    page.select_option("#target-choice", label="BP")
    before = target(page)
    set_state(page, "TPR", 0)
    assert card(page, "TPR").locator("[aria-pressed=true]").count() == 1
    assert not np.allclose(target(page), before)
    set_state(page, "TPR", 0)  # again: no longer
    assert target(page) == pytest.approx(before, abs=1e-12)
    set_state(page, "TPR", 1)
    card(page, "TPR").locator(".forget").click()
    assert target(page) == pytest.approx(before, abs=1e-12)
    set_state(page, "CO", 1)
    page.click("#clear-evidence")
    assert target(page) == pytest.approx(before, abs=1e-12)


def test_states_are_set_with_the_keyboard(page):
    page.select_option("#target-choice", label="BP")
    card(page, "TPR").locator(".state-row").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "false"


def test_what_would_change_it_most_is_mutual_information(page, optima, data):
    network = optima.best.fit(data)
    page.select_option("#target-choice", label="HR")
    own = distribution(network, "HR", {})
    table = page.locator("#answers .wide", has_text="tells (nats)")
    names = table.locator("tbody td:first-child").all_inner_texts()
    tells = table.locator("td.share").evaluate_all("all => all.map(c => Number(c.dataset.tells))")
    expected = {}
    for name in network.nodes:
        if name != "HR":
            information = 0.0
            for state, share in network.probability(name).items():
                given = distribution(network, "HR", {name: state})
                information += share * float(given @ np.log(given / own))
            expected[name] = information
    best = sorted(expected, key=lambda name: -expected[name])[: len(names)]
    assert names == best
    assert tells == pytest.approx([expected[name] for name in best], abs=1e-9)


def test_the_blanket_leads_from_variable_to_variable(page, optima):
    page.select_option("#target-choice", label="CATECHOL")
    graph = optima.best.graph
    assert set(page.locator("#answers .chips button").all_inner_texts()) == graph.markov_blanket(
        "CATECHOL"
    )
    parents = page.locator("#answers p:text-is('Parents') + .chips button").all_inner_texts()
    assert set(parents) == {a for a, b in graph.directed if b == "CATECHOL"}
    other = page.locator("#answers .chips button").first
    name = other.inner_text()
    other.click()
    assert page.inner_text("#target-name") == name


# --- tables --------------------------------------------------------------------------------------


def test_probabilities_have_the_cases_behind_them(page, optima, data):
    network = optima.best.fit(data)
    name = max(network.nodes, key=lambda one: network.cpts[one].size)
    page.select_option("#target-choice", label=name)
    heads = page.locator("#answers .wide").last.locator("th").all_inner_texts()
    assert heads == [*network.parents[name], *map(str, network.states[name]), "cases"]
    table = network.cpt(name)
    frame = data.to_pandas()
    counts = frame.groupby(list(network.parents[name]), observed=False).size()
    few = 0
    for shown, row in zip(rows(page, "#answers .wide:last-of-type"), table, strict=True):
        parents = [row[parent] for parent in network.parents[name]]
        assert shown[: len(parents)] == list(map(str, parents))
        cases = int(counts.loc[tuple(parents) if len(parents) > 1 else parents[0]])
        assert value(shown[-1].removesuffix("few")) == cases
        assert shown[-1].endswith("few") == (cases < 5)
        few += cases < 5
        chances = [float(cell) for cell in shown[len(parents) : -1]]
        assert chances == pytest.approx([*row.values()][len(parents) :], abs=1e-4)
    assert few


def test_without_data_it_says_how_to_get_numbers(open_page, optima, tmp_path):
    optima.save(tmp_path / "a.kes.json.gz")
    kes.load(tmp_path / "a.kes.json.gz").report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    page.select_option("#target-choice", label="HR")
    said = page.inner_text("#answers")
    assert 'optima[0].fit(data).cpt("HR")' in said
    assert "data=data" in said
    assert page.is_disabled("#save-bif")


# --- numbers -------------------------------------------------------------------------------------


def test_gaussian_answers_are_those_of_the_closed_form(open_page, measured, tmp_path):
    optima = kes.learn(measured, runs=3)
    effects = optima.effects("dose", "cost")
    optima.report(tmp_path / "a.html", effects=effects)
    page = open_page(tmp_path / "a.html")
    network = optima.best.fit(measured)
    evidence = {}
    page.select_option("#target-choice", label="cost")
    for name, number in (("dose", 12.5), ("total", 9.0), ("alone", 1.0), ("effect", 3.25)):
        if not card(page, name).count():
            page.select_option("#add-evidence", label=name)
        card(page, name).locator("input").fill(str(number))
        card(page, name).locator("input").press("Enter")
        evidence[name] = number
        found = network.conditional("cost", evidence)
        shown = page.locator("#target-moments")
        assert float(shown.get_attribute("data-mean")) == pytest.approx(found.mean[0], rel=1e-9)
        deviation = float(shown.get_attribute("data-deviation"))
        assert deviation == pytest.approx(found.covariance[0, 0] ** 0.5, rel=1e-7)
    page.click("#clear-evidence")
    card(page, "effect").locator(".touch").nth(3).click()
    low, high = measured["effect"].min(), measured["effect"].max()
    middle = low + (high - low) * 3.5 / 16
    assert float(card(page, "effect").locator("input").input_value()) == pytest.approx(
        middle, rel=1e-3, abs=1e-3
    )
    said = page.inner_text("#answers")
    assert effects.change in said
    assert "Assumed, and not shown by data" in said


def test_gaussian_influence_is_the_share_of_variance(open_page, measured, tmp_path):
    optima = kes.learn(measured, runs=3)
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    page.select_option("#target-choice", label="cost")
    joint = optima.best.fit(measured).joint
    at = {name: i for i, name in enumerate(joint.nodes)}
    correlation = joint.covariance / np.sqrt(
        np.outer(np.diag(joint.covariance), np.diag(joint.covariance))
    )
    table = page.locator("#answers .wide", has_text="variance explained")
    for name, tells in zip(
        table.locator("tbody td:first-child").all_inner_texts(),
        table.locator("td.share").evaluate_all("all => all.map(c => Number(c.dataset.tells))"),
        strict=True,
    ):
        assert tells == pytest.approx(correlation[at["cost"], at[name]] ** 2, rel=1e-6)


def test_coefficients_have_intervals(open_page, measured, tmp_path):
    optima = kes.learn(measured, runs=3)
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    page.select_option("#target-choice", label="total")
    table = optima.best.fit(measured).coefficients("total")
    shown = rows(page, "#answers .wide:last-of-type")
    assert [row[0] for row in shown] == list(table["term"])
    for cells, row in zip(shown, table, strict=True):
        width = 1.96 * row["standard_error"]
        ends = [row["coefficient"], row["coefficient"] - width, row["coefficient"] + width]
        assert [value(cell) for cell in cells[1:]] == pytest.approx(ends, rel=2e-3, abs=2e-3)


def test_of_a_mixed_network_the_tables_can_be_asked(open_page, tmp_path):
    rng = np.random.default_rng(2)
    sex = rng.choice(["f", "m"], 500)
    smoker = np.where(rng.random(500) < np.where(sex == "m", 0.7, 0.2), "yes", "no")
    weight = 60 + 12 * (sex == "m") + rng.normal(0, 4, 500)
    frame = pd.DataFrame({"sex": sex, "smoker": smoker, "weight": weight})
    optima = kes.learn(frame, runs=3)
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    network = optima.best.fit(frame)
    if network.parents["smoker"] == ("sex",):
        target_name, other = "smoker", "sex"
    else:
        target_name, other = "sex", "smoker"
    page.select_option("#target-choice", label=target_name)
    set_state(page, other, 1)
    given = {other: network.states[other][1]}
    expected = [one.value for one in network.probability(target_name, given).values()]
    assert target(page) == pytest.approx(expected, abs=1e-9)
    page.select_option("#target-choice", label="weight")
    assert "standard error" in page.inner_text("#answer-note")
    assert page.locator("#answers svg.histogram").count() == 1


def test_networks_too_entangled_say_so_and_answer_what_they_can(
    open_page, optima, data, tmp_path, monkeypatch
):
    """With little room for numbers, ALARM is such a network."""
    from kes.show.report import script

    plain = script.template

    def cramped(name):
        return plain(name).replace("MOST_CELLS = 2 ** 20", "MOST_CELLS = 150")

    monkeypatch.setattr(script, "template", cramped)
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    network = optima.best.fit(data)
    page.select_option("#target-choice", label="KINKEDTUBE")
    assert "its Markov blanket and what is above them" in page.inner_text("#answer-note")
    expected = distribution(network, "KINKEDTUBE", {})
    assert target(page) == pytest.approx(expected, abs=1e-9)
    page.select_option("#target-choice", label="BP")
    assert "ask Python" in page.inner_text("#answer-note")
    assert page.locator("#answers .variable").count() == 0
