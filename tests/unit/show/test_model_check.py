"""The report's check whether the network reproduces the data."""

import re
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

import kes
from kes.show.report.families import FittedNetworks
from kes.show.report.model_check import check_text, model_check
from kes.show.report.page import page


def test_a_column_that_is_mostly_zero_is_found_out():
    rng = np.random.default_rng(0)
    visits = np.where(rng.random(2000) < 0.7, 0.0, rng.exponential(8, 2000))
    frame = pd.DataFrame({"visits <h>": visits, "height": rng.normal(170, 8, 2000)})
    optima = kes.learn(frame, runs=2)
    check = model_check(optima, FittedNetworks(optima.problem.dataset))
    [misfit] = check.misfits
    assert misfit.names == ("visits <h>",)
    # 70 % are at most 0; of a normal distribution with its mean and deviation, less than half.
    normal = NormalDist(visits.mean(), visits.std()).cdf(0)
    assert misfit.size == pytest.approx((visits <= 0).mean() - normal, abs=0.02)
    assert "70% of the data" in misfit.words
    assert check.not_normal == ["visits <h>"]
    shown = page(optima, problem=optima.problem)
    assert misfit.words in shown
    assert "--discretize &#x27;visits &lt;h&gt;=3&#x27;" in shown


def test_numbers_are_written_for_people():
    """Dollars have no exponent, a limit is not below its own value, and no zero is negative."""
    rng = np.random.default_rng(0)
    price = np.where(rng.random(2000) < 0.7, 54_321.98765, rng.uniform(60_000, 400_000, 2000))
    table = pd.DataFrame({"price": price, "sign": -(np.linspace(-1, 1, 2000) ** 2)})
    table.loc[:9, "sign"] = None
    optima = kes.learn(table, runs=2, missing="em")
    text = check_text(model_check(optima, FittedNetworks(optima.problem.dataset)))
    assert "of 10\u202f000 drawn cases" in text
    share = f"{(price < 60_000).mean():.0%} of the data"
    assert f"<bdi>price</bdi> at most 54\u202f322: {share}" in text
    assert "Imputed values count as data here: 10 of <bdi>sign</bdi>." in text
    assert "e+" not in text
    assert "-0.00" not in text


