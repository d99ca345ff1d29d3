"""The criteria that were tried, in a report."""

import re

import pytest

import kes


@pytest.fixture(scope="module")
def chosen():
    data = kes.datasets.alarm_network().sample(60, seed=5).select(["TPR", "BP", "CO", "HR"])
    return kes.learn(data, criterion="auto", runs=2, improve=False)


def test_a_report_shows_all_that_was_tried(chosen, tmp_path):
    chosen.report(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    part = page[page.index("parameter prior were chosen") :]
    assert str(chosen.choice.candidates[0]) in part[: part.index("</summary>")]
    rows = re.findall(r"<tr>(.*?)</tr>", part[: part.index("</details>")])[1:]
    shown = [[float(x) for x in re.findall(r"<td>(-?[\d.]+)(?: |<)", row)] for row in rows]
    expected = [[one.edge_prior, one.per_case, one.difference] for one in chosen.choice.candidates]
    assert shown[0] == pytest.approx(expected[0][:2], abs=0.01)
    for found, one in zip(shown[1:], expected[1:], strict=True):
        assert found == pytest.approx(one, rel=0.01, abs=1e-4)


def test_without_a_choice_there_is_no_table(tmp_path):
    data = kes.datasets.alarm_network().sample(60, seed=5).select(["TPR", "BP"])
    kes.learn(data, runs=1, improve=False).report(tmp_path / "a.html")
    assert "were chosen" not in (tmp_path / "a.html").read_text(encoding="utf-8")
