"""The report as a file: what is in it, and that nothing in it can do harm."""

import json
import re
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kes
from kes import EssentialGraph, KesError
from kes.cli import run
from kes.results.optima import Optima
from kes.show.report.page import page
from kes.show.report.repeat import command_line, python_call, settings_rows


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=500)


@pytest.fixture(scope="module")
def optima(data):
    return kes.learn(data, k=0.5, runs=40, random_state=1)


@pytest.fixture(scope="module")
def text(optima, data):
    return page(optima, dataset=data)


def content(text):
    """Return the data of a page."""
    [found] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(found)


# --- content -------------------------------------------------------------------------------------


def test_models_can_be_read_back(optima, text):
    found = content(text)
    names, pairs = found["names"], found["pairs"]
    assert (found["best"], found["ges"]) == (0, optima.index(optima.ges))
    assert found["best_run"] == optima.index(optima.best_run)
    for entry, optimum in zip(found["optima"], optima, strict=True):
        directed, undirected = [], []
        for pair, status in (divmod(code, 3) for code in entry["edges"]):
            x, y = (names[i] for i in pairs[pair])
            if status:
                directed.append((x, y) if status == 1 else (y, x))
            else:
                undirected.append((x, y))
        assert EssentialGraph(names, directed, undirected) == optimum.graph
        assert entry["score"] == pytest.approx(optimum.score, abs=1e-4)
        assert (entry["hits"], entry["first"]) == (optimum.hits, optimum.first_run)
        assert optima[entry["number"]] is optimum, "one numbering"
        assert entry["origin"] == optimum.origin
        assert entry["shd"] == optima.best.graph.shd(optimum.graph)


def test_supports_are_those_of_the_table(optima, text):
    found = content(text)
    for i, row in enumerate(optima.edges()):
        assert [found["names"][n] for n in found["pairs"][i]] == [row["x"], row["y"]]
        for kind, column in (("search", "search_support"), ("weight", "relative_weight")):
            expected = [row[column], row[f"{kind}_x_to_y"], row[f"{kind}_y_to_x"]]
            assert found["supports"][kind][i] == pytest.approx(expected, abs=1e-4)


def test_evidence_is_shown_if_it_was_computed(optima, text):
    assert content(text)["evidence"] is None
    evidence = optima.evidence(tasks=0)
    found = content(page(optima, evidence=evidence))
    nats = {(row["x"], row["y"]): row["evidence"] for row in evidence}
    pairs = [tuple(found["names"][node] for node in pair) for pair in found["pairs"]]
    assert found["evidence"] == [pytest.approx(nats[pair], abs=0.01) for pair in pairs]
    with pytest.raises(KesError, match="not that of edges"):
        page(optima, evidence=optima.evidence("v_structures", tasks=0))


