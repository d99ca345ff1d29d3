"""Asking about a variable: what the page computes is what Python computes."""

import math

import numpy as np
import pandas as pd
import pytest
from tests.browser.reading import rows, until, value
from tests.unit.network.test_huge_tables import STATES, dense

import kes

INFORMATION = "cells => cells.map(cell => Number(cell.dataset.information))"


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
    card(page, "TPR").locator(".clear").click()
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
    table = page.locator("#answers .wide", has_text="information (nats)")
    names = table.locator("tbody td:first-child").all_inner_texts()
    tells = table.locator("td.share").evaluate_all(INFORMATION)
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
    assert "Assumptions that data cannot confirm" in said


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
        table.locator("td.share").evaluate_all(INFORMATION),
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


@pytest.fixture(scope="module")
def people():
    """All kinds of dependence: tables, linear ones on states and numbers, and log-odds."""
    rng = np.random.default_rng(2)
    sex = rng.choice(["f", "m"], 800)
    smoker = np.where(rng.random(800) < np.where(sex == "m", 0.7, 0.2), "yes", "no")
    weight = 60 + 12 * (sex == "m") + rng.normal(0, 4, 800)
    pulse = 80 - 0.3 * weight + 9 * (smoker == "yes") + rng.normal(0, 3, 800)
    ill = np.where(rng.random(800) < 1 / (1 + np.exp(-(pulse - 62))), "yes", "no")
    columns = {"sex": sex, "smoker": smoker, "weight": weight, "pulse": pulse, "ill": ill}
    frame = pd.DataFrame(columns)
    known = kes.Knowledge(
        tiers=[["sex"], ["smoker", "weight"], ["pulse"], ["ill"]],
        forbidden=[(name, "ill") for name in ("sex", "smoker", "weight")],
    )
    return frame, kes.learn(frame, runs=3, knowledge=known)


def set_number(page, name, number):
    if not card(page, name).count():
        page.select_option("#add-evidence", label=name)
    card(page, name).locator("input").fill(str(number))
    card(page, name).locator("input").press("Enter")


def test_mixtures_are_answered_exactly(open_page, people, tmp_path):
    frame, optima = people
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    network = optima.best.fit(frame)
    assert network.parents["ill"] == ("pulse",)
    page.select_option("#target-choice", label="pulse")
    given = {}
    for step in range(3):
        if step == 1:
            set_state(page, "smoker", 1)
            given["smoker"] = "yes"
        if step == 2:
            set_number(page, "weight", 77.5)
            given["weight"] = 77.5
        found = network.conditional("pulse", given)
        assert found.error[0] == 0, "exact in Python too"
        shown = page.locator("#target-moments")
        assert float(shown.get_attribute("data-mean")) == pytest.approx(found.mean[0], rel=1e-9)
        deviation = float(shown.get_attribute("data-deviation"))
        assert deviation == pytest.approx(found.deviation[0], rel=1e-9)
        assert page.get_attribute("#how-found", "data-exact") == "true"
    page.select_option("#target-choice", label="sex")
    set_number(page, "pulse", 55)
    expected = network.probability("sex", given | {"pulse": 55.0}).values()
    assert target(page) == pytest.approx([one.value for one in expected], abs=1e-9)


def test_what_is_no_mixture_is_simulated(open_page, people, tmp_path):
    frame, optima = people
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    network = optima.best.fit(frame)
    page.select_option("#target-choice", label="weight")
    set_state(page, "ill", 1)
    assert page.get_attribute("#how-found", "data-exact") == "false"
    assert " ± " in page.inner_text("#target-moments")
    assert "standard error of the simulation" in page.inner_text("#how-found")
    found = network.conditional("weight", {"ill": "yes"}, draws=200_000)
    mean = float(page.get_attribute("#target-moments", "data-mean"))
    # 4000 draws, of which about half are in effect: a standard error of about 0.15.
    assert mean == pytest.approx(found.mean[0], abs=0.75)
    deviation = float(page.get_attribute("#target-moments", "data-deviation"))
    assert deviation == pytest.approx(found.deviation[0], rel=0.1)
    page.select_option("#target-choice", label="ill")
    page.click("#clear-evidence")
    set_state(page, "sex", 0)
    [_, yes] = network.probability("ill", {"sex": "f"}, draws=200_000).values()
    assert target(page)[1] == pytest.approx(yes.value, abs=0.05)
    again = target(page)
    page.click("#clear-evidence")
    set_state(page, "sex", 0)
    assert (target(page) == again).all(), "equal questions have equal answers"
    names = page.locator("#answers .wide", has_text="information (nats)").locator("td:first-child")
    assert names.first.inner_text() == "pulse", "its only parent tells most"


