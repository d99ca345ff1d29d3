"""The final output of ``kes learn``, and the parts of a result that later commands use."""

import json
import re
import shlex
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.unit.show.test_report import content

import kes
from kes.analysis.certainty import LIKELY, EdgeCertainty
from kes.cli.edge_output import show_network
from kes.drawing import plot
from kes.drawing.plot import edge_widths, evidence_width


@pytest.fixture(autouse=True)
def home(cli_home, monkeypatch):
    monkeypatch.chdir(cli_home)
    return cli_home


# --- learn ---------------------------------------------------------------------------------------


def test_a_better_network_that_the_evidence_found_is_told(capsys):
    """An edge of the best network can have negative evidence, which nothing else explains."""
    optima = kes.learn("data.csv", runs=2)
    found = "On the way a model was found that is 1.7 nats better than the best of the optima"
    evidence = optima.evidence()
    show_network(optima, kes.Table(evidence.to_dict(), note=f"{evidence.note}\n{found}"), None)
    assert capsys.readouterr().out.count(found) == 1


def test_learn_ends_with_the_network(printed):
    code, out, _ = printed("learn", "data.csv", "--runs", 5)
    best = kes.learn("data.csv", runs=5).best
    assert code == 0
    assert re.search(r"^  isolated +'noise'$", out, re.M)
    [(x, y)] = map(sorted, best.graph.skeleton)
    lines = out[out.index("The best network, 1 edge,") :].splitlines()
    gain = kes.score([(x, y)], "data.csv") - kes.score([], "data.csv")
    share = kes.posterior("data.csv", criterion="bic").edge(x, y)
    numbers = [f"{share:.3f}", f"{gain:.3f}"]
    assert lines[2].split() == ["smoker", "-", "cancer", *numbers, "sure", "open", "100"]
    assert "direction: clear if" not in out  # there are none


def test_weak_edges_are_marked(printed, tmp_path):
    """The evidence of the only edge follows from its definition; more cases make it strong."""
    few = pd.DataFrame({"a": [0, 1] * 6, "b": [0, 1] * 5 + [1, 0]})
    for times, mark in ((1, True), (9, False)):
        pd.concat([few] * times).to_csv(tmp_path / "ab.csv", index=False)
        gain = kes.score([("a", "b")], tmp_path / "ab.csv") - kes.score([], tmp_path / "ab.csv")
        assert (0 < gain < LIKELY) == mark
        _, out, _ = printed("learn", tmp_path / "ab.csv", "--runs", 2)
        assert (
            bool(re.search(rf"a - b +[\d.]+ +{gain:.3f}  doubtful +open +100$", out, re.M)) == mark
        )


def part_of_alarm():
    data = kes.datasets.alarm(rows=300)
    return data.select(data.names[:8]).to_pandas()


def forty():
    return kes.datasets.random_network(40, seed=3).sample(500, seed=3).to_pandas()


def linear():
    rng = np.random.default_rng(0)
    a, b, d, e = rng.normal(size=(4, 300))
    c = 0.5 * a + 0.5 * b + rng.normal(size=300)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e + 0.15 * d})


def mixed():
    frame = linear().assign(group=lambda t: np.where(t["c"] > 0.5, "high", "low"))
    return frame.drop(columns="e")


