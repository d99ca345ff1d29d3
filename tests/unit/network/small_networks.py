"""Small discrete networks, and the joint distribution as the sum it is."""

from itertools import product

import numpy as np
import pandas as pd

from kes.network import BayesianNetwork


def sprinkler() -> BayesianNetwork:
    """Four nodes with states of all types, one of them impossible."""
    return BayesianNetwork(
        nodes=["wet", "rain", "sprinkler", "season"],
        states={
            "season": ["dry", "rainy"],
            "sprinkler": [False, True],
            "rain": [0, 1, 2],
            "wet": ["no", "yes"],
        },
        parents={"sprinkler": ["season"], "rain": ["season"], "wet": ["sprinkler", "rain"]},
        cpts={
            "season": [0.5, 0.5],
            "sprinkler": [[0.25, 0.75], [1.0, 0.0]],
            "rain": [[0.75, 0.25, 0.0], [0.25, 0.25, 0.5]],
            "wet": [[[0.875, 0.125], [0.5, 0.5], [0.25, 0.75]], [[0.5, 0.5], [0.25, 0.75], [0, 1]]],
        },
    )


def joint(network):
    """Yield every configuration of the nodes with its probability, by the chain rule."""
    for codes in product(*(range(len(network.states[node])) for node in network.nodes)):
        code = dict(zip(network.nodes, codes, strict=True))
        probability = 1.0
        for node, parents in network.parents.items():
            probability *= network.cpts[node][(*(code[p] for p in parents), code[node])]
        yield {node: network.states[node][c] for node, c in code.items()}, probability


def mass(network, **known):
    return sum(p for row, p in joint(network) if all(row[n] == s for n, s in known.items()))


def random_network(seed, nodes=5) -> BayesianNetwork:
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(nodes)]
    states = {name: list(range(rng.integers(1, 4))) for name in names}
    parents = {
        name: [str(p) for p in rng.permutation(names[:i])[: rng.integers(0, 4)]]
        for i, name in enumerate(names)
    }
    cpts = {}
    for name in names:
        shape = [len(states[p]) for p in parents[name]]
        cpts[name] = rng.dirichlet(np.ones(len(states[name])), size=shape)
    return BayesianNetwork([str(n) for n in rng.permutation(names)], states, parents, cpts)


def frame(rows) -> pd.DataFrame:
    return pd.DataFrame(list(rows))