def test_a_yes_says_which_values_were_imputed():
    """They are drawn from the model: many of them make any table like its network."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(2000, 5)), columns=[*"abcde"])
    for name, share in zip("abcd", (0.1, 0.7, 0.2, 0.05), strict=True):
        frame.loc[rng.random(2000) < share, name] = None
    counts = frame.isna().sum()
    optima = kes.learn(frame, runs=2, missing="em")
    text = check_text(model_check(optima, FittedNetworks(optima.problem.dataset)))
    assert text.startswith("<p>Yes")
    named = ", ".join(f"{counts[name]} of <bdi>{name}</bdi>" for name in "bca")
    assert f"count as data here: {named} and others." in text.replace("\u202f", "")


def test_what_to_do_about_columns_is_said_once():
    rng = np.random.default_rng(0)
    visits = np.where(rng.random((2000, 5)) < 0.7, 0.0, rng.exponential(8, (2000, 5)))
    optima = kes.learn(pd.DataFrame(visits, columns=list("abcde")), runs=2)
    text = check_text(model_check(optima, FittedNetworks(optima.problem.dataset)))
    assert text.count("modelled as normal") == text.count("--transform ranks") == 1
    [cuts] = re.findall("--discretize (.*)\n", text)
    assert sorted(cuts.split(",")) == [f"{name}=3" for name in "abcde"]


def test_ranks_are_not_advised_where_the_search_is_by_ranks():
    """Of mixed tables it is by default."""
    rng = np.random.default_rng(0)
    visits = np.where(rng.random(2000) < 0.7, 0.0, rng.exponential(8, 2000))
    table = pd.DataFrame({"visits": visits, "sex": rng.choice(["f", "m"], 2000)})
    optima = kes.learn(table, runs=2)
    text = check_text(model_check(optima, FittedNetworks(optima.problem.dataset)))
    assert "--discretize visits=3" in text
    assert "--transform" not in text
    plain = kes.learn(table, runs=2, transform="none")
    text = check_text(model_check(plain, FittedNetworks(plain.problem.dataset)))
    assert "--transform ranks" in text


def test_pairs_that_are_not_connected_are_looked_at():
    """On a parabola, there is no correlation."""
    rng = np.random.default_rng(0)
    x = np.linspace(-1, 1, 1001)
    frame = pd.DataFrame({"x": x, "y": x**2, "z": rng.normal(size=1001)})
    optima = kes.learn(frame, runs=2)
    assert not optima.best.graph.skeleton
    check = model_check(optima, FittedNetworks(optima.problem.dataset))
    assert check.all_pairs
    [curve] = [one for one in check.misfits if len(one.names) == 2]
    assert curve.names == ("x", "y")
    assert curve.size > 0.7
    assert "<bdi>y</bdi> with how extreme <bdi>x</bdi> is" in curve.words


def test_a_state_and_a_number_that_go_together_unseen_are_told():
    """Knowledge keeps them apart; the difference of means is that of the table."""
    rng = np.random.default_rng(2)
    group = rng.integers(0, 2, 800)
    frame = pd.DataFrame({"group": np.where(group, "b", "a"), "dose": rng.normal(3.0 * group, 1)})
    known = kes.Knowledge(apart=[("group", "dose")])
    optima = kes.learn(frame, runs=2, knowledge=known)
    found = model_check(optima, FittedNetworks(optima.problem.dataset)).misfits
    [misfit] = [one for one in found if one.names == ("group", "dose")]
    own = np.corrcoef(group, frame["dose"])[0, 1]
    assert misfit.size == pytest.approx(own, abs=0.04), "independent in the network"
    assert "Mean of <bdi>dose</bdi> where <bdi>group</bdi> = " in misfit.words


def test_many_states_that_go_together_unseen_are_told():
    """Each of the 60 streets is in one of 20 towns, and no combination is frequent."""
    rng = np.random.default_rng(3)
    street, other = rng.integers(0, 60, 900), rng.integers(0, 20, 900)
    columns = {"street": street, "town": street % 20, "other": other, "x": other % 2}
    frame = pd.DataFrame({name: [f"{name}{i}" for i in own] for name, own in columns.items()})
    known = kes.Knowledge(apart=[("street", "town")])
    optima = kes.learn(frame, runs=2, knowledge=known)
    found = model_check(optima, FittedNetworks(optima.problem.dataset)).misfits
    [misfit] = [one for one in found if one.names == ("street", "town")]
    start = "Cases with the same <bdi>street</bdi> have the same <bdi>town</bdi>"
    assert misfit.words == f"{start}: in 100% of pairs in the data, 5% in the network"
    assert not [one for one in found if len(one.names) == 2 and "town" not in one.names]


def test_no_misfit_rests_on_one_case():
    rng = np.random.default_rng(4)
    visits = np.minimum(rng.poisson(0.8, 189), 3).astype(str)
    weight = rng.normal(120, 15, 189)
    for cases, seen in ((1, False), (8, True)):
        visits[:cases], weight[:cases] = "6", 250.0
        frame = pd.DataFrame({"visits": visits, "weight": weight})
        optima = kes.learn(frame, runs=1, knowledge=kes.Knowledge(apart=[("visits", "weight")]))
        found = model_check(optima, FittedNetworks(optima.problem.dataset)).misfits
        assert any("<bdi>visits</bdi> = 6" in one.words for one in found) == seen


def test_chance_is_no_misfit():
    """Of 780 pairs in 60 cases, some correlate by more than a third, and none is reported."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(60, 40)), columns=[f"v{i}" for i in range(40)])
    optima = kes.learn(frame, runs=1, improve=False, max_parents=1, penalty=8.0)
    assert not optima.best.graph.skeleton
    assert np.abs(np.triu(np.corrcoef(frame.T), 1)).max() > 1 / 3
    assert model_check(optima, FittedNetworks(optima.problem.dataset)).misfits == []


