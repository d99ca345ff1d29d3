"""Bayesian-network structure from discrete data, and the landscape of local optima around it.

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
from kes.boundary import Neighbour, inclusion_boundary
from kes.certify.certificate import Certificate, CertifyProgress
from kes.certify.certify import certify
from kes.data import Dataset
from kes.discretize import discretize
from kes.edges import ConsensusGraph
from kes.errors import Interrupted, KesError
from kes.explain import explain
from kes.formats import convert, read_graph, read_network
from kes.graph import EssentialGraph
from kes.improve import ImprovementInterrupted
from kes.improved import Improved, ImprovedOptimum
from kes.learn import learn
from kes.network import BayesianNetwork, fit
from kes.optima import Optima, load
from kes.optimum import Optimum
from kes.progress import Progress
from kes.score import score
from kes.settings import Sampled, Settings
from kes.stability import Stability, StabilityInterrupted, stability
from kes.sweep import Sweep, sweep
from kes.table import Table
from kes.truth import compare_to_truth
from kes.validate import cross_validate

if TYPE_CHECKING:
    from kes.estimator import KES as KES

# KES is not here: a star import must neither need scikit-learn nor wait for it.
__all__ = [
    "BayesianNetwork",
    "Certificate",
    "CertifyProgress",
    "ConsensusGraph",
    "Dataset",
    "EssentialGraph",
    "Improved",
    "ImprovedOptimum",
    "ImprovementInterrupted",
    "Interrupted",
    "KesError",
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
