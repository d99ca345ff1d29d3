"""The table of edges."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from tests.browser.reading import choose, rows, value

import kes
from kes.analysis.certainty import ERRORS, LIKELY
from kes.analysis.deletion_loss import edge_worth


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A result with all that can be known of its edges."""
    names = ["HR", "BP", "CO", "TPR", "CATECHOL", "HRBP", "HREKG", "HRSAT"]
    data = kes.datasets.alarm(rows=400).select(names)
    known = kes.Knowledge(required=[("HR", "HRBP")])
    optima = kes.learn(data, runs=10, knowledge=known)
    evidence = optima.evidence(tasks=2)
    stability = kes.stability(data, resamples=4, runs=2)
    path = tmp_path_factory.mktemp("edges") / "a.html"
    optima.report(path, evidence=evidence, stability=stability)
    return path, optima, evidence


def untagged(edge):
    """Return the text of an edge without the tag behind it."""
    return re.sub("(doubtful|unlikely|replaceable)$", "", edge)


def column(page, label):
    heads = page.locator("#edges th").all_inner_texts()
    at = next(i for i, head in enumerate(heads) if head.startswith(label))
    return [row[at] for row in rows(page, "#edges")]


def test_evidence_and_worth_are_those_of_python(open_page, told):
    path, optima, evidence = told
    page = open_page(path)
    nats = {frozenset((row["x"], row["y"])): row["evidence"] for row in evidence}
    worth = edge_worth(optima.best.graph, optima.problem)
    edges = [untagged(text) for text in column(page, "edge")]
    pairs = [frozenset(edge.replace(" – ", " → ").split(" → ")) for edge in edges]
    assert set(pairs) == set(optima.best.graph.skeleton)
    for pair, shown, loss in zip(
        pairs, column(page, "evidence"), column(page, "worth"), strict=True
    ):
        # A required edge has no rival without it.
        finite = abs(nats[pair]) < 1e300
        assert value(shown) == pytest.approx(nats[pair], abs=0.06) if finite else shown == ""
        assert value(loss) == pytest.approx(worth[pair], abs=0.06)


def test_directions_by_knowledge_are_told_apart(open_page, told):
    path, optima, _ = told
    page = open_page(path)
    known = {f"{a} → {b}" for a, b in optima.best.mpdag.known_directions}
    assert known
    pairs = zip(column(page, "edge"), column(page, "direction"), strict=True)
    shown = {untagged(edge) for edge, how in pairs if how == "by knowledge"}
    assert shown == known
    assert page.locator("#stage .edge.known").count() == len(known)


@pytest.mark.parametrize("label", ["evidence", "worth", "resampling", "search", "relative"])
def test_every_column_sorts_both_ways(open_page, told, label):
    page = open_page(told[0])
    head = page.locator("#edges th", has_text=label)
    for _ in range(2):
        head.locator("button").click()
        shown = [value(text) for text in column(page, label) if text]
        down = head.get_attribute("aria-sort") == "descending"
        assert shown == sorted(shown, reverse=down)


def test_the_weakest_come_first_on_a_click(open_page, told):
    page = open_page(told[0])
    page.click("#weakest")
    shown = [value(text) for text in column(page, "evidence") if text]
    assert shown == sorted(shown)
    page.click("#strongest")
    shown = [value(text) for text in column(page, "evidence") if text]
    assert shown == sorted(shown, reverse=True)


def test_an_edge_in_words_says_what_the_table_says(open_page, told):
    path, _, evidence = told
    page = open_page(path)
    page.click("#weakest")
    page.locator("#edges tbody tr").first.click()
    words = page.inner_text("#edge-description")
    first = rows(page, "#edges")[0]
    assert words.startswith(untagged(first[0]))
    weakest = min(row["evidence"] for row in evidence if row["evidence"] >= 0)
    assert f"{weakest:.1f} nats worse" in words
    assert "of the runs ended in a network with the edge" in words
    assert "of the resampled tables" in words
    assert page.locator("#stage .edge.picked").count() == 1


