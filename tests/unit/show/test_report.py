"""The report as a file: what is in it, and that nothing in it can do harm."""

import json
import re
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.refused import refused

import kes
from kes import EssentialGraph, KesError
from kes.cli import run
from kes.show.report.edge_certainty import Further
from kes.show.report.page import page


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=500)


@pytest.fixture(scope="module")
def optima(data):
    return kes.learn(data, k=0.5, runs=40, random_state=1)


@pytest.fixture(scope="module")
def text(optima, data):
    return page(optima, problem=optima.problem)


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
            share, direction, of_direction = found["supports"][kind][i]
            forward, backward = row[f"{kind}_x_to_y"], row[f"{kind}_y_to_x"]
            assert share == pytest.approx(row[column], abs=1e-8)
            assert of_direction == pytest.approx(max(forward, backward), abs=1e-8)
            assert direction == (1 if forward > backward else 2 if forward < backward else 0)


@pytest.mark.parametrize("kind", ["search", "weight"])
def test_the_page_draws_the_consensus_at_every_threshold(optima, text, kind):
    """It compares the shares as they are with whole percentages; Python allows for rounding."""
    found = content(text)
    for percent in range(5, 101):
        expected = optima.consensus(percent / 100, support=kind)
        directed, undirected = set(), set()
        for pair, (share, direction, of_direction) in zip(
            found["pairs"], found["supports"][kind], strict=True
        ):
            x, y = (found["names"][node] for node in pair)
            if share == 0 or share < percent / 100:
                continue
            if direction and of_direction >= percent / 100:
                directed.add((x, y) if direction == 1 else (y, x))
            else:
                undirected.add(frozenset((x, y)))
        assert (directed, undirected) == (expected.directed, expected.undirected)


@pytest.mark.parametrize("miss", [0, 5e-10, 2e-9])
def test_shares_reach_a_threshold_despite_rounding(miss):
    from kes.show.report.content import _reaching

    for percent in range(101):
        assert (_reaching(percent / 100 - miss) >= percent / 100) == (miss < 1e-9)


def test_models_are_better_than_ges_by_their_score_level(optima, text):
    found, level = content(text), optima.record.level
    better = [entry["better"] for entry in found["optima"]]
    assert better == [level(one.score) > level(optima.ges.score) for one in optima]
    assert len(set(better)) == 2


def test_evidence_is_shown_if_it_was_computed(optima, text):
    assert content(text)["evidence"] is None
    evidence = optima.evidence(tasks=0)
    found = content(page(optima, further=Further(evidence=evidence)))
    nats = {(row["x"], row["y"]): row["evidence"] for row in evidence}
    pairs = [tuple(found["names"][node] for node in pair) for pair in found["pairs"]]
    assert found["evidence"]["nats"] == [pytest.approx(nats[pair], abs=0.01) for pair in pairs]
    with pytest.raises(KesError) as caught:
        page(optima, further=Further(evidence=optima.evidence("v_structures", tasks=0)))
    assert caught.value.option == "evidence"


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
                assert (np.abs(np.subtract(end, layout["nodes"][str(node)])) <= reach).all()


def test_worth_is_what_explain_says(optima, text):
    found = content(text)
    worth = {(row["x"], row["y"]): row["worth"] for row in optima.explain().edges()}
    assert len(worth) == len(optima.best.graph.skeleton)
    assert set(found["worth"]) == set(found["own"])
    for pair, nats in found["worth"]["0"].items():
        x, y = (found["names"][node] for node in found["pairs"][int(pair)])
        assert nats == pytest.approx(worth[x, y] if (x, y) in worth else worth[y, x], abs=0.01)


def test_tables_have_the_cases_that_fitting_counts(optima, data, text):
    """With the prior spread over its cells, a table of cases is that of the fitted network."""
    found = content(text)
    tables, names = found["tables"], found["names"]
    for index in (0, 7, 25):
        network = optima[index].fit(data)
        for own, name in zip(tables["of"][str(index)], names, strict=True):
            node, parents, kind, counts = tables["families"][own]
            assert (names[node], kind) == (name, "cases")
            assert tuple(names[parent] for parent in parents) == network.parents[name]
            assert sum(counts) == data.rows
            cpt = network.cpts[name].reshape(-1, network.cpts[name].shape[-1])
            cells = np.array(counts).reshape(cpt.shape) + tables["ess"] / cpt.size
            assert cells / cells.sum(axis=1, keepdims=True) == pytest.approx(cpt, abs=1e-12)


def test_variables_are_counted(data, text):
    for column, shown in zip(data.columns, content(text)["variables"], strict=True):
        assert shown["counts"] == np.bincount(column.codes, minlength=len(column.states)).tolist()