def test_states_whose_shares_are_off_are_told():
    """The network draws x, which is far from normal, from a bell curve, and so too few low ones."""
    rng = np.random.default_rng(0)
    x = rng.exponential(4, 3000) ** 2
    frame = pd.DataFrame({"x": x, "c": np.where(x > 1 + rng.random(3000) * 9, "high", "low")})
    optima = kes.learn(frame, runs=2, knowledge=kes.Knowledge(required=[("x", "c")]))
    network = optima.best.fit(frame)
    share = (frame["c"] == "high").mean()
    off = abs(network.probability({"c": "high"}).value - share)
    assert 0.05 < off < 0.1, off
    [misfit] = [
        misfit
        for misfit in model_check(optima, FittedNetworks(optima.problem.dataset)).misfits
        if misfit.names == ("c",)
    ]
    assert misfit.size == pytest.approx(off, abs=0.02)
    assert any(f"{part:.0%} of the data" in misfit.words for part in (share, 1 - share))
    text = page(optima, problem=optima.problem)
    top = text[: text.index("</header>")]
    assert "does not reproduce the data for" in top
    assert "<bdi>c</bdi>" in top


def test_data_that_are_of_its_kind_are_reproduced():
    rng = np.random.default_rng(1)
    x = rng.normal(size=3000)
    frame = pd.DataFrame({"x": x, "y": x + rng.normal(size=3000)})
    frame["z"] = np.where(rng.random(3000) < 0.3, "a", "b")
    frame["u"] = np.where(rng.random(3000) < 0.1, "a", frame["z"])
    optima = kes.learn(frame, runs=2)
    check = model_check(optima, FittedNetworks(optima.problem.dataset))
    assert check.misfits == []
    assert check_text(check).startswith("<p>Yes, ")
    assert 'href="#reproduction"' not in page(optima, problem=optima.problem)


def test_exogenous_variables_keep_the_values_of_the_rows():
    """No row has two experiments, and a network does not say so: it must not be blamed for it."""
    rng = np.random.default_rng(0)
    condition = rng.choice(["a", "b", "none"], 1500)
    x, y = rng.normal(size=(2, 1500)) + 3 * np.stack([condition == "a", condition == "b"])
    frame = pd.DataFrame({"condition": condition, "x": x, "y": y})
    targets = {"condition": {"a": "x", "b": "y", "none": None}}
    optima = kes.learn(frame, interventions=targets, runs=2)
    assert optima.best.mpdag.directed == {("condition[a]", "x"), ("condition[b]", "y")}
    assert model_check(optima, FittedNetworks(optima.problem.dataset)).misfits == []
    # The weights of the rows count: with them, half of the rows without an experiment are left.
    weighted = frame.assign(times=np.where((condition == "none") & (rng.random(1500) < 0.5), 0, 2))
    optima = kes.learn(weighted, interventions=targets, runs=2, weights="times")
    assert model_check(optima, FittedNetworks(optima.problem.dataset)).misfits == []


def test_weights_count():
    frame = pd.DataFrame({"x": ["a", "b"] * 50, "times": [9, 1] * 50})
    optima = kes.learn(frame, runs=2, weights="times")
    assert model_check(optima, FittedNetworks(optima.problem.dataset)).misfits == []


def test_rows_that_count_several_cases_are_as_many_rows():
    """Of 200 cases in 22 rows, 8 in one row make a misfit, as they do in eight rows."""
    rng = np.random.default_rng(4)
    visits, weight = rng.integers(0, 3, 200).astype(str), 110.0 + 5 * rng.integers(0, 7, 200)
    visits[:8], weight[:8] = "6", 250.0
    frame = pd.DataFrame({"visits": visits, "weight": weight})
    counted = frame.groupby([*frame]).size().reset_index(name="times")
    assert len(counted) == 22
    known = kes.Knowledge(apart=[("visits", "weight")])
    how = {"runs": 1, "knowledge": known, "kinds": {"weight": "continuous"}}
    words = []
    for optima in (kes.learn(frame, **how), kes.learn(counted, **how, weights="times")):
        fitted = FittedNetworks(optima.problem.dataset)
        words.append([one.words for one in model_check(optima, fitted).misfits])
    assert words[0] == words[1]
    assert any("<bdi>visits</bdi> = 6" in one for one in words[0])


def test_what_cannot_be_compared_is_said():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": np.exp(3 * rng.normal(size=99)), "y": rng.normal(size=99)})
    optima = kes.learn(frame, runs=2, transform="ranks")
    check = model_check(optima, FittedNetworks(optima.problem.dataset))
    assert check.misfits == [], "normal scores are normal, however skewed their values"
    assert "Not checked" in check_text(None)