@pytest.mark.parametrize("made", [part_of_alarm, linear, mixed, forty])
def test_everything_that_people_read_says_the_same_of_an_edge(printed, made, tmp_path, monkeypatch):
    """Learn, edges, the report and pictures have the number, status and word of Python."""
    monkeypatch.chdir(tmp_path)
    made().to_csv("table.csv", index=False)
    _, learned, _ = printed("learn", "table.csv", "--runs", 5, "--out", "a.kes.json")
    _, listed, _ = printed("edges", "a.kes.json")
    printed("report", "a.kes.json", "--out", "a.html")
    optima = kes.learn("table.csv", runs=5)
    table = optima.evidence()
    evidence = {frozenset((r["x"], r["y"])): r for r in table}
    best = optima.best.graph
    row = (
        r"^ *(\w+) (->?) (\w+) +(?:([\d.]+) +)?(-?[\d.]+)  ([a-z]+) +"
        r"(clear|uncertain|open)( \(([\d.]+))?"
    )
    for out in (learned, listed):
        shown = re.findall(row, out, re.M)
        assert {frozenset((a, b)) for a, _, b, *_ in shown} == best.skeleton
        order = [float(one[4]) for one in shown]
        assert order == sorted(order, reverse=True)
        for a, mark, b, share, nats, word, direction, _, margin in shown:
            known = evidence[frozenset((a, b))]
            assert (share != "") == ("probability" in known)
            if share:
                assert float(share) == pytest.approx(known["probability"], abs=6e-4)
            assert float(nats) == pytest.approx(known["evidence"], abs=6e-4)
            assert word == known["certainty"]
            assert (mark == "->") == ((a, b) in best.directed) == (direction != "open")
            if mark == "->":
                way = known["direction"] * (1 if known["x"] == a else -1)
                assert float(margin) == pytest.approx(way, abs=0.051)
                clear = EdgeCertainty.of(known).clear_direction != 0
                assert (direction == "clear") == (clear and way > 0)
        phrase = {"exact": "exact, as both are", "estimate": "an estimate from"}
        assert all(phrase[how] in out for how in {*table["how"]})
    assert best.skeleton
    page = content(Path("a.html").read_text())
    told = page["evidence"]
    pairs = [frozenset(page["names"][i] for i in pair) for pair in page["pairs"]]
    assert {*pairs} == {*evidence}
    for i, pair in enumerate(pairs):
        known = evidence[pair]
        assert (told["status"][i], told["verdict"][i]) == (known["how"], known["certainty"])
        assert told["nats"][i] == pytest.approx(known["evidence"], abs=0.006)
        assert told["probability"][i] == pytest.approx(known.get("probability"), abs=6e-5)
    printed("plot", "a.kes.json", "--out", "a.svg")
    full = {pair: evidence_width(one["evidence"]) for pair, one in evidence.items()}
    assert edge_widths(table, "evidence") == full
    lines = re.findall(r"stroke-width: ([\d.]+)", Path("a.svg").read_text())
    thin, wide = plot._THINNEST, plot._WIDEST
    drawn = Counter(f"{thin + (wide - thin) * full[pair]:.3f}" for pair in best.skeleton)
    assert Counter(f"{float(width):.3f}" for width in lines) >= drawn


def test_directions_are_those_of_the_best_model(printed):
    _, out, _ = printed("learn", "--example", "alarm", "--rows", 500, "--runs", 5)
    best = kes.learn(kes.datasets.alarm(rows=500), runs=5).best
    shown = set(re.findall(r"^  (\w+) (->?) (\w+) ", out, re.M))
    directed = {(a, b) for a, mark, b in shown if mark == "->"}
    undirected = {frozenset((a, b)) for a, mark, b in shown if mark == "-"}
    assert (directed, undirected) == (set(best.graph.directed), set(best.graph.undirected))


def test_a_long_network_is_cut_and_says_where_all_of_it_is(printed, tmp_path):
    kes_file = tmp_path / "long.kes.json"
    drawn = kes.datasets.random_network(90, seed=2).sample(2000, seed=2)
    columns = zip(drawn.names, drawn.states, drawn.codes, strict=True)
    table = {name: np.array(states)[codes] for name, states, codes in columns}
    pd.DataFrame(table).to_csv(tmp_path / "long.csv", index=False)
    words = ("learn", tmp_path / "long.csv", "--runs", 2, "--no-improve", "--out", kes_file)
    _, out, _ = printed(*words)
    edges = len(kes.load(kes_file).best.graph.skeleton)
    assert edges > 50
    assert f"The best network, {edges} edges" in out
    assert len(re.findall(r"^  \w+ ->? \w+ ", out, re.M)) == 50
    assert f"kes edges {kes_file}" in out[: out.index("Next:")]


def test_the_suggested_commands_can_be_given(printed, tmp_path):
    _, out, _ = printed("learn", "mixed.csv", "--runs", 3, "--out", tmp_path / "a b.json")
    commands = re.findall(r"^  [a-z ]+  kes (.*)$", out[out.index("Next:") :], re.M)
    assert len(commands) == 4
    assert re.search(r"fit .* --out .*\.network\.json", commands[2])
    assert re.search(r"query .*P\(.*\)", commands[3]), "one notation, whatever is asked for"
    for command in commands:
        if not command.startswith("report"):  # tests of its own
            code, _, err = printed(*shlex.split(command))
            assert code == 0, err


def test_with_a_target_predictions_are_suggested(printed, tmp_path):
    out = tmp_path / "a.kes.json"
    _, shown, _ = printed("learn", "data.csv", "--runs", 2, "--target", "cancer", "--out", out)
    single, average = re.findall(r"^  predict [a-z ]+  kes (.*)$", shown, re.M)
    assert printed(*shlex.split(average))[0] == 0
    assert len(kes.read_network(tmp_path / "a.average.json").members) == 20
    code, found, _ = printed(*shlex.split(single.replace("TABLE --out predicted.csv", "data.csv")))
    assert code == 0
    assert found.startswith("cancer,")


def test_the_suggested_fit_has_the_parameter_prior_that_was_chosen(printed, tmp_path):
    """Of 30 cases of independent coins, the smoothest tables predict best."""
    coins = np.random.default_rng(0).integers(0, 2, (30, 3))
    pd.DataFrame(coins).add_prefix("v").to_csv(tmp_path / "coins.csv", index=False)
    out = tmp_path / "a.kes.json"
    _, shown, _ = printed("learn", tmp_path / "coins.csv", "--criterion", "auto", "--out", out)
    assert kes.load(out).choice.estimation == {"prior": "bdeu", "ess": 5.0}
    assert f"kes fit {out} --ess 5 --out" in shown


