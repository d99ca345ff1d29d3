"""Fitted networks: conditional distributions, inference, prediction, files."""

from kes.network.average import AveragedNetwork
from kes.network.cpds import Linear, Logistic
from kes.network.discrete import BayesianNetwork
from kes.network.files import convert, read_graph, read_network
from kes.network.fitting import fit
from kes.network.gaussian import GaussianNetwork
from kes.network.mixed import MixedNetwork

__all__ = [
    "AveragedNetwork",
    "BayesianNetwork",
    "GaussianNetwork",
    "Linear",
    "Logistic",
    "MixedNetwork",
    "convert",
    "fit",
    "read_graph",
    "read_network",
]
