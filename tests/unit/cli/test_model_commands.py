"""Commands about results, networks and graphs: what they print and write is what Python gives."""

import csv
import io
import os
import stat
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.analysis.compare import compare_graphs


@pytest.fixture(autouse=True)
def home(cli_home, monkeypatch):
    monkeypatch.chdir(cli_home)
    return cli_home


# --- fit, convert --------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif", ".net", ".json", ".bif.gz"])
@pytest.mark.parametrize("command", [["fit"], ["convert"]])
def test_a_result_becomes_a_network(printed, tmp_path, command, suffix):
    out = tmp_path / f"best{suffix}"
    words = ["--out", out] if command == ["fit"] else [out]
    code, shown, err = printed(*command, "data.kes.json.gz", *words)
    assert (code, err) == (0, "")
    expected = kes.load("data.kes.json.gz").best.fit("data.csv")
    found = kes.read_network(out)
    assert found.arcs == expected.arcs
    for node in expected.nodes:
        assert found.cpts[node] == pytest.approx(expected.cpts[node])
    assert repr(expected) in shown


def test_a_network_is_called_as_its_table_and_says_what_others_refuse(printed, tmp_path):
    pyagrum = pytest.importorskip("pyagrum")
    table, result, out = tmp_path / "my trip.csv", tmp_path / "r.kes.json", tmp_path / "n.bif"
    table.write_text("site,x,y\n" + "h,a,b\nh,b,a\nh,a,b\nh,b,b\n" * 3)
    assert printed("learn", table, "--runs", 1, "--out", result)[0] == 0
    for words in (["fit", result, "--out", out], ["convert", result, out]):
        code, _, err = printed(*words)
        assert code == 0
        assert "a single state: 'site'" in err
        assert "kes learn --drop site" in err
        assert out.read_text().startswith("network my_trip {")
    with pytest.raises(pyagrum.GumException):  # the premise of the note
        pyagrum.loadBN(str(out))
    assert "only one state" not in printed("fit", result, "--out", tmp_path / "n.json")[2]
    without = tmp_path / "s.kes.json"
    assert printed("learn", table, "--drop", "site", "--runs", 1, "--out", without)[0] == 0
    assert printed("fit", without, "--out", out)[2] == ""
    pyagrum.loadBN(str(out))


def test_fit_takes_other_optima_and_priors(printed, tmp_path):
    optima = kes.load("data.kes.json.gz")
    last = len(optima) - 1
    words = ("--optimum", last, "--prior", "ml", "--out", tmp_path / "a.json")
    assert printed("fit", "data.kes.json.gz", *words)[0] == 0
    assert kes.read_network(tmp_path / "a.json") == optima[last].fit("data.csv", prior="ml")
    code, _, err = printed("fit", "data.kes.json.gz", "--optimum", last + 1)
    assert code == 2
    assert f"0 to {last}" in err
    assert printed("fit", "data.kes.json.gz", "--prior", "flat")[0] == 2


def test_fit_cuts_the_data_as_it_is_told(printed, tmp_path):
    """Cuts into other numbers of intervals do not give the data of the result."""
    rng = np.random.default_rng(0)
    table = tmp_path / "c.csv"
    np.savetxt(table, rng.normal(size=(50, 2)), delimiter=",", header="a,b", comments="")
    result = tmp_path / "c.kes.json"
    assert printed("learn", table, "--discretize", 3, "--runs", 1, "--out", result)[0] == 0
    assert printed("fit", result, "--data", table, "--discretize", 3)[0] == 0
    code, _, err = printed("fit", result, "--data", table, "--discretize", 4)
    assert code == 2
    assert "not the data that the result comes from" in err


def test_fit_takes_a_graph(printed, tmp_path):
    graph = kes.EssentialGraph.from_dag(["smoker", "cancer", "noise"], [("smoker", "noise")])
    (tmp_path / "g.dot").write_text("digraph { smoker -> noise; cancer }")
    words = ("--data", "data.csv", "--out", tmp_path / "a.json")
    assert printed("fit", tmp_path / "g.dot", *words)[0] == 0
    assert kes.read_network(tmp_path / "a.json").graph == graph
    code, _, err = printed("fit", tmp_path / "g.dot")
    assert code == 2
    assert "--data FILE" in err


