"""Answers averaged over the posterior, against a sum over all DAGs.

With BDeu, the probability of a new case given the data is P(data and case) / P(data), each a sum
over all DAGs of their marginal likelihoods. The average must agree, though it sums over classes and
multiplies their probabilities by those of estimated networks.
"""

import itertools
import math
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import kes
from kes.network import AveragedNetwork

SIZES = (2, 3, 2, 2, 3)
ESS = 2.5


def all_dags(n):
    """All DAGs, as the tuple of the parents of each node."""
    subsets = [
        [
            frozenset(own)
            for size in range(n)
            for own in itertools.combinations([u for u in range(n) if u != v], size)
        ]
        for v in range(n)
    ]

    def is_acyclic(parents):
        left = set(range(n))
        while free := {v for v in left if not parents[v] & left}:
            left -= free
        return not left

    return [parents for parents in itertools.product(*subsets) if is_acyclic(parents)]


def family(cases, v, parents):
    """The marginal likelihood of a family, by the formula of Heckerman et al."""
    own = sorted(parents)
    cells = math.prod(SIZES[p] for p in own)
    alpha, each = ESS / cells, ESS / cells / SIZES[v]
    joint = Counter((tuple(case[p] for p in own), case[v]) for case in cases)
    margin = Counter(tuple(case[p] for p in own) for case in cases)
    return sum(math.lgamma(each + count) - math.lgamma(each) for count in joint.values()) - sum(
        math.lgamma(alpha + count) - math.lgamma(alpha) for count in margin.values()
    )


def log_sum(dags, cases, allowed=lambda parents: True):
    """ln of the sum of P(cases | DAG) over all DAGs."""
    scores: dict[tuple[int, frozenset[int]], float] = {}
    for parents in dags:
        for v, own in enumerate(parents):
            if (v, own) not in scores:
                scores[v, own] = family(cases, v, own)
    totals = [
        sum(scores[v, own] for v, own in enumerate(parents)) for parents in dags if allowed(parents)
    ]
    return float(np.logaddexp.reduce(totals))


def drawn(n, rows, seed):
    """Cases of a chain, in which neighbours depend on each other."""
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(rows):
        case = []
        for v in range(n):
            keep = v > 0 and rng.random() < 0.5
            case.append(min(case[-1], SIZES[v] - 1) if keep else int(rng.integers(SIZES[v])))
        cases.append(tuple(case))
    return cases


def encoded(cases):
    names = [f"v{i}" for i in range(len(cases[0]))]
    columns = {
        name: pd.Categorical(column, categories=range(size))
        for name, column, size in zip(names, zip(*cases, strict=True), SIZES, strict=False)
    }
    return kes.data.encode(pd.DataFrame(columns))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_cases_have_the_probability_of_a_sum_over_all_dags(n):
    cases = drawn(n, 40, n)
    average = kes.posterior(encoded(cases), ess=ESS).ensemble(share=1.0)
    dags = all_dags(n)
    data = log_sum(dags, cases)
    every = list(itertools.product(*map(range, SIZES[:n])))
    expected = [math.exp(log_sum(dags, [*cases, case]) - data) for case in every]
    assert sum(expected) == pytest.approx(1, abs=1e-9)
    found = [average.probability({f"v{i}": code for i, code in enumerate(case)}) for case in every]
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    logs = average.log_likelihood(encoded(every), per_row=True)
    np.testing.assert_allclose(np.exp(logs), expected, rtol=1e-8)


def test_answers_given_evidence_are_ratios_of_such_sums():
    n, cases = 4, drawn(4, 30, 9)
    average = kes.posterior(encoded(cases), ess=ESS).ensemble(share=1.0)
    dags = all_dags(n)
    every = list(itertools.product(*map(range, SIZES[:n])))
    data = log_sum(dags, cases)
    joint = {case: math.exp(log_sum(dags, [*cases, case]) - data) for case in every}
    given = sum(p for case, p in joint.items() if case[3] == 1)
    expected = {
        code: sum(p for case, p in joint.items() if case[3] == 1 and case[1] == code) / given
        for code in range(SIZES[1])
    }
    assert average.probability("v1", {"v3": 1}) == pytest.approx(expected, abs=1e-9)
    row = encoded([case for case in every if case[3] == 1])
    proba = average.predict_proba(row, "v1")
    for (a, _, c, d), found in zip((c for c in every if c[3] == 1), proba, strict=True):
        own = np.array([joint[a, code, c, d] for code in range(SIZES[1])])
        np.testing.assert_allclose(found, own / own.sum(), rtol=1e-8)


