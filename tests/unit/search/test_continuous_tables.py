"""Searches on continuous and mixed tables, from the table that people have to the result.

The criteria themselves are compared with their definitions in tests/oracle; here everything
around them is.
"""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, rankdata
from tests.unit.refused import refused

import kes
from kes.data import Continuous, Discrete, encode
from kes.data.normal_scores import Ranks, Scores

RUNS = {"runs": 5, "improve": 20}


def linear(rows: int = 400, seed: int = 1) -> pd.DataFrame:
    """a -> b -> c, d alone; s is c cut into states, with noise."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=rows)
    b = 0.9 * a + rng.normal(size=rows)
    c = 0.8 * b + rng.normal(size=rows)
    d = rng.normal(size=rows)
    s = np.where(c + rng.normal(size=rows) > 0, "high", "low")
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "s": s})


@pytest.fixture(scope="module")
def table():
    return linear()


@pytest.fixture(scope="module")
def optima(table):
    return kes.learn(table, **RUNS)


def gaussian_bic(columns, parents, penalty=1.0):
    """Score by regression of every node on its parents, the plain formula."""
    rows = len(next(iter(columns.values())))
    total = 0.0
    for node, own in parents.items():
        design = np.column_stack([np.ones(rows), *(columns[x] for x in own)])
        rest = columns[node] - design @ np.linalg.lstsq(design, columns[node], rcond=None)[0]
        total += -rows / 2 * (math.log(2 * math.pi * np.mean(rest**2)) + 1)
        total -= penalty * math.log(rows) / 2 * (design.shape[1] + 1)
    return total


class TestCriteria:
    def test_bic_of_a_continuous_table_is_that_of_regressions(self, table):
        columns = {name: table[name].to_numpy() for name in "abcd"}
        for penalty in (1.0, 2.5):
            expected = gaussian_bic(
                columns, {"a": [], "b": ["a"], "c": ["a", "b"], "d": []}, penalty
            )
            arcs = [("a", "b"), ("a", "c"), ("b", "c")]
            score = kes.score(arcs, table[[*"abcd"]], penalty=penalty)
            assert score == pytest.approx(expected, abs=1e-6)

    def test_the_structure_is_found(self, optima):
        assert optima.best.graph.skeleton == {
            frozenset(pair) for pair in (("a", "b"), ("b", "c"), ("c", "s"))
        }
        assert optima.kind == "mixed"
        assert optima.kinds == {**dict.fromkeys("abcd", "continuous"), "s": "discrete"}

    def test_the_summary_says_which_criterion_and_which_kinds(self, optima, table):
        text = str(optima)
        assert "location model BIC, of ranks" in text
        assert "5 variables (1 discrete, 4 continuous)" in text
        assert "isolated      'd'" in text
        assert "Gaussian BIC" in str(kes.learn(table[[*"abcd"]], **RUNS))
        assert "BGe" in str(kes.learn(table[[*"abcd"]], criterion="bge", **RUNS))

    @pytest.mark.parametrize("criterion", ["bdeu", "qnml"])
    def test_criteria_of_discrete_columns_name_the_others(self, table, criterion):
        for use in (kes.learn, kes.certify, lambda *a, **o: kes.score([], *a, **o)):
            with refused("'a', 'b', 'c', 'd'", option="criterion", column="a"):
                use(table, criterion=criterion)

    def test_bge_names_discrete_columns(self, table):
        with refused(option="criterion", column="s"):
            kes.learn(table, criterion="bge")

    def test_a_greater_penalty_gives_no_more_edges(self, table):
        def edges(penalty):
            best = kes.learn(table, penalty=penalty, **RUNS).best
            return len(best.graph.skeleton)

        counts = [edges(penalty) for penalty in (0.05, 1.0, 10.0, 1000.0)]
        assert counts == sorted(counts, reverse=True)
        assert counts[0] > 3
        assert counts[-1] == 0


class TestOrder:
    def test_rows_and_columns_in_any_order_give_the_same_bits(self, table, optima):
        shuffled = table.sample(frac=1, random_state=3)[["s", "d", "b", "a", "c"]]
        other = kes.learn(shuffled, **RUNS)
        assert other.best.score == optima.best.score
        assert other.best.graph == optima.best.graph
        rows = kes.learn(table.sample(frac=1, random_state=4), **RUNS)
        assert rows.record == optima.record, "of rows not even the fingerprint depends"

    def test_weights_are_numbers_of_rows(self, table):
        weights = np.arange(len(table)) % 4
        long = table.loc[table.index.repeat(weights)]
        arcs = [("a", "b"), ("b", "s"), ("c", "s")]
        for options in ({}, {"transform": "ranks"}, {"criterion": "aic"}):
            short = kes.score(arcs, table, weights=weights.astype(float), **options)
            assert short == pytest.approx(kes.score(arcs, long, **options), abs=1e-6)


class TestRanks:
    def test_scores_are_those_of_mean_ranks(self):
        rng = np.random.default_rng(2)
        values = rng.integers(0, 40, 200) / 8
        expected = norm.ppf((rankdata(values) - 0.5) / 200)
        assert Scores.of(values).forward(values) == pytest.approx(expected, abs=1e-12)

    def test_new_values_lie_between_and_come_back(self):
        scores = Scores.of(np.array([3.0, 1.0, 2.0]))
        assert scores.forward(np.array([1.5, -9.0, 9.0])).tolist() == [
            scores.scores[:2].mean(),
            scores.scores[0],
            scores.scores[2],
        ]
        values = np.array([1.0, 1.25, 3.0])
        assert scores.back(scores.forward(values)) == pytest.approx(values)

    def test_only_the_order_of_values_counts(self, table):
        bent = table.assign(a=np.exp(2 * table.a), c=table.c**3)
        straight, crooked = (kes.learn(t, transform="ranks", **RUNS) for t in (table, bent))
        assert straight.record == crooked.record
        assert "of ranks" in str(straight)

    def test_it_is_the_criterion_on_the_scores(self, table):
        dataset = encode(table)
        arcs = [("a", "b"), ("c", "s")]
        transformed = Ranks.of(dataset).apply(dataset)
        assert kes.score(arcs, table, transform="ranks") == kes.score(arcs, transformed)

    def test_a_discrete_table_has_nothing_to_transform(self, table):
        discrete = kes.discretize(table)
        plain, ranked = (kes.learn(discrete, transform=t, **RUNS) for t in (None, "ranks"))
        assert plain.record == ranked.record

    def test_columns_that_were_not_ranked(self, table):
        with refused(column="s"):
            Ranks.of(encode(table)).transform("s", np.zeros(1))


class TestUse:
    """Everything that is done with a result works on it."""

    def test_files_keep_kinds_and_settings(self, table, tmp_path):
        options = {"transform": "none", "penalty": 2.0, "kinds": {"d": "omit"}}
        optima = kes.learn(table, **options, **RUNS)
        optima.save(tmp_path / "a.kes.json")
        loaded = kes.load(tmp_path / "a.kes.json")
        assert loaded.record == optima.record
        assert loaded.record.reading == optima.record.reading
        assert loaded.settings.penalty == 2.0
        assert loaded.settings.transform == "none"
        more = loaded.extend(5, data=table)
        assert more.record == kes.learn(table, **options, runs=10, improve=20).record
        assert pickle.loads(pickle.dumps(more)).record == more.record

    def test_other_data_are_refused(self, table, optima, tmp_path):
        optima.save(tmp_path / "a.kes.json")
        loaded = kes.load(tmp_path / "a.kes.json")
        with refused(option="data"):
            loaded.extend(5, data=table.assign(a=-table.a))
        with refused(option="data", column="a"):
            loaded.extend(5, data=table.assign(a="x"))
        assert loaded.trace(0, data=table) is not None

    def test_a_csv_file_is_read_again_in_the_same_way(self, table, tmp_path):
        path = tmp_path / "t.csv"
        table.round(6).to_csv(path, sep=";", decimal=",")  # with row numbers
        optima = kes.learn(path, **RUNS)
        assert optima.names == tuple(table.columns)
        optima.save(tmp_path / "a.kes.json")
        again = kes.load(tmp_path / "a.kes.json").extend(3, data=path)
        assert len(again.runs) == 8
        assert again.best.score == optima.best.score == kes.learn(table.round(6), **RUNS).best.score

    def test_steps_and_stops_are_explained(self, table, optima):
        stop = optima.explain()
        assert stop.better == 0
        worth = {(row["x"], row["y"]): row["worth"] for row in stop.edges()}
        for step in kes.inclusion_boundary(optima.best.graph, table):
            before = optima.best.score
            gain = kes.score(step.graph, table) - before
            assert gain == pytest.approx(step.delta, abs=1e-6)
            if step.kind == "delete":
                assert worth[step.x, step.y] <= -step.delta + 1e-9
        [first] = [
            s
            for s in kes.inclusion_boundary(optima.best.graph, table)
            if s.kind == "delete" and {s.x, s.y} == {"a", "b"}
        ]
        explained = kes.explain(first, table)
        assert explained.parameters == 1
        half = math.log(len(table)) / 2
        assert explained.fit == pytest.approx(explained.worth + half)
        assert "½ ln N each" in str(explained)
        assert "2 × ½ ln N each" in str(kes.explain(first, table, penalty=2))
        bge = kes.explain(
            kes.inclusion_boundary(kes.EssentialGraph("ab"))[0], table[["a", "b"]], criterion="bge"
        )
        assert "times as probable" in str(bge)

    def test_parameters_are_counted_by_occurring_states(self):
        """Three states, one of which has no weight: one indicator, so one coefficient."""
        states = Discrete(("x", "y", "z"), np.arange(40) % 3)
        values = Continuous(np.random.default_rng(1).normal(size=40))
        weights = np.where(np.arange(40) % 3 == 2, 0.0, 1.0)
        table = kes.Dataset.of(["s", "v"], [states, values], weights)
        [step] = kes.inclusion_boundary(kes.EssentialGraph("sv"), table)
        assert kes.explain(step, table).parameters == 1
        assert kes.explain(step, table.reweighted(None)).parameters == 2

    def test_small_tables_are_proven(self, table, optima):
        certificate = kes.certify(table, optima=optima)
        assert certificate.proven
        assert certificate.score == optima.best.score
        with pytest.raises(kes.KesError) as wrong:
            kes.certify(table, penalty=2.0, optima=optima)
        assert wrong.value.option == "penalty"

    def test_large_ones_cannot_be_and_say_so(self):
        wide = np.random.default_rng(1).normal(size=(100, 40))
        with refused("40 variables.*max_parents=3", option="max_parents"):
            kes.certify(wide)
        few = kes.certify(wide[:, :12], max_parents=1)
        assert few.proven

    def test_stability_sweep_and_report(self, table, optima, tmp_path):
        stability = kes.stability(table, resamples=4, runs=3)
        assert ("a", "b") in {(row["x"], row["y"]) for row in optima.edges(stability)}
        assert len(kes.sweep(table, ks=[0.4, 1.0], runs=3).table()) == 2
        assert "location model" in str(optima)

    def test_transform_and_penalty_are_settings(self, table):
        first = kes.learn(table, runs=2, improve=False)
        second = kes.learn(table, runs=2, improve=False, penalty=2.0)
        assert first.settings.differences(second.settings) == ["penalty: 1.0 there, 2.0 here"]


class TestBadInput:
    """Always a KesError that names what is wrong; never a score that is no number."""

    def test_two_columns_that_say_the_same(self, table):
        twin = table.assign(e=3 - 2 * table.a, f=table.s.map({"high": 1.5, "low": -7.25}))
        with refused("'a' and 'e';", column="a"):
            kes.learn(twin)
        with refused("'s' and 'f'", column="a"):
            kes.learn(twin, criterion="degenerate-bic", transform="none")

    def test_sets_that_become_collinear_are_noted(self, table):
        optima = kes.learn(table.assign(e=table.a + table.d), transform="none", **RUNS)
        assert any("collinear columns" in n and "'a', 'd', 'e'" in n for n in optima.notes)
        assert all(math.isfinite(optimum.score) for optimum in optima)

    def test_a_model_of_them_has_no_score(self, table):
        bound = table.assign(e=table.a + table.d)
        arcs = [("a", "e"), ("d", "e")]
        graph = kes.EssentialGraph.from_dag([*bound.columns], arcs)
        for use in (
            lambda: kes.score(arcs, bound, transform="none"),
            lambda: kes.learn(bound, start=arcs, transform="none"),
            lambda: kes.inclusion_boundary(graph, bound, transform="none"),
        ):
            with refused("'d', 'e'", column="a"):
                use()
        half = kes.EssentialGraph.from_dag([*bound.columns], [("a", "e")])
        steps = kes.inclusion_boundary(half, bound, transform="none")
        assert all(math.isfinite(step.delta) for step in steps)
        assert not any({step.x, step.y} | step.given == {"a", "d", "e"} for step in steps)

    @pytest.mark.parametrize("criterion", ["bic", "aic", "bge"])
    @pytest.mark.parametrize("rows", [3, 5, 9])
    def test_fewer_rows_than_columns(self, criterion, rows):
        wide = np.random.default_rng(rows).normal(size=(rows, 12))
        optima = kes.learn(wide, criterion=criterion, **RUNS)
        assert all(math.isfinite(optimum.score) for optimum in optima)

    def test_one_and_two_rows(self, table):
        with refused("1 row", option="data"):
            kes.learn(table[:1])
        with refused("2 rows", option="data"):
            kes.learn(table[["a", "b"]][:2])

    def test_constant_columns_are_isolated(self, table):
        optima = kes.learn(table.assign(one=2.5, two="x"), **RUNS)
        assert any(
            "constant, so isolated" in note and "'one', 'two'" in note for note in optima.notes
        )
        assert not [edge for edge in optima.best.graph.skeleton if edge & {"one", "two"}]
        flat = kes.learn(np.full((9, 2), 2.5), **RUNS)
        assert flat.best.score == 0

    def test_missing_values(self, table):
        gaps = table.assign(a=table.a.where(table.index % 5 > 0), s=table.s.where(table.index > 3))
        with refused("80 of 400", option="missing", column="a"):
            kes.learn(gaps)
        with refused("impute", option="missing", column="a"):
            kes.learn(gaps, missing="state")
        dropped = kes.learn(gaps, missing="drop", **RUNS)
        assert dropped.cases == len(gaps.dropna())

    def test_too_many_states_beside_numbers(self):
        rows = 9000
        table = pd.DataFrame(
            {"t": [f"t{i % 4500}" for i in range(rows)], "x": np.sin(np.arange(rows))}
        )
        with refused("4500", column="t"):
            kes.learn(table, criterion="degenerate-bic")

    @pytest.mark.parametrize("scale", [1e-300, 1e300])
    def test_extreme_numbers(self, table, scale):
        plain = {"transform": "none"}
        score = kes.score([("a", "b")], table.assign(a=table.a * scale), **plain)
        shift = len(table) * math.log(scale)
        assert score == pytest.approx(kes.score([("a", "b")], table, **plain) - shift, rel=1e-9)