def test_a_continuous_network_keeps_its_transform_and_cuts(printed, tmp_path):
    assert printed("fit", "cut.kes.json.gz", "--out", tmp_path / "cut.json")[0] == 0
    network = kes.read_network(tmp_path / "cut.json")
    assert set(network.discretizer.cuts) == {"dose"}
    assert isinstance(network, kes.MixedNetwork)
    ranks = ("--transform", "ranks", "--runs", 2, "--out", tmp_path / "ranks.kes.json")
    assert printed("learn", "numbers.csv", *ranks)[0] == 0
    assert printed("fit", tmp_path / "ranks.kes.json", "--out", tmp_path / "r.json")[0] == 0
    assert kes.read_network(tmp_path / "r.json").transform is not None


@pytest.mark.parametrize("suffix", [".dot", ".graphml"])
def test_a_result_becomes_a_graph(printed, tmp_path, suffix):
    assert printed("convert", "data.kes.json.gz", tmp_path / f"g{suffix}")[0] == 0
    assert kes.read_graph(tmp_path / f"g{suffix}") == kes.load("data.kes.json.gz").best.graph


@pytest.mark.skipif(os.name != "posix", reason="permissions as Unix has them")
def test_a_file_that_is_replaced_keeps_its_permissions(printed, tmp_path):
    for words in (["fit", "data.kes.json.gz", "--out"], ["sample", "data.kes.json.gz", "--out"]):
        out = tmp_path / ("a.bif" if words[0] == "fit" else "a.csv")
        out.write_text("old")
        out.chmod(0o640)
        assert printed(*words, out)[0] == 0
        assert stat.S_IMODE(out.stat().st_mode) == 0o640


def test_continuous_columns_are_cut_for_files_that_hold_states(printed):
    """The same as fitting the best graph to the table cut into thirds."""
    code, _, err = printed("fit", "mixed.kes.json.gz", "--out", "mixed.bif")
    assert code == 0
    assert "cut into 3" in err
    best, table = kes.load("mixed.kes.json.gz").best, pd.read_csv("mixed.csv")
    expected = kes.fit(best.graph, kes.discretize(table, bins=3))
    found = kes.read_network("mixed.bif")
    for node in found.nodes:
        assert list(map(str, found.states[node])) == list(map(str, expected.states[node]))
        assert found.cpts[node] == pytest.approx(expected.cpts[node], abs=1e-9)


def test_a_picture_is_called_as_its_model(printed):
    assert printed("plot", "data.kes.json.gz")[:2] == (0, "Saved to data.svg\n")


def test_help_is_a_command_too(printed):
    assert printed("help") == printed("--help")
    assert printed("help", "edges") == printed("edges", "--help")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["fit", "data.kes.json.gz", "--out", "a.dot"], "DOT files hold no probabilities"),
        (["fit", "data.kes.json.gz", "--out", "a.txt"], "cannot tell the format"),
        (["fit", "none.kes.json.gz"], "there is no file 'none.kes.json.gz' (looked in"),
        (["fit", "data.csv"], "not a model; learn one first: kes learn data.csv"),
        (["report", "data.csv"], "not a model; learn one first: kes learn data.csv"),
        (["audit", "data.kes.json.gz"], "not a table; its table is data.csv"),
        (["learn", "data.kes.json.gz"], "not a table; its table is data.csv"),
        (["learn", "data.csv", "--out", "a.bif"], "call it a.kes.json.gz. Networks are written by"),
        (["learn", "data.csv", "--runs", "abc"], "'abc' is not a valid integer"),
        (["convert", "data.kes.json.gz", "a.txt"], "cannot tell the format"),
        (["sample", "data.kes.json.gz", "--out", "a.xlsx"], "written as .csv or .csv.gz"),
        (["plot", "data.kes.json.gz", "--out", "a.txt"], "must be one of .svg"),
        (["report", "data.kes.json.gz", "--out", "x.pdf"], "a report is an HTML file"),
        (["score", "none.csv", "data.kes.json.gz"], "none.csv"),
        (["compare", "data.kes.json.gz", "numbers.kes.json.gz"], "different variables"),
        (["compare", "data.kes.json.gz"], "Missing argument 'THERE'"),
        (["stability", "data.kes.json.gz", "--fraction", "1"], "--fraction 1 of 400 cases"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
        (["edges", "data.kes.json.gz", "--out", "a.xlsx"], "written as .csv or .csv.gz"),
    ],
)
def test_what_cannot_be_done_is_explained(printed, words, complaint):
    code, out, err = printed(*words)
    assert (code, out) == (2, "")
    assert complaint in err


