"""Bayesian-network structure from discrete data, and the landscape of local optima around it.

>>> import kes
>>> optima = kes.learn(kes.datasets.alarm(rows=1000), runs=20)
>>> optima.best.graph.nodes[:2]
('HISTORY', 'CVP')

`learn` does many runs of k-greedy equivalence search [Nielsen 2003] and returns the `Optima` they
end in. The same from the command line: ``kes learn data.csv``.
"""

from kes import datasets
from kes._core import __version__
from kes.boundary import Neighbour, inclusion_boundary
from kes.data import Dataset
from kes.errors import Interrupted, KesError
from kes.graph import EssentialGraph
from kes.learn import learn
from kes.optima import Optima, Optimum, load
from kes.progress import Progress
from kes.score import score
from kes.settings import Sampled, Settings
from kes.table import Table

__all__ = [
    "Dataset",
    "EssentialGraph",
    "Interrupted",
    "KesError",
    "Neighbour",
    "Optima",
    "Optimum",
    "Progress",
    "Sampled",
    "Settings",
    "Table",
    "__version__",
    "datasets",
    "inclusion_boundary",
    "learn",
    "load",
    "score",
]
