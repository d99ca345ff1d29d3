"""Search details: optima, landscape, runs, coverage."""

import csv
import io
import re

import pytest
from tests.browser.reading import drawn, rows, value

import kes


def numbers(page, column):
    return [value(row[column]) for row in rows(page)]


def test_all_models_are_listed_best_first(page, optima):
    assert len(rows(page)) == len(optima)
    scores = numbers(page, 1)
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(("heading", "column"), [("score", 1), ("hits", 2), ("edges", 4)])
def test_headings_sort_both_ways(page, heading, column):
    head = page.locator("#optima th", has_text=heading)
    for _ in range(2):
        head.locator("button").click()
        values = numbers(page, column)
        down = head.get_attribute("aria-sort") == "descending"
        assert values == sorted(values, reverse=down)
    assert len(set(values)) > 1


def test_filters_leave_what_they_promise(page, optima):
    everything = list(optima)
    page.select_option("#subset", "better")
    better = sum(optimum.score > optima.ges.score + 1e-6 for optimum in everything)
    assert len(rows(page)) == better
    assert page.inner_text("#count") == f"{better} of {len(everything)} models"
    page.select_option("#subset", "repeated")
    assert len(rows(page)) == sum(optimum.hits > 1 for optimum in everything)
    page.select_option("#subset", "all")
    a, b = sorted(optima[3].graph.directed)[0]
    for typed in (f"{a} → {b}", f"{a.lower()}->{b}", f"{b} <- {a}"):
        page.fill("#edge-filter", typed)
        assert len(rows(page)) == sum((a, b) in one.graph.directed for one in everything)


def test_a_dash_means_either_direction(page, optima):
    """Of a pair that some models direct one way, some the other, and some not at all."""
    ways = {}
    for one in optima:
        for a, b in one.graph.directed:
            ways.setdefault(frozenset((a, b)), set()).add((a, b))
        for pair in one.graph.undirected:
            ways.setdefault(pair, set()).add(None)
    a, b = sorted(max(ways, key=lambda pair: len(ways[pair])))
    expected = sum(frozenset((a, b)) in one.graph.skeleton for one in optima)
    assert len(ways[frozenset((a, b))]) > 1
    for typed in (f"{a} - {b}", f"{a}-{b}", f"{b} – {a}", f"{b} {a}", f"{a.lower()} — {b.lower()}"):
        page.fill("#edge-filter", typed)
        assert len(rows(page)) == expected, typed


def test_unknown_names_are_said_to_be_unknown(page):
    for typed in ("NOTHING", "HR -> NOTHING", "NOTHING – HR"):
        page.fill("#edge-filter", typed)
        assert rows(page) == []
        assert page.inner_text("#count") == "No variable matches “NOTHING”."


def test_a_click_on_a_row_draws_its_network(page, optima):
    row = page.locator('#optima tr[data-key="7"]')
    row.click()
    assert drawn(page) == (optima[7].graph.directed, optima[7].graph.undirected)
    assert row.get_attribute("aria-selected") == "true"
    assert page.locator('#optima tr[aria-selected="true"]').count() == 1
    assert page.inner_text("#shown").startswith("Optimum 7")
    assert page.input_value("#first") == "7"


@pytest.mark.parametrize("subset", ["all", "repeated"])
def test_the_table_is_saved_whatever_is_shown(page, optima, subset):
    page.select_option("#subset", subset)
    assert (len(rows(page)) < len(optima)) == (subset != "all")
    with page.expect_download() as download:
        page.click("#save-optima")
    text = download.value.path().read_text(encoding="utf-8-sig")
    first, *lines = csv.reader(io.StringIO(text, newline=""))
    assert first[:3] == ["no.", "score", "hits"]
    assert [int(line[0]) for line in lines] == list(range(len(optima)))
    assert [line[-1] for line in lines] == [optimum.origin for optimum in optima]


def test_models_have_one_numbering_and_tell_where_they_come_from(open_page, tmp_path):
    optima = kes.learn(kes.datasets.alarm(rows=500), k=0.2, runs=5, improve=100)
    optima.report(tmp_path / "improved.html")
    page = open_page(tmp_path / "improved.html")
    assert optima.best.hits == 0
    for row, optimum in zip(rows(page), optima, strict=True):
        number, tag = re.fullmatch(r"(\d+)\s*(\w*)", row[0]).groups()
        assert optima[int(number)] is optimum
        if not optimum.hits:
            assert tag == optimum.origin.split()[0]
    run = optima.index(optima.best_run)
    page.select_option("#first", str(run))
    assert page.inner_text("#shown").startswith(f"Optimum {run} (best run")


# --- charts --------------------------------------------------------------------------------------


def test_a_click_in_the_landscape_chooses_the_optimum(page, optima):
    dot = page.locator('#landscape circle[data-index="4"]')
    dot.dispatch_event("click")
    assert drawn(page) == (optima[4].graph.directed, optima[4].graph.undirected)
    ring = page.locator("#landscape .ring")
    for axis in ("cx", "cy"):
        assert ring.get_attribute(axis) == dot.get_attribute(axis)


def test_dots_tell_their_score_when_hovered(page, optima):
    page.locator('#landscape circle[data-index="9"]').dispatch_event("pointerover")
    tip = page.inner_text("#landscape .tooltip")
    assert "Optimum 9" in tip
    assert f"score {optima[9].score:,.4f}".replace("-", "−").replace(",", "\u202f") in tip


def test_the_area_of_a_dot_is_its_share_of_the_runs(page, optima, open_page, tmp_path):
    """On one scale for all reports: a dot of one run in 120 is small though none is larger."""

    def radii(page):
        return page.locator("#landscape .optimum").evaluate_all(
            "all => all.map(dot => [Number(dot.dataset.index), Number(dot.getAttribute('r'))])"
        )

    for index, radius in radii(page):
        expected = 30 * (optima[index].hits / len(optima.runs)) ** 0.5
        assert radius == pytest.approx(max(3.2, expected), abs=0.06)
    agreed = kes.learn(kes.datasets.alarm(rows=500).select(["HR", "BP"]), runs=4)
    agreed.report(tmp_path / "a.html")
    assert dict(radii(open_page(tmp_path / "a.html")))[0] == 30


def test_runs_are_drawn_from_best_to_worst_with_ges(page, optima):
    line = page.get_attribute("#scores .line.main >> nth=-1", "d")
    heights = [float(point.split()[1]) for point in line[1:].split("L")]
    assert heights == sorted(heights), "down is worse on a screen"
    assert len(heights) == len(optima.runs)
    assert page.locator("#scores .line.level").count() == 2, "the line, and its key"
    level = float(re.search(r" ([\d.]+)H", page.get_attribute("#scores > svg .level", "d"))[1])
    above = sum(height < level - 1e-6 for height in heights)
    assert above == sum(optima.run_scores > optima.ges.score)


def test_a_click_on_a_run_chooses_its_optimum(page, optima):
    chart = page.locator("#scores > svg")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 13, box["y"] + 60)
    assert "run " in page.inner_text("#scores .tooltip")
    page.mouse.click(box["x"] + box["width"] - 13, box["y"] + 60)
    worst = optima[int(optima.run_optima[optima.run_scores.argmin()])]
    assert drawn(page) == (worst.graph.directed, worst.graph.undirected)


def test_coverage_is_drawn(page, optima):
    for chart in ("#accumulation", "#best-so-far"):
        assert page.locator(f"{chart} > svg .line").count() >= 2
    page.locator("#accumulation > svg").hover(position={"x": 5, "y": 60})
    assert "1 run" in page.inner_text("#accumulation .tooltip")