# --- sample, score, compare ----------------------------------------------------------------------


def test_sample_is_the_same_as_in_python(printed, tmp_path):
    expected = kes.load("mixed.kes.json.gz").best.fit("mixed.csv").sample(20, seed=4)
    words = ("sample", "mixed.kes.json.gz", "--rows", 20, "--seed", 4)
    _, out, _ = printed(*words)
    rows = list(csv.reader(io.StringIO(out)))
    assert tuple(rows[0]) == expected.names
    smoker, dose, effect = expected.columns
    assert [row[0] for row in rows[1:]] == [smoker.states[code] for code in smoker.codes]
    assert [float(row[1]) for row in rows[1:]] == dose.values.tolist()
    assert [float(row[2]) for row in rows[1:]] == effect.values.tolist()
    _, told, _ = printed(*words, "--out", tmp_path / "new.csv")
    assert told == f"{tmp_path / 'new.csv'}: 20 cases\n"
    assert (tmp_path / "new.csv").read_text() == out


def test_score_is_the_same_as_in_python(printed, tmp_path):
    optima = kes.load("data.kes.json.gz")
    _, out, _ = printed("score", "data.csv", "data.kes.json.gz")
    assert float(out.split()[0]) == pytest.approx(optima.best.score, abs=1e-4)
    (tmp_path / "g.dot").write_text("digraph { smoker -> noise; cancer }")
    _, out, _ = printed("score", "data.csv", tmp_path / "g.dot", "--criterion", "aic")
    expected = kes.score([("smoker", "noise")], "data.csv", criterion="aic")
    assert float(out.split()[0]) == pytest.approx(expected, abs=1e-4)
    assert " aic of " in out


@pytest.mark.parametrize("suffix", [".bif", ".json"])
def test_networks_of_intervals_score_numbers_as_the_intervals(printed, tmp_path, suffix):
    table = pd.read_csv("mixed.csv")
    kes.discretize(table, bins=3).to_csv(tmp_path / "cut.csv", index=False)
    assert printed("fit", "mixed.kes.json.gz", "--out", tmp_path / "mixed.bif")[0] == 0
    network = tmp_path / f"mixed{suffix}"
    if suffix == ".json":
        best = kes.load("mixed.kes.json.gz").best
        best.fit(table, discretize=3).save(network)
    found = [printed("score", data, network) for data in ("mixed.csv", tmp_path / "cut.csv")]
    numbers, intervals = ([line.split()[0] for line in out.splitlines()] for _, out, _ in found)
    assert numbers == intervals
    assert len(numbers) == 2, "score and logarithm of the probability"
    assert float(numbers[0]) == pytest.approx(
        kes.score(kes.load("mixed.kes.json.gz").best.graph, tmp_path / "cut.csv"), abs=1e-4
    )


@pytest.mark.parametrize("model", ["mixed.bif", "cut.kes.json.gz"])
def test_numbers_are_cut_whatever_is_done_about_gaps(printed, tmp_path, model):
    """To drop a row is as if it had not been there, for the score as for the intervals."""
    table = pd.read_csv("mixed.csv")
    table[1:].to_csv(tmp_path / "rest.csv", index=False)
    table.loc[0, "smoker"] = None
    table.to_csv(tmp_path / "gap.csv", index=False)
    if model.endswith(".bif"):
        assert printed("fit", "mixed.kes.json.gz", "--out", tmp_path / model)[0] == 0
        model = tmp_path / model
    found = [
        printed("score", tmp_path / "gap.csv", model, "--missing", "drop"),
        printed("score", tmp_path / "rest.csv", model),
    ]
    gap, rest = ([line.split()[0] for line in out.splitlines()] for _, out, _ in found)
    assert gap == rest != []


