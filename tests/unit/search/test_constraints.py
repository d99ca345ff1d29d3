"""Searches under background knowledge: whatever they return obeys it, and nothing else changes.

That the neighbours and local optima are the right ones is shown by brute force in tests/oracle.
"""

import json
from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes import EssentialGraph, Knowledge, Mpdag
from kes.cli import run
from kes.show.report.recipe import command_line, python_call

KNOWN = Knowledge(
    tiers=[["HYPOVOLEMIA", "LVFAILURE"], ["LVEDVOLUME", "STROKEVOLUME"], ["CVP", "PCWP"]],
    required=[("CO", "HISTORY")],
    forbidden=[("CVP", "PCWP")],
    apart=[("PCWP", "LVFAILURE")],
    roots=["HYPOVOLEMIA"],
    leaves=["HISTORY"],
)
NAMES = ("HYPOVOLEMIA", "LVFAILURE", "LVEDVOLUME", "STROKEVOLUME", "CVP", "PCWP", "CO", "HISTORY")


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=500).select(NAMES)


@pytest.fixture(scope="module")
def optima(data):
    return kes.learn(data, k=0.4, runs=30, knowledge=KNOWN)


def obeys(arcs, known=KNOWN):
    """Whether a DAG obeys the knowledge, by the definition of each part."""
    tier = {name: i for i, names in enumerate(known.tiers) for name in names}
    return (
        set(known.required) <= set(arcs)
        and not set(known.forbidden) & set(arcs)
        and not any((a, b) in arcs or (b, a) in arcs for a, b in known.apart)
        and not any(b in known.roots or a in known.leaves for a, b in arcs)
        and not any(tier[a] > tier[b] for a, b in arcs if a in tier and b in tier)
    )


def is_admissible(graph, known=KNOWN):
    try:
        return obeys(Mpdag(graph, known).to_dag(), known)
    except kes.KesError:
        return False


# --- learning ------------------------------------------------------------------------------------


def test_every_optimum_is_admissible_and_checked_against_its_neighbours(data, optima):
    assert len(optima) > 3
    assert all(optimum.is_local_optimum for optimum in optima)
    for optimum in optima:
        assert obeys(optimum.mpdag.to_dag())
        steps = kes.inclusion_boundary(optimum.graph, data, knowledge=KNOWN)
        assert max(step.delta for step in steps) < 1e-6


def test_knowledge_binds_where_data_say_otherwise(data, optima):
    """Without it, the best model has what is forbidden here, and scores higher."""
    free = kes.learn(data, k=0.4, runs=30)
    assert not is_admissible(free.best.graph)
    assert free.best.score > optima.best.score
    assert optima.best.graph not in [optimum.graph for optimum in free]


def test_the_boundary_is_the_admissible_part_of_the_whole_boundary(data, optima):
    for optimum in optima[:5]:
        whole = kes.inclusion_boundary(optimum.graph, data)
        part = kes.inclusion_boundary(optimum.graph, data, knowledge=KNOWN)
        assert part == [step for step in whole if is_admissible(step.graph)]
        assert len(part) < len(whole)
        bare = kes.inclusion_boundary(optimum.graph, knowledge=KNOWN)
        assert {(s.kind, s.x, s.y, s.given) for s in bare} == {
            (s.kind, s.x, s.y, s.given) for s in part
        }


def test_of_some_columns_what_is_known_among_them_holds(data):
    few = EssentialGraph.from_dag(NAMES[:6], [])
    among = Knowledge(
        tiers=KNOWN.tiers, forbidden=KNOWN.forbidden, apart=KNOWN.apart, roots=KNOWN.roots
    )
    whole = kes.inclusion_boundary(few, data)
    part = kes.inclusion_boundary(few, data, knowledge=KNOWN)
    assert part == [step for step in whole if is_admissible(step.graph, among)]
    assert len(part) < len(whole)


def test_more_runs_give_what_all_at_once_give(data, optima):
    fewer = kes.learn(data, k=0.4, runs=10, knowledge=KNOWN)
    assert fewer.extend(20) == optima
    assert kes.learn(data, k=0.4, runs=30, knowledge=KNOWN, n_jobs=1) == optima


def test_improving_stays_within(optima):
    more = optima.improve(tasks=300)
    assert len(more) > len(optima)
    assert all(is_admissible(optimum.graph) for optimum in more)


def test_ges_and_sampled_runs_obey(data, optima):
    assert is_admissible(optima.ges.graph)
    sampled = kes.learn(data, runs=5, neighbourhood="sampled", knowledge=KNOWN, improve=False)
    assert all(is_admissible(optimum.graph) for optimum in sampled)


