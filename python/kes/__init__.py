"""Learn Bayesian networks, and see every local optimum instead of one.

>>> import kes
>>> optima = kes.learn(kes.datasets.alarm(rows=1000), runs=20)
>>> optima.best.graph.nodes[:2]
('HISTORY', 'CVP')

`learn` does many runs of k-greedy equivalence search [Nielsen 2003] and returns the `Optima` that
they end in. The command line does the same: ``kes learn data.csv``.
"""

from importlib import import_module

TYPE_CHECKING = False  # typing takes longer to import than all of this

if TYPE_CHECKING:
    from kes import data as data
    from kes import datasets as datasets
    from kes._core import __version__ as __version__
    from kes.analysis.averaging import EnsembleInterrupted as EnsembleInterrupted
    from kes.analysis.averaging import ensemble as ensemble
    from kes.analysis.certificate import Certificate as Certificate
    from kes.analysis.certificate import CertifyProgress as CertifyProgress
    from kes.analysis.certify import certify as certify
    from kes.analysis.choosing import choose as choose
    from kes.analysis.credible import Credible as Credible
    from kes.analysis.credible import credible as credible
    from kes.analysis.explain import explain as explain
    from kes.analysis.ground_truth import compare_to_truth as compare_to_truth
    from kes.analysis.held_out import cross_validate as cross_validate
    from kes.analysis.k_sweep import Sweep as Sweep
    from kes.analysis.k_sweep import sweep as sweep
    from kes.analysis.noise import Noise as Noise
    from kes.analysis.noise import NoiseInterrupted as NoiseInterrupted
    from kes.analysis.posterior import posterior as posterior
    from kes.analysis.probabilities import StructurePosterior as StructurePosterior
    from kes.analysis.stability import Stability as Stability
    from kes.analysis.stability import StabilityInterrupted as StabilityInterrupted
    from kes.analysis.stability import stability as stability
    from kes.analysis.support import ConsensusGraph as ConsensusGraph
    from kes.api import inclusion_boundary as inclusion_boundary
    from kes.api import learn as learn
    from kes.api import load as load
    from kes.api import score as score
    from kes.data import Dataset as Dataset
    from kes.data.audit import audit as audit
    from kes.data.discretizer import Discretizer as Discretizer
    from kes.data.discretizer import discretize as discretize
    from kes.data.series import lagged as lagged
    from kes.errors import ClusterLost as ClusterLost
    from kes.errors import Interrupted as Interrupted
    from kes.errors import KesError as KesError
    from kes.estimator import KES as KES
    from kes.graph import EssentialGraph as EssentialGraph
    from kes.graph.boundary import Neighbour as Neighbour
    from kes.graph.knowledge import Knowledge as Knowledge
    from kes.graph.mpdag import Mpdag as Mpdag
    from kes.network import AveragedNetwork as AveragedNetwork
    from kes.network import BayesianNetwork as BayesianNetwork
    from kes.network import GaussianNetwork as GaussianNetwork
    from kes.network import MixedNetwork as MixedNetwork
    from kes.network import fit as fit
    from kes.network.files import convert as convert
    from kes.network.files import read_graph as read_graph
    from kes.network.files import read_network as read_network
    from kes.network.ranges import Range as Range
    from kes.options import Sampled as Sampled
    from kes.predictors import KESClassifier as KESClassifier
    from kes.predictors import KESRegressor as KESRegressor
    from kes.progress import Progress as Progress
    from kes.results.optima import Optima as Optima
    from kes.results.optimum import Optimum as Optimum
    from kes.search.choice import CriterionChoice as CriterionChoice
    from kes.settings import Settings as Settings
    from kes.table import Table as Table

_HOMES = {
    "kes._core": "__version__",
    "kes.analysis.averaging": "EnsembleInterrupted ensemble",
    "kes.analysis.certificate": "Certificate CertifyProgress",
    "kes.analysis.certify": "certify",
    "kes.analysis.choosing": "choose",
    "kes.analysis.credible": "Credible credible",
    "kes.analysis.explain": "explain",
    "kes.analysis.ground_truth": "compare_to_truth",
    "kes.analysis.held_out": "cross_validate",
    "kes.analysis.k_sweep": "Sweep sweep",
    "kes.analysis.noise": "Noise NoiseInterrupted",
    "kes.analysis.posterior": "posterior",
    "kes.analysis.probabilities": "StructurePosterior",
    "kes.analysis.stability": "Stability StabilityInterrupted stability",
    "kes.analysis.support": "ConsensusGraph",
    "kes.api": "inclusion_boundary learn load score",
    "kes.data": "Dataset",
    "kes.data.audit": "audit",
    "kes.data.discretizer": "Discretizer discretize",
    "kes.data.series": "lagged",
    "kes.errors": "ClusterLost Interrupted KesError",
    "kes.estimator": "KES",
    "kes.graph": "EssentialGraph",
    "kes.graph.boundary": "Neighbour",
    "kes.graph.knowledge": "Knowledge",
    "kes.graph.mpdag": "Mpdag",
    "kes.network": "AveragedNetwork BayesianNetwork GaussianNetwork MixedNetwork fit",
    "kes.network.files": "convert read_graph read_network",
    "kes.network.ranges": "Range",
    "kes.options": "Sampled",
    "kes.predictors": "KESClassifier KESRegressor",
    "kes.progress": "Progress",
    "kes.results.optima": "Optima",
    "kes.results.optimum": "Optimum",
    "kes.search.choice": "CriterionChoice",
    "kes.settings": "Settings",
    "kes.table": "Table",
}
"""The public names, by module: the one list of them.

A module is imported when one of its names is used. Importing numpy and what builds on it takes
tenths of a second, in which the command line must already react to Ctrl-C; scikit-learn takes as
long again. The imports above are for type checkers; a test compares them with this list.
"""

_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

_PACKAGES = ("data", "datasets")
_WITH_SKLEARN = {"KES", "KESClassifier", "KESRegressor"}
# A star import must neither need scikit-learn nor wait for it, nor hide a variable `data`.
__all__ = [name for name in sorted({*_HOME, "datasets"}) if name not in _WITH_SKLEARN]


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return import_module(f"kes.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_WITH_SKLEARN})
