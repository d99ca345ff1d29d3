"""Bayesian-network structure from tables of any kind, and the landscape of local optima around it.

>>> import kes
>>> optima = kes.learn(kes.datasets.alarm(rows=1000), runs=20)
>>> optima.best.graph.nodes[:2]
('HISTORY', 'CVP')

`learn` does many runs of k-greedy equivalence search [Nielsen 2003] and returns the `Optima` they
end in. The same from the command line: ``kes learn data.csv``.
"""

from importlib import import_module

TYPE_CHECKING = False  # as typing has it, which takes longer to import than all of this

if TYPE_CHECKING:
    from kes import datasets
    from kes._core import __version__
    from kes.analysis.certificate import Certificate, CertifyProgress
    from kes.analysis.certify import certify
    from kes.analysis.explain import explain
    from kes.analysis.ground_truth import compare_to_truth
    from kes.analysis.held_out import cross_validate
    from kes.analysis.k_sweep import Sweep, sweep
    from kes.analysis.stability import Stability, StabilityInterrupted, stability
    from kes.analysis.support import ConsensusGraph
    from kes.api import inclusion_boundary, learn, load, score
    from kes.data import Dataset
    from kes.data.audit import audit
    from kes.data.discretizer import Discretizer, discretize
    from kes.errors import ClusterLost, Interrupted, KesError
    from kes.estimator import KES as KES
    from kes.graph import EssentialGraph
    from kes.graph.boundary import Neighbour
    from kes.graph.knowledge import Knowledge
    from kes.graph.mpdag import Mpdag
    from kes.network import (
        BayesianNetwork,
        GaussianNetwork,
        MixedNetwork,
        convert,
        fit,
        read_graph,
        read_network,
    )
    from kes.options import Sampled
    from kes.progress import Progress
    from kes.results.optima import Optima
    from kes.results.optimum import Optimum
    from kes.settings import Settings
    from kes.table import Table

# KES is not here: a star import must neither need scikit-learn nor wait for it.
__all__ = [
    "BayesianNetwork",
    "Certificate",
    "CertifyProgress",
    "ClusterLost",
    "ConsensusGraph",
    "Dataset",
    "Discretizer",
    "EssentialGraph",
    "GaussianNetwork",
    "Interrupted",
    "KesError",
    "Knowledge",
    "MixedNetwork",
    "Mpdag",
    "Neighbour",
    "Optima",
    "Optimum",
    "Progress",
    "Sampled",
    "Settings",
    "Stability",
    "StabilityInterrupted",
    "Sweep",
    "Table",
    "__version__",
    "audit",
    "certify",
    "compare_to_truth",
    "convert",
    "cross_validate",
    "datasets",
    "discretize",
    "explain",
    "fit",
    "inclusion_boundary",
    "learn",
    "load",
    "read_graph",
    "read_network",
    "score",
    "stability",
    "sweep",
]

_HOMES = {
    "kes._core": "__version__",
    "kes.analysis.explain": "explain",
    "kes.analysis.stability": "Stability StabilityInterrupted stability",
    "kes.analysis.support": "ConsensusGraph",
    "kes.analysis.k_sweep": "Sweep sweep",
    "kes.analysis.ground_truth": "compare_to_truth",
    "kes.analysis.held_out": "cross_validate",
    "kes.data": "Dataset",
    "kes.data.audit": "audit",
    "kes.data.discretizer": "Discretizer discretize",
    "kes.errors": "ClusterLost Interrupted KesError",
    "kes.analysis.certificate": "Certificate CertifyProgress",
    "kes.analysis.certify": "certify",
    "kes.graph": "EssentialGraph",
    "kes.graph.boundary": "Neighbour",
    "kes.graph.knowledge": "Knowledge",
    "kes.graph.mpdag": "Mpdag",
    "kes.api": "inclusion_boundary learn load score",
    "kes.network": "BayesianNetwork GaussianNetwork MixedNetwork fit",
    "kes.network.files": "convert read_graph read_network",
    "kes.progress": "Progress",
    "kes.results.optima": "Optima",
    "kes.results.optimum": "Optimum",
    "kes.options": "Sampled",
    "kes.settings": "Settings",
    "kes.table": "Table",
    "kes.estimator": "KES",
}
"""The module of each of these names.

It is imported when one of its names is used: numpy and all that stands on it takes tenths of a
second, in which the command line already has to answer to Ctrl-C, and scikit-learn as long again.
"""

_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name == "datasets":
        return import_module("kes.datasets")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "KES"})
