"""ALARM: the network that every structure learner is tried on first."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import numpy as np

from kes.data import Dataset
from kes.network import BayesianNetwork
from kes.validation import integer


@cache
def alarm_network() -> BayesianNetwork:
    """Return the ALARM network [Beinlich 1989]: 37 nodes, 46 arcs, 509 parameters.

    ALARM models what can go wrong under anaesthesia: 8 diagnoses, 16 findings and 13 nodes in
    between, with two to four states each.

    Returns
    -------
    BayesianNetwork

    Examples
    --------
    >>> from kes.datasets import alarm_network
    >>> network = alarm_network()
    >>> len(network.nodes), len(network.arcs), network.n_parameters
    (37, 46, 509)
    >>> network.parents["LVEDVOLUME"]
    ('HYPOVOLEMIA', 'LVFAILURE')
    """
    text = files("kes.datasets").joinpath("alarm.json").read_text(encoding="utf-8")
    entries = json.loads(text)["nodes"]
    states = {node: tuple(entry["states"]) for node, entry in entries.items()}
    parents = {node: tuple(entry["parents"]) for node, entry in entries.items()}
    cpts = {}
    for node, entry in entries.items():
        table = np.array(entry["cpt"], dtype=np.float64)
        table /= table.sum(axis=1, keepdims=True)  # thirds are given as 0.3333333
        cpts[node] = table.reshape([len(states[member]) for member in (*parents[node], node)])
    return BayesianNetwork(nodes=tuple(entries), states=states, parents=parents, cpts=cpts)


def alarm(rows: int = 20_000, seed: int = 0) -> Dataset:
    """Draw cases from the ALARM network (see `alarm_network`).

    Parameters
    ----------
    rows
        Number of cases. A longer sample begins with the shorter ones of the same seed.
    seed
        Same seed, same cases, on every platform and with every version of numpy.

    Returns
    -------
    Dataset
        37 columns, for `kes.learn` and everything else that takes data.

    Examples
    --------
    >>> from kes.datasets import alarm
    >>> data = alarm(rows=1000)
    >>> data.codes.shape
    (37, 1000)
    """
    return alarm_network().sample(integer("rows", rows, minimum=1), seed)