@pytest.fixture(scope="module")
def mixed():
    """A table of all kinds, with gaps and weights."""
    import pandas as pd

    rng = np.random.default_rng(3)
    dose = rng.normal(10, 2, 200)
    frame = pd.DataFrame({"dose": dose, "effect": 0.5 * dose + rng.normal(size=200)})
    frame["ill"] = np.where(dose + rng.normal(size=200) > 11, "yes", "no")
    frame["sex"] = rng.choice(["f", "m"], 200)
    frame["always"] = "same"
    frame.loc[rng.random(200) < 0.1, "effect"] = None
    frame["times"] = rng.integers(1, 4, 200)
    return frame


def test_continuous_variables_have_histograms_and_coefficients(mixed):
    optima = kes.learn(mixed, runs=5, missing="em", weights="times")
    problem = optima.problem
    found = content(page(optima, problem=problem))
    at = found["names"].index("dose")
    values, weights = problem.dataset.columns[at].values, problem.dataset.weights
    shown = found["variables"][at]
    bins, edges = np.histogram(values, 16, weights=weights)
    assert shown["counts"] == pytest.approx(bins)
    assert shown["range"] == [edges[0], edges[-1]]
    assert shown["mean"] == pytest.approx(np.average(values, weights=weights))
    gaps = mixed["effect"].isna()
    shown = found["variables"][found["names"].index("effect")]
    assert shown["missing"] == mixed["times"][gaps].sum()
    assert sum(shown["counts"]) == mixed["times"][~gaps].sum(), (
        "only what was observed, in whole cases"
    )
    assert shown["range"] == [mixed["effect"].min(), mixed["effect"].max()]
    assert all(isinstance(count, int) for count in shown["counts"])
    network = optima.best.fit(problem.dataset)
    for name, own in zip(found["names"], found["tables"]["of"]["0"], strict=True):
        _, parents, kind, numbers = found["tables"]["families"][own]
        assert tuple(found["names"][parent] for parent in parents) == network.parents[name]
        expected = network.local(name).describe()
        if kind == "cases":
            assert expected[0] == "cpt"
        else:
            assert (kind, numbers) == expected


def test_values_of_any_size_have_a_histogram():
    from kes.data import Continuous
    from kes.show.report.families import variables

    huge = np.array([-1.7e308, 0.0, 1.7e308])
    columns = [Continuous(huge), Continuous(np.full(3, 2.5))]
    with np.errstate(over="ignore", invalid="ignore"):
        wide, constant = variables(kes.Dataset.of(["a", "b"], columns))
    assert [wide["counts"][i] for i in (0, 8, 15)] == [1, 1, 1]
    assert (constant["counts"], constant["deviation"]) == ([3], 0.0)


def test_what_was_decided_about_the_data_is_said(mixed, tmp_path):
    frame = mixed.assign(id=[f"p{i}" for i in range(len(mixed))]).drop(columns="times")
    frame.to_csv(tmp_path / "raw.csv", index=False)
    known = kes.Knowledge(tiers=[["sex"], ["dose", "effect", "ill"]])
    optima = kes.learn(tmp_path / "raw.csv", runs=5, missing="em", knowledge=known)
    optima.report(tmp_path / "a.html", data=tmp_path / "raw.csv")
    text = (tmp_path / "a.html").read_text()
    assert "<bdi>Network of 5 variables in raw.csv</bdi>" in text
    for part in ("raw.csv", "left out: &#x27;id&#x27;", "filled in", "2 tiers"):
        assert part in text
    assert re.search(r"Report date</dt><dd>\d+ [A-Z][a-z]+ 20\d\d<", text)


def test_a_proof_is_told_and_a_bound_too(tmp_path):
    data = kes.datasets.alarm(rows=500).select(["HR", "BP", "CO", "TPR", "CATECHOL"])
    optima = kes.learn(data, runs=5)
    certificate = kes.certify(data, optima=optima)
    assert certificate.proven
    assert "no network scores higher" in page(optima, certificate=certificate)
    assert "no network scores higher" not in page(optima)
    bound = replace(certificate, proven=False, upper_bound=optima.best.score + 12.5)
    assert "12.50 nats" in page(optima, certificate=bound)
    limited = replace(certificate, max_parents=2)
    assert "with at most 2 parents each scores higher" in page(optima, certificate=limited)
    better = replace(certificate, score=optima.best.score + 1, upper_bound=optima.best.score + 1)
    assert "no network scores higher" not in page(optima, certificate=better)
    with refused(option="certificate"):
        page(optima, certificate=kes.certify(data.select(["HR", "BP"])))
    with refused(option="certificate"):
        page(optima, certificate=kes.certify(data, criterion="aic"))