def test_continuous_tables_obey():
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    b = a + rng.normal(size=500)
    table = pd.DataFrame({"a": a, "b": b, "c": b + rng.normal(size=500)})
    found = kes.learn(table, runs=3, knowledge=Knowledge(tiers=[["c"], ["b"], ["a"]]))
    assert found.best.graph == EssentialGraph.from_dag("abc", [("a", "b"), ("b", "c")])
    assert found.best.mpdag.directed == {("c", "b"), ("b", "a")}


def test_without_knowledge_nothing_changes(data, tmp_path):
    plain = kes.learn(data, runs=5)
    nothing = kes.learn(data, runs=5, knowledge=Knowledge())
    assert plain == nothing
    assert plain.best.mpdag == plain.best.graph
    plain.save(tmp_path / "a.json")
    assert b"nowledge" not in (tmp_path / "a.json").read_bytes()
    assert "knowledge" not in repr(plain)
    assert not [name for name in plain.edges().columns if "knowledge" in name]


def test_scores_do_not_depend_on_it(data, optima):
    assert kes.score(optima.best.graph, data, knowledge=KNOWN) == optima.best.score
    assert kes.score(optima.best.graph, data) == optima.best.score


@pytest.mark.parametrize(
    ("options", "option", "word"),
    [
        ({"knowledge": {"tiers": []}}, "knowledge", "kes.Knowledge"),
        ({"knowledge": Knowledge(roots=["CPV"])}, "roots", "did you mean 'CVP'"),
        (
            {"knowledge": KNOWN, "start": [("PCWP", "CVP")]},
            "knowledge",
            "start .* CO -> HISTORY",
        ),
        (
            {
                "knowledge": Knowledge(forbidden=[("CVP", "CO")]),
                "start": [("CVP", "CO"), ("PCWP", "CO")],
            },
            "knowledge",
            "start .* CVP -> CO",
        ),
        (
            {
                "knowledge": Knowledge(required=[("CVP", "CO"), ("PCWP", "CO")]),
                "max_parents": 1,
            },
            "knowledge",
            "2 parents of 'CO'.* max_parents",
        ),
    ],
)
def test_what_contradicts_is_refused(data, options, option, word):
    with refused(word, option=option):
        kes.learn(data, runs=1, **options)


def test_a_boundary_needs_an_admissible_model(data):
    empty = EssentialGraph(NAMES)
    for table in (None, data):
        with refused("CO ->", option="knowledge"):
            kes.inclusion_boundary(empty, table, knowledge=KNOWN)


# --- files and commands --------------------------------------------------------------------------


def test_results_keep_it(optima, data, tmp_path):
    optima.save(tmp_path / "a.json")
    loaded = kes.load(tmp_path / "a.json")
    assert loaded == optima
    assert loaded.settings.knowledge == KNOWN
    assert loaded.best.mpdag.by_knowledge == optima.best.mpdag.by_knowledge
    assert loaded.extend(1, data).settings.knowledge == KNOWN


def test_damaged_knowledge_in_a_result_is_told(optima, tmp_path):
    optima.save(tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text())
    for wrong in ({"tier": [["CO"]]}, {"roots": ["nobody"]}, {"required": [["CO", "CO"]]}, [1]):
        document["settings"]["knowledge"] = wrong
        (tmp_path / "a.json").write_text(json.dumps(document))
        with refused("damaged", file=tmp_path / "a.json"):
            kes.load(tmp_path / "a.json")


def test_commands_take_flags_and_files(data, optima, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _frame(data).to_csv("data.csv", index=False)
    command = command_line(optima)
    words = command.replace("'", "").split()[2:-2]
    assert run(["learn", *words, "--out", "flags.json"]) == 0
    flags = kes.load("flags.json")
    assert flags.settings == optima.settings
    KNOWN.save("known.toml")
    learn = ["learn", "data.csv", "--k", "0.4", "--runs", "30"]
    assert run([*learn, "--knowledge", "known.toml", "--out", "file.json"]) == 0
    assert kes.load("file.json") == flags
    assert run([*learn, "--roots", "HYPOVOLEMIA", "--out", "file.json"]) != 0
    assert "--knowledge: Knowledge(tiers=" in capsys.readouterr().err
    assert run(["certify", "data.csv", "--result", "file.json"]) == 0
    assert "all networks under the knowledge: 3 tiers, 1 required arc" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--require", "CVP"], "--require takes two names"),
        (["--forbid", "CVP,CO,PCWP"], "'CVP,CO,PCWP' has 3"),
        (
            ["--require", "CVP,CO", "--forbid", "CVP,CO"],
            "but it is also forbidden",
        ),
        (["--tiers", "CVP;CO;CVP"], "in more than one tier: 'CVP'"),
        (["--leaves", "CPV"], "did you mean 'CVP'"),
        (["--knowledge", "nowhere.toml"], "there is no file 'nowhere.toml'"),
    ],
)
def test_wrong_flags_are_explained(arguments, message, capsys):
    assert run(["learn", "--example", "alarm", "--rows", "50", *arguments]) != 0
    assert message in capsys.readouterr().err


