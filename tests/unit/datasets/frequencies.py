"""Compare observed frequencies with expected ones."""

import math

import numpy as np


def z_of_chi_square(observed, expected, degrees):
    """Standardise Pearson's statistic: about normal when there are many degrees of freedom."""
    assert expected.min() >= 5  # or the statistic would not be chi-square distributed
    statistic = ((observed - expected) ** 2 / expected).sum()
    return (statistic - degrees) / math.sqrt(2 * degrees)


def counts(codes, cardinalities):
    table = np.zeros(cardinalities)
    np.add.at(table, tuple(codes), 1)
    return table
