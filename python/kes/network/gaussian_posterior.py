"""Exact integrals over unknown continuous nodes whose families are all linear.

Every family says that some linear function of the unknown values u is normal: a'u is t, give or
take the deviation s, where t follows from what is known in a row. The product of such densities is
proportional to a normal density of u with the precision P = sum of a a' / s^2 and the mean
P^-1 (sum of a t / s^2). Only the unknown nodes that bear on each other are in u, so this costs the
cube of their number, however large the network is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kes.network.cpds import Linear, regressor_places
from kes.network.evidence import Known


class Posterior(NamedTuple):
    """The normal distribution of unknown nodes in each row.

    Attributes
    ----------
    log_evidence
        Logarithm of the integral, shape (rows,).
    means
        Shape (rows, nodes).
    covariance
        Shape (nodes, nodes): the same in all rows.
    """

    log_evidence: NDArray[np.float64]
    means: NDArray[np.float64]
    covariance: NDArray[np.float64]


def integrate(known: Known, component: Sequence[str], nodes: Sequence[str]) -> Posterior:
    """Multiply densities of linear nodes, and integrate over unknown values.

    Parameters
    ----------
    known
        What is known.
    component
        The unknown nodes, all continuous and none constant.
    nodes
        The nodes whose densities are multiplied: linear ones, those of the component among them.
    """
    network = known.network
    place = {node: i for i, node in enumerate(component)}
    filled = known.with_columns({node: np.zeros(known.rows) for node in component})
    signs, targets, deviations = [], [], []
    for node in nodes:
        model = network.local(node)
        assert isinstance(model, Linear), "only linear nodes are integrated"
        levels = [len(network.states[parent]) for parent in network.parents[node]]
        sign = np.zeros(len(component))
        for parent, at in zip(network.parents[node], regressor_places(levels), strict=True):
            if parent in place:
                sign[place[parent]] = -model.coefficients[at.start]
        if node in place:
            sign[place[node]] = 1.0
        signs.append(sign)
        targets.append(model.mean(filled.inputs(node)) - filled.columns[node])
        deviations.append(model.deviation)
    a = np.array(signs) / np.array(deviations)[:, np.newaxis]
    t = np.array(targets).T / np.array(deviations)
    precision = a.T @ a
    scales = np.sqrt(np.diag(precision))  # so that units do not matter
    root = np.linalg.cholesky(precision / np.outer(scales, scales))
    inverse = np.linalg.solve(root, np.diag(1 / scales))
    covariance = inverse.T @ inverse
    means = t @ a @ covariance
    apart = means @ a.T - t
    log_evidence = -0.5 * (apart**2).sum(axis=1) + (
        0.5 * (len(component) - len(nodes)) * log(2 * pi)
        - np.log(deviations).sum()
        - np.log(np.diag(root)).sum()
        - np.log(scales).sum()
    )
    return Posterior(log_evidence, means, covariance)