def test_too_few_draws_give_no_answer(open_page, people, tmp_path, monkeypatch):
    from kes.show.report import bundle

    plain = bundle.template
    monkeypatch.setattr(
        bundle,
        "template",
        lambda name: plain(name).replace("MIN_EFFECTIVE = 30;", "MIN_EFFECTIVE = 1e9;"),
    )
    people[1].report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    page.select_option("#target-choice", label="ill")
    assert "too few for an answer" in page.inner_text("#too-few")
    assert page.locator("#target-moments").count() == 0
    page.select_option("#target-choice", label="pulse")
    assert page.get_attribute("#how-found", "data-exact") == "true", "needs no draws"


def test_the_question_is_told_for_the_shell(open_page, people, tmp_path, monkeypatch, capsys):
    """The command is given, and answers with what the page says."""
    import shlex

    from kes.cli import run

    frame, _ = people
    monkeypatch.chdir(tmp_path)
    frame.rename(columns={"pulse": "pulse (1/min)"}).to_csv("people.csv", index=False)
    assert run(["learn", "people.csv", "--runs", "3", "--out", "my people.kes.json.gz"]) == 0
    assert run(["report", "my people.kes.json.gz", "--out", "a.html"]) == 0
    page = open_page(tmp_path / "a.html")
    page.select_option("#target-choice", label="sex")
    set_state(page, "smoker", 1)
    set_number(page, "pulse (1/min)", 60)
    command = shlex.split(page.inner_text("#query"))
    capsys.readouterr()
    assert run(command[1:]) == 0
    told = capsys.readouterr().out
    lines = {line.split()[0]: float(line.split()[1]) for line in told.splitlines()[1:]}
    assert [lines["f"], lines["m"]] == pytest.approx(target(page), abs=0.05)


def test_a_variable_without_parents_is_not_linear_in_them(open_page, measured, tmp_path):
    optima = kes.learn(measured, runs=3)
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    page.select_option("#target-choice", label="alone")
    said = page.inner_text("#answers")
    assert "linear" not in said
    assert "The distribution is normal" in said


def test_networks_too_entangled_say_so_and_answer_what_they_can(
    open_page, optima, data, tmp_path, monkeypatch
):
    """With little room for numbers, ALARM is such a network."""
    from kes.show.report import bundle

    plain = bundle.template

    def cramped(name):
        return plain(name).replace("MAX_CELLS = 2 ** 20", "MAX_CELLS = 150")

    monkeypatch.setattr(bundle, "template", cramped)
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    network = optima.best.fit(data)
    page.select_option("#target-choice", label="KINKEDTUBE")
    assert "its Markov blanket and their ancestors" in page.inner_text("#answer-note")
    expected = distribution(network, "KINKEDTUBE", {})
    assert target(page) == pytest.approx(expected, abs=1e-9)
    page.select_option("#target-choice", label="BP")
    assert "so does the part around this variable" in page.inner_text("#answer-note")
    assert page.locator("#answers .variable").count() == 0


def test_huge_tables_are_refused(open_page, tmp_path):
    """The page says so, and shows the shares of the data, where answers need huge tables."""
    table = dense(parents=3, states=STATES[:3], seed=5).sample(4000, seed=1)
    kes.learn(table, runs=1, improve=False, prove=False).report(
        tmp_path / "huge.html", data=table, evidence=False
    )
    page = open_page(tmp_path / "huge.html")
    refused = 0
    for name in table.names[::6]:
        page.select_option("#target-choice", label=name)
        until(page, "document.body.innerText.includes('Exact inference in the whole network')")
        if "so does the part around this variable" in page.inner_text("body"):
            refused += 1
            assert not page.locator("#answers .variable").count()  # nothing can be set
            assert target(page) == pytest.approx(table.state_shares(name))
    assert refused
