"""Networks: what a user takes home from a search."""

from kes.network.fitting import fit
from kes.network.discrete import BayesianNetwork

__all__ = ["BayesianNetwork", "fit"]