def test_effects_are_shown_with_what_they_act_on(optima):
    effects = optima.effects("TPR", "BP")
    [shown] = content(page(optima, further=Further(effects=[effects])))["effects"]
    assert [optima.names[shown["x"]], optima.names[shown["y"]]] == ["TPR", "BP"]
    assert shown["note"] == effects.note
    assert [row[1:3] for row in shown["rows"]] == [
        [row["low"], row["high"]] for row in effects.summary()
    ]


def test_clusters_hold_every_variable_once_and_their_edges(optima, text):
    found = content(text)
    clusters = found["clusters"]
    assert sorted(node for one in clusters for node in one["nodes"]) == list(range(37))
    joined = {frozenset(found["pairs"][code // 3]) for code in found["optima"][0]["edges"]}
    for one in clusters:
        inside = {pair for pair in joined if pair <= set(one["nodes"])}
        if one["layout"] is None:
            assert not inside
            continue
        drawn = {frozenset(found["pairs"][int(pair)]) for pair in one["layout"]["curves"]}
        assert drawn == inside
        assert sorted(map(int, one["layout"]["nodes"])) == one["nodes"]


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
    found = content(page(optima, further=Further(stability=stability)))
    assert list(found["supports"]) == ["search", "weight", "resampling"]
    assert max(row[0] for row in found["supports"]["resampling"]) == 1.0


def test_equal_results_give_equal_pages(optima, data, text):
    again = kes.learn(data, k=0.5, runs=40, random_state=1)
    assert page(again, problem=again.problem) == text


def test_a_single_optimum_and_a_single_variable():
    one = kes.learn(np.array([[0], [1], [1]]), runs=1)
    found = content(page(one))
    assert (len(found["optima"]), found["pairs"], found["ges"]) == (1, [], 0)


def test_only_the_best_of_very_many_optima_are_shown(optima, monkeypatch):
    monkeypatch.setattr("kes.analysis.compare.Landscape.of.__func__.__defaults__", (5,))
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
        assert f"{optimum.score:.2f}".replace("-", "−") in text, "four digits stay together"
    assert f"; {optima.best.origin}.</p>" in text
    assert f"raised the best score by {optima.gain:,.2f}" in text


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


def test_halves_of_characters_are_no_harm(tmp_path):
    names = ["half \ud800", "bell \x07", "line \u2028"]
    data = kes.Dataset(
        names, [["a", "b\udfff"]] * 3, np.random.default_rng(0).integers(0, 2, (3, 9))
    )
    kes.learn(data, runs=2).report(tmp_path / "a.html", title="\ud800")
    assert content((tmp_path / "a.html").read_text(encoding="utf-8"))["names"] == names


def test_nothing_is_loaded_from_anywhere_or_sent(text):
    addresses = set(re.findall(r"""https?://[^\s"'`]*""", text))
    assert addresses == {"http://www.w3.org/2000/svg"}, "the name of SVG, which nothing requests"
    assert set(re.findall(r"""href=["']([^"']*)""", text)) == {"#network"}
    assert not re.search(r"<(form|iframe|link|object|embed|base)\b", text)
    for word in ("url(", "@import", "fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon", "eval("):
        assert word not in text, word
    assert not re.search("upload|cloud|plotly", text, re.IGNORECASE)


def test_the_page_runs_its_own_script_and_no_other(text):
    """The policy names the digests of the one script and the one style; browsers enforce it."""
    from base64 import b64encode
    from hashlib import sha256

    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    for tag in ("script", "style"):
        [body] = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


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
    assert "<h1><bdi>Mine</bdi></h1>" in made


def test_what_goes_wrong_is_said(tmp_path, optima, monkeypatch, capsys):
    with refused(file=tmp_path / "no" / "a.html"):
        optima.report(tmp_path / "no" / "a.html")
    with refused(option="data"):
        optima.report(tmp_path / "a.html", data=kes.datasets.alarm(rows=400))
    assert run(["report", str(tmp_path / "none.json")]) == 2
    assert "there is no file" in capsys.readouterr().err
    for name in [name for name in sys.modules if name.split(".")[0] == "pygraphviz"]:
        monkeypatch.setitem(sys.modules, name, None)
    with refused("pip install pygraphviz"):
        optima.report(tmp_path / "a.html")


def test_a_thousand_runs_make_a_small_page_fast():
    many = kes.learn(kes.datasets.alarm(rows=1000), k=0.4, runs=1000)
    assert len(many) >= 700
    start = time.process_time()
    made = page(many, problem=many.problem)
    assert time.process_time() - start < 20
    assert len(made.encode()) < 1_500_000