def test_knowledge_restricts_the_sum():
    cases = drawn(3, 40, 4)
    knowledge = kes.Knowledge(forbidden=[("v0", "v1")], required=[("v2", "v1")])
    post = kes.posterior(encoded(cases), ess=ESS, knowledge=knowledge)
    average = post.ensemble(share=1.0)
    dags = all_dags(3)

    def allowed(parents):
        return 0 not in parents[1] and 2 in parents[1]

    data = log_sum(dags, cases, allowed)
    for case in itertools.product(*map(range, SIZES[:3])):
        expected = math.exp(log_sum(dags, [*cases, case], allowed) - data)
        found = average.probability({f"v{i}": code for i, code in enumerate(case)})
        assert found == pytest.approx(expected, rel=1e-8)


def test_the_average_has_the_edges_of_the_posterior():
    post = kes.posterior(encoded(drawn(4, 40, 6)), ess=ESS)
    average = post.ensemble(share=1.0)
    assert sum(average.weights) == pytest.approx(1)
    for row in average.edges():
        assert row["edge"] == pytest.approx(post.edge(row["x"], row["y"]), abs=1e-9)


def test_a_share_of_the_posterior_is_its_top():
    post = kes.posterior(encoded(drawn(4, 40, 6)), ess=ESS)
    top = post.ensemble(share=0.5)
    total = sum(model.probability for model in post.models[: len(top.members)])
    assert total >= 0.5 > total - post.models[len(top.members) - 1].probability
    assert len(top.members) < len(post.models)
    own = [model.probability / total for model in post.models[: len(top.members)]]
    assert list(top.weights) == pytest.approx(own)


def test_weights_are_kept_in_files_and_pickles(tmp_path):
    average = kes.posterior(encoded(drawn(3, 40, 6))).ensemble()
    assert len(set(average.weights)) > 1
    average.save(tmp_path / "average.json")
    for again in (kes.read_network(tmp_path / "average.json"), pickle.loads(pickle.dumps(average))):
        assert isinstance(again, AveragedNetwork)
        assert again == average


def test_normalised_weights_stay_the_same(tmp_path):
    """To the bit, though their sum may miss 1 by rounding; so an average equals its copies."""
    one = kes.posterior(encoded(drawn(2, 40, 6))).ensemble().members[0]
    rng = np.random.default_rng(0)
    for weights in (*rng.random((200, 7)), [0.333333333333333] * 3, [1] * 49):
        average = AveragedNetwork([one] * len(weights), weights)
        assert AveragedNetwork(average.members, average.weights) == average
        np.testing.assert_allclose(average.weights, np.divide(weights, np.sum(weights)), rtol=1e-14)
    average.save(tmp_path / "average.json")
    assert kes.read_network(tmp_path / "average.json") == average


def test_a_file_may_have_whole_numbers_as_weights(tmp_path):
    one = kes.posterior(encoded(drawn(2, 40, 6))).ensemble().members[0]
    path = tmp_path / "average.json"
    AveragedNetwork([one, one], [0.25, 0.75]).save(path)
    path.write_text(path.read_text().replace("[0.25, 0.75]", "[1, 3]"))
    assert kes.read_network(path).weights == (0.25, 0.75)


def test_samples_choose_members_by_weight():
    """20 000 cases: the share of a state misses its probability by 5 standard errors less than
    once in a million."""
    average = kes.posterior(encoded(drawn(3, 40, 6))).ensemble()
    codes = average.sample(20_000).codes
    for state, p in average.probability("v1").items():
        assert abs((codes[1] == state).mean() - p) < 5 * (p * (1 - p) / 20_000) ** 0.5


def test_without_data_there_is_no_average():
    post = pickle.loads(pickle.dumps(kes.posterior(encoded(drawn(3, 40, 6)))))
    with pytest.raises(kes.KesError) as error:
        post.ensemble()
    assert error.value.option == "data"


@pytest.mark.parametrize(
    "weights",
    [[1.0], [1.0, 0.0], [1.0, float("nan")], [1.0, -1.0], 2.0, [1.0, "much"], [1.0, 10**400]],
)
def test_weights_must_be_positive_and_as_many_as_members(weights):
    one = kes.posterior(encoded(drawn(2, 40, 6))).ensemble().members[0]
    with pytest.raises(kes.KesError) as error:
        AveragedNetwork([one, one], weights)
    assert error.value.option == "weights"
