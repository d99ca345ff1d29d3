"""``kes query``: questions as one writes them, and the answers of networks of all kinds."""

import sys

import numpy as np
import pandas as pd
import pytest

import kes
from kes.cli.query import parse, word


@pytest.fixture(autouse=True)
def home(cli_home, monkeypatch):
    monkeypatch.chdir(cli_home)
    return cli_home


def test_query_tells_what_the_network_says(printed):
    network = kes.load("data.kes.json.gz").best.fit("data.csv")
    _, out, _ = printed("query", "data.kes.json.gz", "P(cancer | smoker=yes)", "cancer=yes")
    blocks = out.split("\n\n")
    shown = dict(line.split() for line in blocks[0].splitlines()[1:])
    expected = network.probability("cancer", {"smoker": "yes"})
    assert {state: float(p) for state, p in shown.items()} == pytest.approx(expected, abs=1e-6)
    yes = network.probability({"cancer": "yes"})
    assert float(blocks[1].split()[-1]) == pytest.approx(yes, abs=1e-6)


def test_no_extra_is_needed(printed, monkeypatch):
    questions = ("P(cancer | smoker=yes)", "P(noise=a, cancer=no)")
    _, expected, _ = printed("query", "data.kes.json.gz", *questions)
    monkeypatch.setitem(sys.modules, "pyagrum", None)
    code, out, err = printed("query", "data.kes.json.gz", *questions)
    assert (code, out, err) == (0, expected, "")


def test_query_of_numbers_tells_mean_and_deviation(printed):
    """By the normal equations of a regression, which a network of two nodes is."""
    table = pd.read_csv("numbers.csv")
    design = np.column_stack([np.ones(400), table["dose"]])
    beta, [rest], *_ = np.linalg.lstsq(design, table["effect"], rcond=None)
    _, out, _ = printed("query", "numbers.kes.json.gz", "effect | dose=1.5")
    shown = dict(line.split() for line in out.splitlines()[1:])
    assert float(shown["mean"]) == pytest.approx(beta @ [1, 1.5], rel=2e-2)
    assert float(shown["deviation"]) == pytest.approx((rest / 398) ** 0.5, rel=2e-2)


def test_query_of_both_kinds_tells_its_error(printed):
    network = kes.load("mixed.kes.json.gz").best.fit("mixed.csv")
    words = ("query", "mixed.kes.json.gz", "effect | smoker=yes", "P(smoker | effect=4)")
    _, out, _ = printed(*words, "--draws", 5000, "--seed", 3)
    mean = network.conditional("effect", {"smoker": "yes"}, draws=5000, seed=3)
    assert f"mean       {mean.mean[0]:.6g}" in out
    found = network.probability("smoker", {"effect": 4.0}, draws=5000, seed=3)
    assert all(str(p) in out or f"{p.value:.6f}" in out for p in found.values())


def test_query_says_what_its_error_is_and_where_the_data_differ(printed, tmp_path):
    """Draws from a normal distribution differ from the states; tables reproduce their shares."""
    rng = np.random.default_rng(0)
    x = rng.exponential(4, 3000) ** 2
    high = x > 1 + rng.random(3000) * 9
    frame = pd.DataFrame({"x": x, "c": np.where(high, "high", "low")})
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = tmp_path / "t.kes.json"
    known = ("--tiers", "x;c", "--runs", 2)
    assert printed("learn", tmp_path / "t.csv", *known, "--out", result)[0] == 0
    line = "± is the standard error of the simulation"
    _, out, _ = printed("query", result, "P(c)", "c=low", "P(c | x=3)")
    all_states, one, given = (block.splitlines() for block in out.split("\n\n")[:3])
    shares = f"in the data: high {high.mean():.3f}, low {1 - high.mean():.3f}; kes report"
    assert all_states[-1].strip().startswith(shares)
    assert one[-1].strip().startswith(f"in the data: low {1 - high.mean():.3f}; kes report")
    assert not any("in the data" in text for text in given)
    assert out.count(line) == 1
    _, out, _ = printed("query", "data.kes.json.gz", "P(cancer)")
    assert line not in out
    assert "in the data" not in out


