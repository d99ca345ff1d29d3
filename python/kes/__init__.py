"""Bayesian-network structure from tables of any kind, and the landscape of local optima around it.

>>> import kes
>>> optima = kes.learn(kes.datasets.alarm(rows=1000), runs=20)
>>> optima.best.graph.nodes[:2]
('HISTORY', 'CVP')

`learn` does many runs of k-greedy equivalence search [Nielsen 2003] and returns the `Optima` they
end in. The same from the command line: ``kes learn data.csv``.
"""

from typing import TYPE_CHECKING

from kes import datasets
from kes._core import __version__
from kes.analysis.explain import explain
from kes.analysis.stability import Stability, StabilityInterrupted, stability
from kes.analysis.support import ConsensusGraph
from kes.analysis.sweep import Sweep, sweep
from kes.analysis.truth import compare_to_truth
from kes.analysis.validation import cross_validate
from kes.data import Dataset
from kes.data.audit import audit
from kes.data.discretizer import Discretizer, discretize
from kes.errors import Interrupted, KesError
from kes.exact.certificate import Certificate, CertifyProgress
from kes.exact.certify import certify
from kes.graph import EssentialGraph
from kes.graph.boundary import Neighbour
from kes.graph.knowledge import Knowledge
from kes.graph.mpdag import Mpdag
from kes.learning import inclusion_boundary, learn, load, score
from kes.network import (
    BayesianNetwork,
    GaussianNetwork,
    MixedNetwork,
    convert,
    fit,
    read_graph,
    read_network,
)
from kes.progress import Progress
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.settings import Sampled, Settings
from kes.table import Table

if TYPE_CHECKING:
    from kes.estimator import KES as KES

# KES is not here: a star import must neither need scikit-learn nor wait for it.
__all__ = [
    "BayesianNetwork",
    "Certificate",
    "CertifyProgress",
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


def __getattr__(name: str) -> object:
    """Import `KES` when it is used: scikit-learn takes longer to import than all else."""
    if name == "KES":
        from kes.estimator import KES

        return KES
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "KES"})