def test_columns_are_what_the_model_knows_them_for(printed, tmp_path):
    """In ten rows all values of a text may differ, which does not make an identifier of it."""
    rng = np.random.default_rng(4)
    town = rng.integers(0, 10, 400)
    train = pd.DataFrame({"town": [f"t{i}" for i in town], "side": np.where(town < 5, "l", "r")})
    train.to_csv(tmp_path / "train.csv", index=False)
    new = pd.DataFrame({"town": [f"t{i}" for i in range(10)], "side": ["l"] * 5 + ["r"] * 5})
    new.to_csv(tmp_path / "new.csv", index=False)
    result = tmp_path / "a.kes.json"
    assert printed("learn", tmp_path / "train.csv", "--runs", 2, "--out", result)[0] == 0
    expected = kes.score(kes.load(result).best.graph, new, kinds={"town": "discrete"})
    code, out, err = printed("score", tmp_path / "new.csv", result)
    assert (code, err) == (0, "")
    assert float(out.split()[0]) == pytest.approx(expected, abs=1e-4)


def test_columns_that_a_rule_leaves_out_by_now_stay_what_they_were(printed, tmp_path, monkeypatch):
    """A result knows its columns; graphs and options do not, and then it is said what to do."""
    monkeypatch.chdir(tmp_path)
    side = np.random.default_rng(5).integers(0, 2, 300)
    table = {"name": [f"n{i % 190}" for i in range(300)], "side": side, "hand": 1 - side}
    pd.DataFrame(table).to_csv("a.csv", index=False)
    with monkeypatch.context() as earlier:
        earlier.setattr("kes.data.infer_kinds._MANY_NAMES", 300)
        assert printed("learn", "a.csv", "--runs", 2, "--out", "a.kes.json")[0] == 0
    assert "name" in kes.load("a.kes.json").names
    for words in (
        "certify a.csv --result a.kes.json",
        "score a.csv a.kes.json",
        "fit a.kes.json --out a.bif",
        "score a.csv a.bif",
        "edges a.kes.json --data a.csv",
        "edges a.kes.json --data a.csv --missing NA",
        "report a.kes.json --out a.html",
        "convert a.kes.json a.dot",
    ):
        code, _, err = printed(*words.split())
        assert (code, "left out" in err) == (0, False), words
    with refused("kinds=", option="data", column="name"):
        kes.load("a.kes.json").effects("side", "hand", data=kes.data.encode("a.csv"))
    for words in (
        "score a.csv a.dot",
        "fit a.dot --data a.csv --out b.bif",
        "learn a.csv --runs 4 --out a.kes.json",
    ):
        code, _, err = printed(*words.split())
        [error] = [line for line in err.splitlines() if line.startswith("Error: ")]
        assert (code, "to use it: --discrete name" in error) == (2, True), words
        assert printed(*words.split(), "--discrete", "name")[0] == 0


def test_columns_that_were_dropped_need_not_be_there(printed, tmp_path):
    table = pd.read_csv("data.csv")
    table.assign(id=range(len(table))).to_csv(tmp_path / "a.csv", index=False)
    result = tmp_path / "a.kes.json"
    words = ("--drop", "id", "--runs", 2, "--out", result)
    assert printed("learn", tmp_path / "a.csv", *words)[0] == 0
    found = [
        printed("score", data, result)[1].split()[0] for data in (tmp_path / "a.csv", "data.csv")
    ]
    assert found[0] == found[1]


def test_score_of_a_network_tells_the_probability_of_the_cases(printed, tmp_path):
    for name in ("data", "cut"):
        assert printed("fit", f"{name}.kes.json.gz", "--out", tmp_path / "a.json")[0] == 0
        source = "mixed.csv" if name == "cut" else "data.csv"
        _, out, err = printed("score", source, tmp_path / "a.json")
        assert err == ""
        log = kes.read_network(tmp_path / "a.json").log_likelihood(source)
        assert float(out.splitlines()[1].split()[0]) == pytest.approx(log, abs=1e-4)


def test_compare_tells_the_differences(printed, tmp_path):
    (tmp_path / "g.dot").write_text("digraph { smoker -> noise; cancer }")
    best = kes.load("data.kes.json.gz").best
    other = kes.read_graph(tmp_path / "g.dot")
    _, out, _ = printed("compare", "data.kes.json.gz", tmp_path / "g.dot")
    expected = compare_graphs(best.graph, other)
    assert str(expected) in " ".join(out.split())
    assert repr(expected.table()) in out
    difference = kes.score(other, "data.csv") - best.score
    assert f"score {difference:+.4f}" in " ".join(out.split()), (
        "the data are available, so it can be computed"
    )
    _, out, _ = printed("compare", tmp_path / "g.dot", "data.kes.json.gz")
    assert str(compare_graphs(other, best.graph)) in " ".join(out.split())
    _, out, _ = printed("compare", "data.kes.json.gz", "data.kes.json.gz")
    assert out.startswith("SHD 0: ")
    assert "found by both" in " ".join(out.split())


