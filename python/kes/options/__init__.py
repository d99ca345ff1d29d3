"""Every option, declared once: type, default, check, documentation, flag and group.

A function takes options as ``**options: Unpack[SearchOptions]`` and is completed by
`kes.declare.checked_options`. `kes.settings.Settings` holds those that decide what a search finds.
"""

from kes.options.all_networks import POSTERIOR_MEMORY as POSTERIOR_MEMORY
from kes.options.all_networks import CredibleOptions as CredibleOptions
from kes.options.all_networks import CredibleWork as CredibleWork
from kes.options.all_networks import PosteriorOptions as PosteriorOptions
from kes.options.all_networks import PosteriorWork as PosteriorWork
from kes.options.all_networks import WorkOptions as WorkOptions
from kes.options.average import AverageWork as AverageWork
from kes.options.average import EnsembleOptions as EnsembleOptions
from kes.options.questions import CERTIFY_BUDGET as CERTIFY_BUDGET
from kes.options.questions import SCHEMES as SCHEMES
from kes.options.questions import SHUFFLES as SHUFFLES
from kes.options.questions import CertifyOptions as CertifyOptions
from kes.options.questions import EffectWork as EffectWork
from kes.options.questions import ResampleWork as ResampleWork
from kes.options.questions import StabilityOptions as StabilityOptions
from kes.options.search import DEFAULTS as DEFAULTS
from kes.options.search import HeldOutOptions as HeldOutOptions
from kes.options.search import LearnOptions as LearnOptions
from kes.options.search import RunOptions as RunOptions
from kes.options.search import ScoringOptions as ScoringOptions
from kes.options.search import SearchOptions as SearchOptions
from kes.options.table import FIT_DEFAULTS as FIT_DEFAULTS
from kes.options.table import DataOptions as DataOptions
from kes.options.table import FitOptions as FitOptions
from kes.options.values import CRITERIA as CRITERIA
from kes.options.values import CRITERION as CRITERION
from kes.options.values import DATES as DATES
from kes.options.values import MAX_PRICE as MAX_PRICE
from kes.options.values import MISSING as MISSING
from kes.options.values import PRIORS as PRIORS
from kes.options.values import SCORE as SCORE
from kes.options.values import TRANSFORMS as TRANSFORMS
from kes.options.values import Basis as Basis
from kes.options.values import EdgePrior as EdgePrior
from kes.options.values import Gamma as Gamma
from kes.options.values import Prior as Prior
from kes.options.values import Sampled as Sampled
from kes.options.values import check_basis as check_basis
from kes.options.values import check_edge_prior as check_edge_prior
from kes.options.values import check_gamma as check_gamma
from kes.options.values import check_improve as check_improve
from kes.options.values import check_neighbourhood as check_neighbourhood
from kes.options.values import check_prior as check_prior
from kes.options.values import check_prove as check_prove
from kes.options.values import uses_ranks as uses_ranks