def test_every_edge_of_every_model_has_a_curve(text):
    found = content(text)
    shared, *own = found["layouts"]
    assert len(own) == len(found["own"]) == 30
    for index, entry in enumerate(found["optima"]):
        pairs = {str(code // 3) for code in entry["edges"]}
        assert pairs <= set(shared["curves"])
        if str(index) in found["own"]:
            assert pairs == set(found["layouts"][found["own"][str(index)]]["curves"])
    worst = min(found["optima"][int(index)]["score"] for index in found["own"])
    assert sum(entry["score"] >= worst for entry in found["optima"]) == 30  # they are the best
    for layout in found["layouts"]:
        assert len(layout["nodes"]) == len(found["names"])


def test_curves_run_from_the_first_node_of_a_pair_to_the_second(text):
    found = content(text)
    for layout in found["layouts"]:
        for pair, numbers in layout["curves"].items():
            for node, end in zip(
                found["pairs"][int(pair)], (numbers[:2], numbers[-2:]), strict=True
            ):
                reach = np.array([found["boxes"][node], 22]) / 2 + 2
                assert (np.abs(np.subtract(end, layout["nodes"][node])) <= reach).all()


def test_tables_are_those_of_the_fitted_networks(optima, data, text):
    found = content(text)
    tables, names = found["tables"], found["names"]
    for index in (0, 7, 25):
        network = optima[index].fit(data)
        for own, name in zip(tables["of"][str(index)], names, strict=True):
            node, parents, rows = tables["families"][own]
            assert names[node] == name
            assert tuple(names[parent] for parent in parents) == network.parents[name]
            expected = network.cpts[name].reshape(-1, network.cpts[name].shape[-1])
            assert np.array(rows) == pytest.approx(expected, abs=1e-4)


def test_tables_come_from_the_data_at_hand_or_not_at_all(optima, tmp_path, data):
    loaded = tmp_path / "a.kes.json.gz"
    optima.save(loaded)
    optima.report(tmp_path / "own.html")
    kes.load(loaded).report(tmp_path / "none.html")
    kes.load(loaded).report(tmp_path / "given.html", data=data)
    own, none, given = ((tmp_path / f"{n}.html").read_text() for n in ("own", "none", "given"))
    assert content(none)["tables"] is None
    assert own == given


def test_resampling_support_is_shown_if_there_is_any(optima, data):
    stability = kes.stability(data, resamples=3, runs=2, random_state=0)
    found = content(page(optima, stability=stability))
    assert list(found["supports"]) == ["search", "weight", "resampling"]
    assert max(row[0] for row in found["supports"]["resampling"]) == 1.0


def test_equal_results_give_equal_pages(optima, data, text):
    assert page(kes.learn(data, k=0.5, runs=40, random_state=1), dataset=data) == text


def test_a_single_optimum_and_a_single_variable():
    one = kes.learn(np.array([[0], [1], [1]]), runs=1)
    found = content(page(one))
    assert (len(found["optima"]), found["pairs"], found["ges"]) == (1, [], 0)


def test_only_the_best_of_very_many_optima_are_shown(optima, monkeypatch):
    monkeypatch.setattr("kes.analysis.landscape.Landscape.of.__func__.__defaults__", (5,))
    text = page(optima)
    assert [entry["number"] for entry in content(text)["optima"]] == [
        *range(5),
        optima.index(optima.ges),
    ]
    assert f"Only the best of the {len(optima)} optima" in text


def test_the_best_is_shown_with_its_origin_and_the_best_run_beside_it():
    optima = kes.learn(kes.datasets.alarm(rows=500), k=0.2, runs=5, improve=100)
    assert optima.gain > 0
    text = page(optima)
    for optimum in (optima.best, optima.best_run):
        assert f"{optimum.score:,.2f}".replace("-", "−") in text
    assert f"</strong>{optima.best.origin}</dd>" in text


# --- harmless ------------------------------------------------------------------------------------


def test_names_and_states_cannot_break_out():
    import pandas as pd

    nasty = [
        "<script>alert(1)</script>",
        "</script><img src=x onerror=alert(2)>",
        '"><b>',
        "$title",
    ]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(["</script>", "<!--"], 50) for name in nasty})
    frame[nasty[1]] = frame[nasty[0]]
    text = page(kes.learn(frame, runs=3), title="<script>alert(3)</script>")
    assert "<script>alert" not in text
    assert "<img" not in text.replace("<img", "", text.count("<img") - text.count("<img src=x"))
    assert "<img src=x" not in text
    assert content(text)["names"] == nasty
    assert "<title>&lt;script&gt;alert(3)" in text


def test_nothing_is_loaded_from_anywhere(text):
    own = re.sub(r"<script>/\*\*.*?</script>", "", text, flags=re.S)  # without the charting library
    assert len(own) < len(text) - 1_000_000
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", own)
    assert "url(" not in own
    assert "@import" not in own
    assert "default-src 'none'" in own


# --- again ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"criterion": "bdeu", "ess": 2.5, "max_parents": 2},
        {"two_phase": True, "k": 0.0, "random_state": 2**63},
        {"neighbourhood": kes.Sampled(reversals=3, failures=50)},
        {"start": [("x0", "x1")]},
    ],
)
@pytest.mark.parametrize("improve", [False, True, 5])
def test_the_calls_give_the_same_result(tmp_path, monkeypatch, settings, improve):
    values = np.random.default_rng(1).integers(0, 3, (60, 4))
    values[:, 1] = values[:, 0]
    monkeypatch.chdir(tmp_path)
    np.savetxt("data.csv", values, fmt="%d", delimiter=",", header="x0,x1,x2,x3", comments="")
    optima = kes.learn("data.csv", runs=4, improve=improve, **settings)
    same_again(optima, is_command="start" not in settings)
    if not settings:
        same_again(optima.improve(tasks=7).improve(tasks=3), is_command=False)


def same_again(optima, *, is_command, data="data.csv", **given):
    """Do what the report says, and expect the same file."""
    space = {"data": data, **given}
    exec(python_call(optima), space)
    assert space["optima"] == optima
    command = command_line(optima)
    assert (command is not None) == is_command
    if command is not None:
        assert run(shlex.split(command)[1:]) == 0
        optima.save("expected.kes.json.gz")
        again, expected = (Path(f"{n}.kes.json.gz").read_bytes() for n in ("a", "expected"))
        assert again == expected