# --- stability, plot, completion -----------------------------------------------------------------


def test_stability_repeats_the_search_of_the_result(printed):
    found = kes.stability("data.csv", resamples=4, runs=2).edges()
    words = ("stability", "data.kes.json.gz", "--resamples", 4, "--runs", 2)
    _, out, err = printed(*words)
    assert err == ""
    rows = [line.split() for line in out.splitlines()[1 : len(found) + 1]]
    assert [(r[0], r[1], float(r[2])) for r in rows] == [
        (r["x"], r["y"], round(r["resampling_support"], 3)) for r in found
    ]
    assert "4 tables of 200 cases each" in out


@pytest.mark.parametrize(
    ("name", "start"),
    [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.dot", b"digraph")],
)
def test_plot_writes_what_the_name_says(printed, tmp_path, name, start):
    pytest.importorskip("pygraphviz")
    assert printed("plot", "data.kes.json.gz", "--out", tmp_path / name)[0] == 0
    first = (tmp_path / name).read_bytes()
    assert first.startswith(start)
    assert printed("plot", "data.kes.json.gz", "--out", tmp_path / name)[0] == 0
    assert (tmp_path / name).read_bytes() == first, "the same result gives the same picture"


@pytest.mark.parametrize("what", ["scores", "coverage", "landscape"])
def test_plot_shows_the_runs(printed, tmp_path, what):
    assert printed("plot", "data.kes.json.gz", "--of", what, "--out", tmp_path / "a.svg")[0] == 0
    (tmp_path / "g.dot").write_text("digraph { a -> b }")
    code, _, err = printed("plot", tmp_path / "g.dot", "--of", what, "--out", tmp_path / "a.svg")
    assert code == 2
    assert "kes learn" in err


@pytest.mark.skipif(os.name != "posix", reason="a shell of Unix")
def test_bash_completes_commands_and_options():
    program = f'kes() {{ {sys.executable} -m kes "$@"; }}; eval "$(kes completion bash)"; '
    for words, place, expected in [
        ("kes sta", 1, ["stability"]),
        ("kes learn --crit", 2, ["--criterion"]),
        ("kes learn --criterion b", 3, ["bic", "bdeu", "bge"]),
    ]:
        asked = f"COMP_WORDS=({words}); COMP_CWORD={place}; _kes_completion kes; "
        done = subprocess.run(
            ["bash", "-c", program + asked + 'echo "${COMPREPLY[@]}"'],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"},
        )
        assert set(done.stdout.split()) == set(expected), done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_what_to_do(printed, shell):
    code, out, _ = printed("completion", shell)
    assert code == 0
    assert f"_KES_COMPLETE={shell}_complete" in out


def test_cut_points_are_given_by_column(printed, tmp_path):
    table = tmp_path / "numbers.csv"
    rows = np.random.default_rng(3).normal(size=(200, 2))
    pd.DataFrame(rows, columns=["a@b", "c"]).to_csv(table, index=False)
    out = tmp_path / "a.kes.json"
    words = ("learn", table, "--runs", 1, "--out", out, "--discretize")
    assert printed(*words, "a@b@-0.5/1e-1,c@0")[0] == 0
    assert dict(kes.load(out).discretizer.cuts) == {"a@b": (-0.5, 0.1), "c": (0.0,)}
    points = {"a@b": [-0.5, 0.1], "c": [0]}
    assert kes.learn(table, discretize=points, runs=1) == kes.load(out)
    for wrong in ("c@x", "@1", "c@1/0", "c@inf", "c@1,a@b=3", "c=0.5"):
        code, _, err = printed(*words, wrong)
        assert code == 2
        assert "Error" in err
    for unusable in ({"c": [0], "a@b": 3}, {"c": ["x"]}, {"c": [2, 1]}):
        with pytest.raises(kes.KesError):
            kes.learn(table, discretize=unusable, runs=1)
