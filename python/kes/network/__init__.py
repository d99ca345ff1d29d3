"""Networks: what a user takes home from a search."""

from kes.network.discrete import BayesianNetwork
from kes.network.files import convert, read_graph, read_network
from kes.network.fitting import fit

__all__ = ["BayesianNetwork", "convert", "fit", "read_graph", "read_network"]