def test_the_calls_read_the_data_in_the_same_way(tmp_path, monkeypatch):
    """Weights and missing values are part of it."""
    import pandas as pd

    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.integers(0, 2, (80, 3)).astype(str), columns=list("abc"))
    frame["c"] = frame["a"]
    frame.loc[[1, 5], "b"] = None
    frame.loc[[7, 9], "b"] = "?"
    frame["times"] = rng.integers(1, 5, 80)
    monkeypatch.chdir(tmp_path)
    frame.to_csv("data.csv", index=False)
    for missing in ("drop", "state"):
        optima = kes.learn("data.csv", runs=4, weights="times", missing=missing)
        same_again(optima, is_command=True)
        Path("a.kes.json.gz").unlink()
        rows = dict(settings_rows(optima))
        assert rows["weights"] == "column 'times'"
    weights = frame.pop("times").to_numpy()
    optima = kes.learn(frame, runs=4, weights=weights, missing="drop")
    same_again(optima, is_command=False, data=frame, weights=weights)
    words = "learn data.csv --runs 4 --weights times --missing drop --missing ?,NA --out b.json"
    assert run(words.split()) == 0
    marked = kes.load("b.json")
    assert "--missing drop --missing '?,NA'" in command_line(marked)
    space = {"data": "data.csv"}
    exec(python_call(marked), space)
    assert space["optima"] == marked
    assert run([*shlex.split(command_line(marked))[1:-1], "c.json"]) == 0
    assert Path("b.json").read_bytes() == Path("c.json").read_bytes()


def test_the_version_named_is_the_one_that_made_the_result(optima):
    old = Optima(replace(optima.record, version="0.0.1"))
    assert dict(settings_rows(old))["version of kes"] == "0.0.1"
    assert "<dd>0.0.1</dd>" in page(old)


def test_all_settings_are_named(optima, text):
    rows = dict(settings_rows(optima))
    assert rows["fingerprint of the data"] == optima.record.fingerprint
    assert (rows["seed"], rows["runs"], rows["k"]) == ("1", "40", "0.5")
    for value in rows.values():
        assert f"<dd>{value}</dd>" in text


# --- the command ---------------------------------------------------------------------------------


def test_the_command_writes_beside_the_result(tmp_path, optima, capsys):
    optima.save(tmp_path / "my.run.kes.json.gz")
    assert run(["report", str(tmp_path / "my.run.kes.json.gz")]) == 0
    assert (tmp_path / "my.run.html").exists()
    assert "my.run.html" in capsys.readouterr().out


def test_the_command_takes_data(tmp_path, optima, data):
    import pandas as pd

    columns = zip(data.names, data.states, data.codes, strict=True)
    frame = pd.DataFrame({name: [states[i] for i in codes] for name, states, codes in columns})
    frame.to_csv(tmp_path / "d.csv", index=False)
    learned = kes.learn(tmp_path / "d.csv", runs=3)
    learned.save(tmp_path / "a.kes.json")
    words = ["report", str(tmp_path / "a.kes.json"), "--data", str(tmp_path / "d.csv")]
    assert run([*words, "--out", str(tmp_path / "b.html"), "--title", "Mine"]) == 0
    made = (tmp_path / "b.html").read_text()
    assert content(made)["tables"]
    assert "<h1>Mine</h1>" in made


def test_what_goes_wrong_is_said(tmp_path, optima, monkeypatch, capsys):
    with pytest.raises(KesError, match="cannot write"):
        optima.report(tmp_path / "no" / "a.html")
    with pytest.raises(KesError, match="not the data that the result comes from"):
        optima.report(tmp_path / "a.html", data=kes.datasets.alarm(rows=400))
    assert run(["report", str(tmp_path / "none.json")]) == 2
    assert "cannot read" in capsys.readouterr().err
    for package in ("plotly", "pygraphviz"):
        with monkeypatch.context() as patch:
            for name in [name for name in sys.modules if name.split(".")[0] == package]:
                patch.setitem(sys.modules, name, None)
            extra = "report" if package == "plotly" else "plot"
            with pytest.raises(KesError, match=rf'{package}.*pip install "kes\[{extra}\]"'):
                optima.report(tmp_path / "a.html")


def test_a_thousand_runs_make_a_small_page_fast():
    many = kes.learn(kes.datasets.alarm(rows=1000), k=0.4, runs=1000)
    assert len(many) >= 700
    start = time.process_time()
    made = page(many, dataset=many.problem.dataset)
    assert time.process_time() - start < 20
    assert len(made.encode()) < 8_000_000