def test_doing_it_again_says_what_was_known(data, optima):
    scope = {"kes": kes, "data": data}
    exec(python_call(optima), scope)
    assert scope["optima"] == optima
    assert "knowledge     3 tiers, 1 required arc, 1 forbidden arc, 1 pair apart" in repr(optima)


def test_names_that_flags_cannot_hold_are_left_to_python():
    table = pd.DataFrame({"a,b": [0, 1, 0, 1] * 9, "c": [0, 1, 1, 1] * 9})
    found = kes.learn(table, runs=1, knowledge=Knowledge(roots=["a,b"]))
    assert command_line(found) is None


# --- what is made of it --------------------------------------------------------------------------


def test_other_searches_obey(data):
    tried = kes.sweep(data, ks=[0.4, 1], runs=3, knowledge=KNOWN)
    stable = kes.stability(data, resamples=3, runs=2, knowledge=KNOWN)
    model = kes.KES(runs=3, knowledge=KNOWN).fit(_frame(data))
    found = chain(*tried.optima.values(), stable.best, model.optima_)
    assert all(is_admissible(optimum.graph) for optimum in found)
    assert obeys(model.network_.arcs)
    with refused("did you mean 'CVP'", option="roots", column="CPV"):
        kes.cross_validate(data, runs=1, knowledge=Knowledge(roots=["CPV"]))


def test_explanations_look_at_admissible_neighbours_only(data, optima):
    for stop in (optima.explain(0), optima.best.explain(data)):
        assert stop.better == 0
        assert all(is_admissible(step.graph) for step in stop.neighbours)


def test_the_certificate_of_an_order_is_the_sum_of_the_best_families(data):
    """With a tier for each variable, every one may choose its parents for itself."""
    few, order = data.select(NAMES[:5]), NAMES[4::-1]
    certificate = kes.certify(few, knowledge=Knowledge(tiers=[[name] for name in order]))
    empty = kes.score([], few)
    best = empty
    for i, node in enumerate(order):
        sets = chain.from_iterable(combinations(order[:i], size) for size in range(i + 1))
        families = [[(parent, node) for parent in parents] for parents in sets]
        best += max(kes.score(arcs, few) for arcs in families) - empty
    assert certificate.proven
    assert certificate.score == pytest.approx(best, abs=1e-9)
    assert is_admissible(certificate.graph, certificate.knowledge)


def test_certificates_compare_within_the_knowledge(data, optima):
    certificate = kes.certify(data, optima=optima, knowledge=KNOWN)
    assert certificate.proven
    assert is_admissible(certificate.graph)
    assert optima.best.score <= certificate.score < kes.certify(data).score
    with refused(option="knowledge"):
        kes.certify(data, optima=optima)
    with refused("CO -> HISTORY", option="knowledge"):
        kes.certify(data, optima=EssentialGraph(NAMES), knowledge=KNOWN)


def test_a_certificate_without_time_starts_from_the_required_arcs(data):
    certificate = kes.certify(data, knowledge=KNOWN, budget=1e-6)
    assert is_admissible(certificate.graph)


def _frame(data):
    columns = zip(data.names, data.states, data.codes, strict=True)
    return pd.DataFrame({name: np.array(states)[codes] for name, states, codes in columns})


@pytest.mark.parametrize(
    ("options", "lost"),
    [
        ({}, None),
        ({"knowledge": Knowledge(tiers=[["CVP"], ["PCWP"]], required=[("CVP", "PCWP")])}, None),
        ({"knowledge": Knowledge(roots=["CVP"], leaves=["PCWP"])}, None),
        ({"knowledge": Knowledge(exogenous=["CVP"])}, None),
        ({"knowledge": Knowledge(forbidden=[("CVP", "PCWP")])}, "2 489 of 6 984"),
        ({"knowledge": Knowledge(apart=[("CVP", "PCWP")])}, "3 348 of 3 755"),
        ({"knowledge": Knowledge(targets={"CVP": ["PCWP"]})}, "334 of 530"),
        ({"max_parents": 2}, "6 990 of 7 951"),
        ({"max_parents": 0}, None),  # a single model
    ],
)
def test_a_lost_guarantee_is_noted(data, options, lost):
    """Only tiers and required arcs keep every local optimum right (docs/theory.md, section 10).

    Notes have the numbers that tests/oracle/test_guarantees.py counts.
    """
    notes = kes.learn(data, runs=1, improve=False, **options).notes
    found = [note for note in notes if "trap runs in wrong optima" in note]
    assert len(found) == (lost is not None)
    assert all(lost in note for note in found)


def test_contexts_may_come_from_a_generator():
    table = np.random.default_rng(0).normal(size=(50, 3))
    optima = kes.learn(table, contexts=(name for name in ["x1"]), runs=1)
    assert tuple(optima.settings.knowledge.exogenous) == ("x1",)