def test_certify_is_suggested_only_where_it_works(printed, tmp_path):
    """All sets of 30 continuous columns would have to be counted."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(200, 30))
    wide[:, 1:] += wide[:, :-1]
    pd.DataFrame(wide).add_prefix("v").to_csv(tmp_path / "wide.csv", index=False)
    for table, works in ((tmp_path / "wide.csv", False), ("data.csv", True)):
        out = tmp_path / "a.kes.json"
        out.unlink(missing_ok=True)
        _, shown, _ = printed("learn", table, "--no-prove", "--out", out)
        assert (f"kes certify {out}" in shown) == works
        assert (printed("certify", out)[0] == 0) == works


def test_a_budget_bounds_the_evidence_too(printed):
    """Nothing is left of it after the search: the models that were found bound the evidence."""
    words = ("--example", "alarm", "--rows", 500, "--budget", "0.05s", "--no-improve")
    code, out, _ = printed("learn", *words)
    assert code == 0
    assert "upper bound, as no better network without the edge was searched for" in out
    table = out[out.index("The best network") : out.index("evidence: nats")]
    assert " sure " not in table
    assert "clear" not in table


def test_a_network_without_edges_is_told_in_words(printed, tmp_path):
    pd.DataFrame({"a": [0, 0, 1, 1] * 9, "b": [0, 1] * 18}).to_csv(tmp_path / "ab.csv", index=False)
    code, out, _ = printed("learn", tmp_path / "ab.csv", "--runs", 1, "--out", tmp_path / "a.json")
    assert code == 0
    assert (
        "The best network has no edges: under this criterion, all variables are independent." in out
    )
    assert "kes query" in out


def test_relations_that_are_not_linear_are_not_denied(printed, tmp_path):
    """A parabola: linearly independent, and yet the one is a function of the other."""
    x = np.linspace(-1, 1, 101)
    pd.DataFrame({"x": x, "y": x**2}).to_csv(tmp_path / "xy.csv", index=False)
    _, out, _ = printed("learn", tmp_path / "xy.csv", "--runs", 1)
    assert "the variables have no linear relations (--discretize 3 finds others)" in out
    _, out, _ = printed("learn", tmp_path / "xy.csv", "--runs", 1, "--discretize", 3)
    assert "1 edge" in out


def test_required_edges_have_a_worth_too(printed):
    """A required edge may have no evidence."""
    code, out, _ = printed("learn", "data.csv", "--runs", 2, "--require", "noise,cancer")
    assert code == 0
    assert re.search(r"^  noise -> cancer +1.000 +inf  required +by knowledge +100$", out, re.M)


# --- the data are found again --------------------------------------------------------------------


def test_the_file_is_found_by_its_name(printed):
    code, out, err = printed("edges", "data.kes.json.gz", "--tasks", 1)
    assert (code, err) == (0, "")
    assert "evidence" in out


def test_a_result_remembers_how_the_file_was_read(printed):
    cases = pd.read_csv("holes.csv", sep=";", na_values="?").dropna()[["smoker", "cancer"]]
    network = kes.fit(kes.load("holes.kes.json.gz").best.graph, cases)
    code, out, err = printed("query", "holes.kes.json.gz", "P(cancer=yes)")
    assert (code, err) == (0, "")
    weighted = float(out.split()[-1])
    assert weighted == pytest.approx(network.probability({"cancer": "yes"}), abs=2e-3)
    code, out, err = printed("score", "holes.csv", "holes.kes.json.gz")
    assert (code, err) == (0, "")
    assert float(out.split()[0]) == pytest.approx(kes.load("holes.kes.json.gz").best.score)


def test_the_file_is_found_beside_the_result_wherever_that_is(printed, home, tmp_path, monkeypatch):
    for name in ("data.csv", "data.kes.json.gz"):
        (tmp_path / name).write_bytes((home / name).read_bytes())
    monkeypatch.chdir(tmp_path.parent)
    code, _, err = printed("query", tmp_path / "data.kes.json.gz", "P(cancer)")
    assert (code, err) == (0, "")


@pytest.mark.parametrize("changed", [False, True])
def test_a_file_that_is_gone_or_changed_is_named(printed, home, tmp_path, monkeypatch, changed):
    result = tmp_path / "data.kes.json.gz"
    result.write_bytes((home / "data.kes.json.gz").read_bytes())
    monkeypatch.chdir(tmp_path)
    why = f"{result} was learned from data.csv, which was not found"
    if changed:
        lines = (home / "data.csv").read_text().splitlines(keepends=True)
        (tmp_path / "data.csv").write_text("".join(lines[:-1]))
        why = f"data.csv no longer holds the data of {result} (the rows or their weights"
    code, out, err = printed("query", result, "P(cancer)")
    assert (code, out) == (2, "")
    assert why in err
    assert "--data FILE" in err
    code, out, err = printed("edges", result)
    assert code == 0, "supports can be told without"
    assert "search_support" in out
    assert why in err
    assert printed("query", result, "P(cancer)", "--data", home / "data.csv")[0] == 0


def test_a_folder_to_look_for_the_data_is_the_only_place(printed, home, tmp_path, monkeypatch):
    """In the current folder the file would be found; a link could lead elsewhere."""
    monkeypatch.chdir(home)
    question = ("query", "data.kes.json.gz", "P(cancer)", "--data", tmp_path)
    assert printed(*question[:-2])[0] == 0
    code, _, err = printed(*question)
    assert code == 2
    assert f"which was not found in {tmp_path}" in err
    (tmp_path / "data.csv").symlink_to(home / "data.csv")
    assert printed(*question)[0] == 2
    (tmp_path / "data.csv").unlink()
    (tmp_path / "data.csv").write_bytes((home / "data.csv").read_bytes())
    assert printed(*question)[0] == 0


def test_the_example_is_drawn_again(printed, tmp_path):
    words = ("--example", "alarm", "--rows", 200, "--runs", 2, "--out", tmp_path / "a.json")
    assert printed("learn", *words)[0] == 0
    network = kes.load(tmp_path / "a.json").best.fit(kes.datasets.alarm(rows=200))
    _, out, _ = printed("query", tmp_path / "a.json", "P(CVP=LOW)")
    assert float(out.split()[-1]) == pytest.approx(network.probability({"CVP": "LOW"}), abs=1e-6)


def test_python_remembers_the_file_as_well(tmp_path):
    kes.learn("data.csv", runs=1).save(tmp_path / "a.json")
    assert kes.load(tmp_path / "a.json").record.reading.source == "data.csv"


def test_a_table_can_be_written_in_full(printed):
    code, out, _ = printed("edges", "data.kes.json.gz", "--tasks", 1, "--out", "edges.csv")
    rows = [*kes.load("data.kes.json.gz").evidence(tasks=1, data="data.csv")]
    assert (code, out) == (0, f"edges.csv: {len(rows)} rows\n")
    written = pd.read_csv("edges.csv")
    for own, row in zip(written.itertuples(), rows, strict=True):
        assert (own.x, own.y) == (row["x"], row["y"])
        assert own.evidence == row["evidence"]
        assert own.probability == row["probability"]


def test_evidence_counts_its_questions_and_keeps_what_it_has_after_ctrl_c(printed):
    """Nothing is searched before the first report, so that the models at hand are all there is."""

    def stop(progress):
        assert (progress.done, progress.wanted, progress.unit) == (0, 3, "questions")
        raise KeyboardInterrupt

    optima = kes.load("data.kes.json.gz")
    with pytest.raises(kes.Interrupted) as caught:
        optima.evidence(data="data.csv", progress=stop)
    assert "It ended after 0 of 3 questions" in caught.value.evidence.note
    assert caught.value.evidence["how"][0] == "upper bound"


# --- for programs that run the command ---


def test_a_program_can_watch_a_search_and_get_nothing_printed(printed, tmp_path):
    out, watched = tmp_path / "a.kes.json.gz", tmp_path / "progress"
    words = ["learn", "--example", "alarm", "--rows", "200", "--runs", "5", "--no-improve"]
    watching = ["--progress-file", watched, "--quiet"]
    assert printed(*words, "--out", out, *watching)[:2] == (0, "")
    states = [json.loads(line) for line in watched.read_text().splitlines()]
    assert states[-1]["done"] == states[-1]["wanted"] == 5
    loud = tmp_path / "b.kes.json.gz"
    assert printed(*words, "--out", loud)[0] == 0
    assert out.read_bytes() == loud.read_bytes()


def test_quiet_without_a_file_is_refused(printed):
    code, _, complaint = printed("learn", "data.csv", "--quiet")
    assert code == 2
    assert "--out" in complaint


def test_names_with_commas_are_quoted(printed, tmp_path):
    table = tmp_path / "t.csv"
    rows = "\n".join(f"{i % 2},{i % 3},{i % 5}" for i in range(60))
    table.write_text(f'"a, or b",c,d\n{rows}\n')
    out = tmp_path / "a.kes.json"
    words = ["learn", table, "--drop", '"a, or b"', "--discrete", 'c,"d"', "--runs", 2]
    assert printed(*words, "--out", out)[0] == 0
    assert set(kes.load(out).record.reading.kinds) == {"a, or b", "c", "d"}
