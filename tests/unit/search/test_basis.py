"""Curves as a user meets them: the option, its choice, files, recipes and the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused
from tests.unit.search.recipes import check_recipes

import kes
from kes import _core
from kes.cli import run
from kes.data.curves import degrees, polynomials
from kes.data.normal_scores import Ranks
from kes.search import basis
from kes.search.edge_price import chance_edges, default_price
from kes.search.problem import Problem
from kes.settings import Criterion


def parabolas(rows=300, seed=0):
    """v is a parabola of u, w a wave of v; z is noise."""
    rng = np.random.default_rng(seed)
    u, z = rng.normal(size=(2, rows))
    v = u**2 + 0.4 * rng.normal(size=rows)
    w = np.sin(2 * v) + 0.3 * rng.normal(size=rows)
    return pd.DataFrame({"u": u, "v": v, "w": w, "z": z})


def lines(rows=300, seed=0):
    """Relations that pay for a slope and not for a curve, so that curves miss them and lose."""
    rng = np.random.default_rng(seed)
    a, b, c, d = rng.normal(size=(4, rows))
    c += 0.3 * (a + b)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d + 0.3 * c})


CURVES = {frozenset("uv"), frozenset("vw")}


@pytest.fixture(scope="module")
def table():
    return parabolas()


def test_curves_are_found_that_lines_miss(table):
    assert kes.learn(table, basis=3).best.graph.skeleton == CURVES
    assert not kes.learn(table).best.graph.skeleton >= CURVES
    assert not kes.learn(table, transform="ranks").best.graph.skeleton >= CURVES


def test_only_the_order_of_values_counts(table):
    """Any increasing function of a column leaves all scores as they are, to the last bit."""
    arcs = [("u", "v"), ("v", "w")]
    bent = table.assign(u=np.exp(table["u"]), v=table["v"] ** 3, w=7 * table["w"] - 100)
    assert kes.score(arcs, bent, basis=4) == kes.score(arcs, table, basis=4)


@pytest.mark.parametrize("kind", ["continuous", "mixed"])
def test_the_order_of_rows_and_columns_changes_no_bit(table, kind):
    data = table.round(1)  # with ties
    if kind == "mixed":
        data = data.assign(s=np.where(data["u"].abs() > 1, "far", "near"))
    rng = np.random.default_rng(1)
    weights = pd.Series(rng.uniform(0.5, 2, len(data)))
    order = rng.permutation(len(data))
    other = data.iloc[order][[*data.columns[::-1]]]
    for graph in ([("u", "v"), ("u", "w"), ("v", "w")], [("z", "u"), ("w", "z")]):
        score = kes.score(graph, data, basis=3, weights=weights.to_numpy())
        again = kes.score(graph, other, basis=3, weights=weights.to_numpy()[order])
        assert again == score
    settings = [
        kes.learn(one, basis="auto", runs=1, improve=False, prove=False).settings.basis
        for one in (data, other)
    ]
    assert settings[0] == settings[1]


# --- degrees -------------------------------------------------------------------------------------


def test_columns_with_few_values_have_fewer_polynomials():
    rng = np.random.default_rng(0)
    nearly = np.zeros(500)
    nearly[:3] = [1.0, 2.0, 3.0]
    frame = pd.DataFrame(
        {
            "three": rng.integers(0, 3, 500).astype(float),
            "five": rng.integers(0, 5, 500).astype(float),
            "nearly": nearly,
            "many": rng.normal(size=500),
        }
    )
    kinds = dict.fromkeys(frame, "continuous")
    dataset = kes.data.encode(frame, kinds=kinds)
    found = degrees(Ranks.of(dataset).apply(dataset), 6)
    assert found[0] == 2
    assert found[1] == 4
    assert found[2] < 4
    assert found[3] == 6
    optima = kes.learn(frame, kinds=kinds, basis=6, runs=5)
    assert all(np.isfinite(optimum.score) for optimum in optima)


def test_polynomials_are_those_of_numpy():
    scores = np.linspace(-3, 3, 50)
    clipped = np.clip(scores / _core.SCORE_CLIP, -1, 1)
    expected = np.polynomial.legendre.legvander(clipped, 6)[:, 1:]
    assert polynomials(scores, 6) == pytest.approx(expected, abs=1e-14)


def test_families_leave_half_of_the_cases_free(table):
    """With d columns for each variable, a family of p variables needs more than 2 d p cases."""
    few = table.head(30)
    graph = kes.EssentialGraph.from_dag([*few], [("u", "w"), ("v", "w"), ("u", "v")])
    assert np.isfinite(kes.score(graph, few, basis=4))  # 12 columns
    with refused("families as large as the table; use fewer edges$"):
        kes.score(graph, few, basis=5)  # 15 columns
    steps = kes.inclusion_boundary(kes.EssentialGraph([*few]), few, basis=5)
    assert len(steps) == 6


def test_too_many_columns_are_refused():
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 700)))
    wide.columns = [f"x{i}" for i in range(700)]
    with refused("4200", option="basis"):
        kes.score([], wide, basis=6)


def test_a_pair_in_which_one_determines_the_other_is_excluded():
    """Three values determine two, but not the other way round; neither column is refused."""
    rng = np.random.default_rng(2)
    three = rng.integers(0, 3, 200).astype(float)
    for extra in ({}, {"s": np.where(rng.random(200) < 0.5, "a", "b")}):
        data = {"three": three, "two": (three > 1).astype(float), "x": rng.normal(size=200)}
        frame = pd.DataFrame(data | extra)
        kinds = dict.fromkeys(data, "continuous")
        optima = kes.learn(frame, kinds=kinds, basis=3, runs=3, improve=False)
        assert ("three", "two") in optima.excluded


# --- the choice ----------------------------------------------------------------------------------


def test_held_out_cases_choose_curves_or_lines(table):
    curved, straight = (kes.learn(one, basis="auto", runs=2) for one in (table, lines()))
    assert curved.settings.basis in (3, 4)
    assert straight.settings.basis is None
    assert curved.best.graph.skeleton == CURVES
    for optima, words in ((curved, "curves of degree"), (straight, "straight lines")):
        (note,) = (note for note in optima.notes if note.startswith("basis:"))
        assert words in note
        assert "held-out cases" in note
        assert words in repr(optima)
    assert straight == kes.learn(lines(), basis="auto", runs=2)


def test_the_choice_needs_cases_time_and_numbers(table):
    discrete = pd.DataFrame({"a": list("xyxy") * 30, "b": list("xxyy") * 30})
    for data, more, reason in (
        (table.head(60), {}, "fewer than 100 complete cases"),
        (discrete, {}, "no column is continuous"),
        (table, {"budget": 1e-6}, "budget was too short"),
    ):
        optima = kes.learn(data, basis="auto", runs=1, improve=False, **more)
        assert optima.settings.basis is None
        assert any(reason in note for note in optima.notes)


def test_an_interrupt_of_the_choice_is_one_of_learn(table, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("kes.search.basis.core_problem", interrupted)
    with pytest.raises(kes.Interrupted) as caught:
        kes.learn(table, basis="auto")
    assert caught.value.optima is None


def test_incomplete_tables_choose_on_complete_cases_and_impute_with_curves(table):
    gaps = np.random.default_rng(0).random(table.shape) < 0.05
    optima = kes.learn(table.mask(gaps), basis="auto", missing="em", runs=5)
    assert optima.settings.basis is not None
    assert optima.best.graph.skeleton == CURVES
    # Imputed values follow the curve: they keep the relation that lines cannot see.
    filled = optima.problem.dataset.to_pandas()
    assert kes.learn(filled, basis=3, runs=5).best.graph.skeleton == CURVES


# --- what knows it -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def optima(table):
    return kes.learn(table, runs=5, basis=3)


def test_the_result_says_what_it_is(optima):
    assert "curves of degree 3" in repr(optima)
    assert any("pseudo-likelihood" in note for note in optima.notes)
    assert optima.best.basis == 3


def test_files_keep_it_and_continue_under_it(table, optima, tmp_path):
    optima.save(tmp_path / "a.json")
    assert kes.load(tmp_path / "a.json") == optima
    assert kes.load(tmp_path / "a.json").extend(3, table) == optima.extend(3)
    with refused("basis: 3 there, 4 here", option="out", file=tmp_path / "a.json"):
        kes.learn(table, out=tmp_path / "a.json", basis=4)
    document = json.loads((tmp_path / "a.json").read_text())
    document["settings"]["basis"] = "auto"
    (tmp_path / "a.json").write_text(json.dumps(document))
    with refused(file=tmp_path / "a.json"):
        kes.load(tmp_path / "a.json")


def test_recipes_and_the_command_line_give_it_again(table, optima, tmp_path, monkeypatch):
    assert "--basis" in check_recipes(optima, table, tmp_path, monkeypatch)
    assert run(["learn", "data.csv", "--runs", "2", "--basis", "auto", "--out", "c.json"]) == 0
    assert kes.load("c.json").settings.basis in (3, 4)


@pytest.mark.parametrize(
    "options",
    [
        {"basis": 0},
        {"basis": 7},
        {"basis": 2.5},
        {"basis": "many"},
        {"basis": 3, "criterion": "bge"},
        {"basis": 3, "transform": "none"},
    ],
)
def test_wrong_values_name_the_option(table, options):
    with refused(option="basis"):
        kes.learn(table, **options)


def test_discrete_tables_have_no_curves():
    discrete = pd.DataFrame({"a": list("xyxy") * 30, "b": list("xxyy") * 30})
    with refused("discrete", option="basis"):
        kes.learn(discrete, basis=3)


def test_no_odds_are_read_off_a_pseudo_likelihood(table, optima):
    for ask in (lambda: kes.posterior(table, criterion="bic", basis=3), optima.posterior):
        with refused("pseudo-likelihood", option="basis"):
            ask()


def test_questions_about_the_result_use_it(table, optima):
    assert min(optima.trace(0)["delta"]) > 0
    assert optima.improve(tasks=20).best.score >= optima.best.score
    assert optima.noise(shuffles=3, runs=2).shuffled_edges == (0, 0, 0)
    assert {
        frozenset((row["x"], row["y"])) for row in optima.evidence() if row["evidence"] > 0
    } == CURVES
    assert kes.certify(table, optima=optima, basis=3).score == optima.best.score
    with refused(option="basis"):
        kes.certify(table, optima=optima)
    assert optima.best.explain(table)


# --- the price of edges --------------------------------------------------------------------------


@pytest.mark.parametrize(("variables", "cases"), [(50, 60), (200, 100), (1000, 150)])
def test_noise_of_curves_is_kept_out_by_default(variables, cases):
    """By the χ² distribution of the gains, beyond which few pairs of independent variables are."""
    from scipy import stats

    criterion = Criterion("bic", basis=2)
    penalty = 4 * np.log(cases) / 2
    gain = penalty + default_price(variables, cases, criterion)
    scale = (cases - 1 - 2.5) / cases
    expected = variables * (variables - 1) / 2 * stats.chi2.sf(2 * gain * scale, 4)
    assert expected / variables < 0.006
    chance = variables * (variables - 1) / 2 * stats.chi2.sf(2 * penalty * scale, 4)
    assert chance_edges(variables, cases, criterion) == pytest.approx(chance, rel=0.2)


def test_noise_gives_no_curves():
    rng = np.random.default_rng(0)
    edges = [
        len(kes.learn(pd.DataFrame(rng.normal(size=(80, 30))), basis=3).best.graph.skeleton)
        for _ in range(3)
    ]
    assert sum(edges) <= 2


def test_imputed_values_are_restored(table, tmp_path):
    gaps = np.random.default_rng(0).random(table.shape) < 0.05
    optima = kes.learn(table.mask(gaps), missing="em", basis=3, runs=2)
    assert optima.best.fit(table.mask(gaps)).nodes == tuple(table)
    optima.save(tmp_path / "r.kes.json.gz")
    longer = kes.load(tmp_path / "r.kes.json.gz").extend(1, data=table.mask(gaps))
    assert len(longer.runs) == 3
    pd.testing.assert_frame_equal(
        longer.problem.dataset.to_pandas(), optima.problem.dataset.to_pandas()
    )


# --- the choice, again ---------------------------------------------------------------------------


def test_twins_in_a_half_do_not_stop_the_choice():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["x0", "x1"])
    table["x2"] = table["x0"].where(table.index != 7, 3.0)
    optima = kes.learn(table, basis="auto", runs=1, improve=False)
    assert any(note.startswith("basis:") for note in optima.notes)


def test_the_choice_keeps_to_the_threads(table, monkeypatch):
    used, driver = [], basis.Driver
    monkeypatch.setattr(basis, "Driver", lambda *given: used.append(given[-1]) or driver(*given))
    kes.learn(table, basis="auto", n_jobs=1, runs=1, improve=False)
    assert set(used) == {1}


def test_a_resumed_file_keeps_its_basis(table, tmp_path):
    out = tmp_path / "r.kes.json.gz"
    first = kes.learn(table, basis="auto", runs=1, improve=False, out=out)
    assert first.settings.basis is not None
    # Too short a budget would choose straight lines.
    again = kes.learn(table, basis="auto", runs=1, improve=False, out=out, budget=1e-6)
    assert again.settings == first.settings
    assert again.notes == first.notes


def test_the_basis_is_chosen_once_beside_a_criterion(table, monkeypatch):
    made, choose = [], basis.choose_basis
    monkeypatch.setattr(basis, "choose_basis", lambda *given: made.append(1) or choose(*given))
    data = table.head(150)
    optima = kes.learn(data, basis="auto", criterion="auto", runs=1, improve=False)
    assert len(made) == 1
    assert sum(note.startswith("basis:") for note in optima.notes) == 1


def test_an_interrupt_of_both_choices_is_one_of_learn(table, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(basis, "core_problem", interrupted)
    with pytest.raises(kes.Interrupted):
        kes.learn(table, basis="auto", criterion="auto")


def test_budgets_know_the_columns_of_curves(table):
    assert Problem.of(table, {"basis": 3}).size.columns == 3 * len(table.columns)
    assert Problem.of(table, {}).size.columns == len(table.columns)