def test_rows_can_be_chosen_with_the_keyboard(open_page, told):
    page = open_page(told[0])
    page.focus("#edges tr[tabindex='0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.inner_text("#edge-description").startswith(untagged(rows(page, "#edges")[1][0]))


def test_the_table_is_saved_as_it_is_shown(open_page, told):
    page = open_page(told[0])
    page.click("#weakest")
    with page.expect_download() as download:
        page.click("#save-edges")
    text = download.value.path().read_text(encoding="utf-8-sig")
    first, *lines = csv.reader(io.StringIO(text, newline=""))
    assert first[:5] == ["edge", "direction", "BIC weight", "evidence", "worth"]
    assert [line[0] for line in lines] == [untagged(e) for e in column(page, "edge")]


@pytest.mark.parametrize("view", ["optimum", "difference"])
def test_a_filter_does_not_shorten_what_is_saved(open_page, told, view):
    page = open_page(told[0])
    choose(page, view)
    edges = [untagged(edge) for edge in column(page, "edge")]
    names = {name for edge in edges for name in edge.split(" ")[::2]}
    page.fill("#edges-of", min(sorted(names), key=lambda name: sum(name in edge for edge in edges)))
    assert 0 < len(rows(page, "#edges")) < len(edges)
    with page.expect_download() as download:
        page.click("#save-edges")
    text = download.value.path().read_text(encoding="utf-8-sig")
    head, *lines = csv.reader(io.StringIO(text, newline=""))
    assert {line[head.index("edge")] for line in lines} == set(edges)


def test_edges_of_numbers_have_coefficients(open_page, measured, tmp_path):
    optima = kes.learn(measured, runs=3)
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    network = optima.best.fit(measured)
    shown = dict(zip(column(page, "edge"), column(page, "coefficient"), strict=True))
    table = network.coefficients("total")
    for term, estimate, error in zip(*(table[name] for name in table.columns), strict=True):
        if term == "(intercept)":
            continue
        [text] = [text for edge, text in shown.items() if {term, "total"} == set(edge.split(" → "))]
        found = [value(part) for part in text.strip(")").replace(" (", " to ").split(" to ")]
        ends = [estimate, estimate - 1.96 * error, estimate + 1.96 * error]
        assert found == pytest.approx(ends, rel=2e-3, abs=2e-3)


def test_the_table_shows_only_the_edges_of_a_variable(open_page, told):
    path, optima, _ = told
    page = open_page(path)
    graph = optima.best.mpdag
    shown = {
        "HR": {edge for edge in graph.skeleton if "HR" in edge},
        "HR -> HRBP": {edge for edge in graph.skeleton if edge == {"HR", "HRBP"}},
        "HRBP -> HR": set(),
        "HRBP - HR": {edge for edge in graph.skeleton if edge == {"HR", "HRBP"}},
    }
    for typed, expected in shown.items():
        page.fill("#edges-of", typed)
        edges = [untagged(text) for text in column(page, "edge")]
        found = {frozenset(edge.replace(" – ", " → ").split(" → ")) for edge in edges}
        assert found == expected, typed
        assert page.inner_text("#edges-count").startswith(f"{len(expected)} of ")
    page.fill("#edges-of", "zzz")
    assert page.inner_text("#edges-count") == "No variable matches “zzz”."
    page.fill("#edges-of", "")
    assert len(rows(page, "#edges")) == len(graph.skeleton)


def test_sure_goes_by_evidence(open_page, told):
    path, optima, evidence = told
    page = open_page(path)
    best = optima.best.graph.skeleton
    nats = [r["evidence"] for r in evidence if frozenset((r["x"], r["y"])) in best]
    finite = [one for one in nats if one < 1e300]
    summary = page.inner_text("#edges-summary")
    assert f"{sum(one >= 10 for one in finite)} sure (at least 10 nats)" in summary
    assert f"{sum(3 <= one < 10 for one in finite)} likely (3 to 10 nats)" in summary
    assert f"{sum(-3 < one < 3 for one in finite)} doubtful (-3 to 3 nats)" in summary
    assert "1 required by background knowledge" in summary
    assert page.inner_text("#evidence-note").startswith("Evidence is exact")


def test_without_evidence_nothing_is_called_sure(open_page, optima, tmp_path):
    optima.report(tmp_path / "a.html", evidence=False)
    page = open_page(tmp_path / "a.html")
    summary = page.inner_text("#edges-summary")
    worth = edge_worth(optima.best.graph, optima.problem).values()
    costly = sum(nats >= 10 for nats in worth)
    assert f"{costly} of {len(worth)} edges: removing the edge alone costs at least 10" in summary
    assert "Whether other edges could replace it was not examined" in summary
    assert "sure" not in summary
    assert "--evidence" in page.inner_text("#evidence-note")
    assert page.locator("#edges .tag").count() == 0
    heads = page.locator("#edges th").all_inner_texts()
    terms = page.locator("#certainty .terms dt:visible")
    page.click("#certainty summary")
    assert "Evidence" not in terms.all_inner_texts()
    assert len(terms.all_inner_texts()) == len(heads) - 1, "all but the edge itself"


def test_full_arrowheads_are_those_of_clear_directions(open_page, told):
    path, optima, evidence = told
    page = open_page(path)
    nats = {(r["x"], r["y"]): r["direction"] for r in evidence}
    sure = {
        frozenset((r["x"], r["y"]))
        for r in evidence
        if r["evidence"] >= 10 and r["direction_error"] is not None
        if abs(r["direction"]) >= ERRORS * r["direction_error"]
    }
    clear = 0
    for a, b in optima.best.mpdag.directed:
        title = page.locator(f"title:text('{a} → {b}')")
        look = page.locator("#stage .edge", has=title).get_attribute("class")
        own = nats[a, b] if (a, b) in nats else nats[b, a] and -nats[b, a]
        is_clear = {a, b} in sure and own is not None and own >= 10
        is_clear = is_clear or (a, b) in optima.best.mpdag.by_knowledge
        assert ("uncertain" not in look) == is_clear
        clear += is_clear
    assert f"direction clear for {clear}" in page.inner_text(".card:first-child")
    assert page.inner_text("#shown").endswith(f"direction clear for {clear}")
    assert "direction uncertain" in page.inner_text("#legend")


def test_the_consensus_has_its_supports(page, optima):
    choose(page, "consensus")
    page.select_option("#support", "search")
    expected = optima.consensus(0.5)
    assert page.locator("#edges tbody tr").count() == len(expected.directed | expected.undirected)


def test_the_consensus_goes_by_evidence(page, optima):
    """At first, all edges of the best network that are at least likely."""
    choose(page, "consensus")
    best = optima.best.graph.skeleton
    nats = [r["evidence"] for r in optima.evidence() if {r["x"], r["y"]} in best]
    for least in (int(LIKELY), 20):
        if least != LIKELY:
            page.fill("#threshold", str(least))
        count = sum(one >= least for one in nats)
        assert page.locator("#edges tbody tr").count() == count
        assert page.locator("#stage .edge").count() == count
        assert page.inner_text("#threshold-value") == f"{least} nats"
        assert page.inner_text("#shown") == (
            f"Consensus: {count} edges with at least {least} nats of evidence"
        )


def test_an_edge_that_a_twin_can_replace_is_tagged_and_explained(open_page, tmp_path):
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 600)
    second = np.where(rng.random(600) < 0.01, 1 - first, first)
    effect = np.where(rng.random(600) < 0.2, 1 - first, first)
    frame = pd.DataFrame({"first": first, "second": second, "effect": effect}).astype(str)
    kes.learn(frame, runs=5).report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    [tagged] = [edge for edge in column(page, "edge") if edge.endswith("replaceable")]
    assert "effect" in tagged
    page.click("#weakest")
    page.locator("#edges tbody tr").first.click()
    other = "second" if "first" in tagged else "first"
    words = page.inner_text("#edge-description")
    assert f"only because other edges can take its place: {other} - effect." in words