def test_query_takes_numbers_for_intervals(printed):
    _, by_number, _ = printed("query", "cut.kes.json.gz", "P(smoker | dose=-9)")
    states = kes.load("cut.kes.json.gz").states["dose"]
    _, by_name, _ = printed("query", "cut.kes.json.gz", f'P(smoker | dose="{states[0]}")')
    assert by_number.splitlines()[1:] == by_name.splitlines()[1:]


@pytest.mark.parametrize("suffix", [".bif", ".net", ".xmlbif"])
def test_files_without_cuts_take_numbers_for_intervals(printed, tmp_path, suffix):
    """States are called as the intervals, and these names say where the cuts are."""
    file = tmp_path / f"mixed{suffix}"
    assert printed("fit", "mixed.kes.json.gz", "--out", file)[0] == 0
    states = kes.read_network(file).states
    for number, state in ((-99, states["dose"][0]), (99, states["dose"][-1])):
        questions = f"P(effect | dose={number})", f'P(effect | dose="{state}")'
        _, out, err = printed("query", file, *questions, f"P(dose={number})", f'P(dose="{state}")')
        assert not err
        by_number, by_name, one, other = (part.splitlines()[1:] for part in out.split("\n\n"))
        assert by_number == by_name
        assert one == other


@pytest.mark.parametrize(
    ("question", "complaint"),
    [
        ("P(cancr)", "did you mean 'cancer'?"),
        ("P(cancer | smoker)", "'smoker' has no value"),
        ("P(cancer | )", "is incomplete"),
        ("P()", "is incomplete"),
        ("P(cancer", "no closing parenthesis"),
        ("cancer given smoker", "no variable 'cancer given smoker'; write it as \"P(cancer | "),
        ("P(cancer, smoker)", "'cancer' has no state"),
        ("P(cancer | cancer=yes)", "both target and evidence"),
        ("P(cancer | smoker=yes, smoker=no)", "'smoker' occurs twice"),
        ("P(cancer | smoker=maybe)", "has no state 'maybe', only 'no', 'yes'"),
        ("P(cancer | smoker=yes | noise=a)", "cannot parse '| noise=a'"),
    ],
)
def test_questions_that_are_none(printed, question, complaint):
    code, out, err = printed("query", "data.kes.json.gz", question)
    assert (code, out) == (2, "")
    assert complaint in err


def test_ranges(printed):
    """As the network answers the same question in Python."""
    network = kes.load("numbers.kes.json.gz").best.fit("numbers.csv")
    questions = "P(effect>1 | dose>=-1, dose<0.5)", "effect | dose>1"
    _, out, err = printed("query", "numbers.kes.json.gz", *questions)
    assert not err
    within = {"dose": kes.Range(at_least=-1, below=0.5)}
    share = network.probability({"effect": kes.Range(above=1)}, within)
    assert out.splitlines()[1].strip() == f"{share.value:.6f}"
    mean = network.conditional("effect", {"dose": kes.Range(above=1)}).mean[0]
    assert f"mean       {mean:.6g}" in out


@pytest.mark.parametrize("question", ["P(dose>a)", "P(dose>1, dose>2)", "P(dose>1, dose=2)"])
def test_ranges_that_are_none(printed, question):
    code, out, err = printed("query", "numbers.kes.json.gz", question)
    assert (code, out) == (2, "")
    assert "'dose'" in err


def test_a_continuous_value_has_no_probability(printed):
    assert "ask for its mean" in printed("query", "numbers.kes.json.gz", "P(dose=1)")[2]
    assert "is not a number" in printed("query", "numbers.kes.json.gz", "dose | effect=high")[2]


@pytest.mark.parametrize("name", ["a", "a b", "a|b", "x=1", "p(x)", "it's", "1,5", "<= 2", "-3.5"])
def test_names_can_be_quoted(name):
    network = kes.BayesianNetwork([name], {name: [name, "z"]}, {name: []}, {name: [0.25, 0.75]})
    asked = parse(f"P({word(name)}={word(name)})", network)
    assert asked.target == {name: name}


def test_a_graph_has_no_probabilities(printed, tmp_path):
    (tmp_path / "g.dot").write_text("digraph { smoker -> cancer }")
    code, _, err = printed("query", tmp_path / "g.dot", "P(cancer)")
    assert code == 2
    assert "kes fit" in err
