"""The display in notebooks, without one: tests/docs runs notebooks, tests/browser frames."""

from html.parser import HTMLParser

import pytest
from tests.unit.refused import refused

import kes
from kes.show.report import report_text


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=300)


@pytest.fixture(scope="module")
def optima(data):
    return kes.learn(data, runs=10, improve=40, prove=False)


class Frame(HTMLParser):
    """Attributes of the frames of a page, as a browser would read them."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "iframe":
            self.found.append(dict(attrs))


def test_the_frame_holds_the_report_as_it_is(optima, data):
    shown = optima.show(height=500, title='A "quoted" <title> & more')
    [frame] = Frame(shown._repr_html_()).found
    assert frame["srcdoc"] == report_text(optima, {"title": 'A "quoted" <title> & more'})
    assert "height: 500px" in frame["style"]


def test_the_frame_can_reach_nothing_around_it(optima):
    [frame] = Frame(optima.show()._repr_html_()).found
    assert set(frame["sandbox"].split()) == {"allow-scripts", "allow-downloads"}
    assert not {"src", "name"} & set(frame)


def test_outside_notebooks_it_says_what_to_do(optima):
    assert "optima.report(" in repr(optima.show())


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"height": 10}, "100"),
        ({"heigth": 500}, "did you mean height"),
        ({"titel": "x"}, "did you mean title"),
    ],
)
def test_mistakes_are_named(optima, options, word):
    with refused(word, option=next(iter(options))):
        optima.show(**options)


def test_an_optimum_says_where_it_comes_from(optima):
    run = optima.best_run
    assert f"found by {run.hits} run" in run._repr_html_()
    assert f"first by run {run.first_run}" in run._repr_html_()
    improved = next(o for o in optima if not o.hits)
    assert improved.origin in improved._repr_html_()
    assert "found by" not in improved._repr_html_()
    assert f"{improved.score:.4f}" in improved._repr_html_()


def test_a_comparison_is_a_sentence_and_a_table(optima):
    found = optima.compare(optima.ges)
    shown = found._repr_html_()
    assert f"SHD {found.shd}" in shown
    assert shown.count("<tr>") == found.shd + 1


def test_a_consensus_is_drawn(optima, monkeypatch):
    pytest.importorskip("pygraphviz")
    graph = optima.consensus(0.5)
    edges = len(graph.directed) + len(graph.undirected)
    assert graph._repr_html_().count("<path") == edges
    monkeypatch.setattr("kes.analysis.support.picture", lambda *_: None)  # as without Graphviz
    assert graph._repr_html_().count("<tr>") == edges + 1
