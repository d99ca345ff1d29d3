"""Asking about a variable: averages over models beside the best network."""

import numpy as np
import pytest
from tests.browser.test_target import distribution, set_number, set_state

import kes


def averaged(page):
    """Return the numbers of the table: averages and spreads."""
    cells = page.locator("#average td[data-average]")
    read = "all => all.map(one => [Number(one.dataset.average), Number(one.dataset.spread)])"
    return np.array(cells.evaluate_all(read)).T


def test_the_average_answers_beside_the_best_network(open_page, tmp_path):
    data = kes.datasets.alarm(rows=300)
    optima = kes.learn(data, runs=3, improve=False, target="CVP")
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    average, given = optima.ensemble(members=10), {}
    for target_name, name, code in (("CVP", "HYPOVOLEMIA", 0), ("BP", "TPR", 1), ("HR", "CO", 2)):
        page.select_option("#target-choice", label=target_name)
        set_state(page, name, code)
        given[name] = average.states[name][code]
        means, spreads = averaged(page)
        assert means == pytest.approx(distribution(average, target_name, given), abs=1e-9)
        expected = average.spread(target_name, given)
        assert spreads == pytest.approx([*expected.values()], abs=1e-9)
    assert "average of 10 networks" in page.inner_text("#average thead")


def test_averages_of_numbers_are_mixtures(open_page, measured, tmp_path):
    optima = kes.learn(measured, runs=3, target="cost")
    optima.report(tmp_path / "a.html")
    page = open_page(tmp_path / "a.html")
    average = optima.ensemble(members=10)
    set_number(page, "dose", 12.5)
    set_number(page, "total", 9.0)
    found = average.conditional("cost", {"dose": 12.5, "total": 9.0})
    (mean, deviation), (spread, _) = averaged(page)
    assert mean == pytest.approx(found.mean[0], rel=1e-8)
    assert deviation == pytest.approx(found.covariance[0, 0] ** 0.5, rel=1e-7)
    assert 0 <= spread < deviation
    page.click("#clear-evidence")
    again = averaged(page)[0][0]
    assert again == pytest.approx(average.conditional("cost").mean[0], rel=1e-8)


def test_without_a_target_there_is_no_average(page):
    assert page.locator("#average").count() == 0
