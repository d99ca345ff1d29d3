"""The options that all searches have, declared once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from kes.data.dataset import Weights
    from kes.data.discretizer import Discretizer
    from kes.data.infer_kinds import Kinds
    from kes.graph import EssentialGraph
    from kes.graph.knowledge import Knowledge
    from kes.progress import Progress
    from kes.settings import Sampled

DEFAULT_CACHE_MB = 512
DEFAULT_K = 0.8


class DataOptions(TypedDict, total=False):
    """How a table is read; `kes.learn` explains it."""

    kinds: Kinds | None
    weights: Weights
    discretize: int | Mapping[str, int] | Discretizer | None
    missing: str
    completions: int


class ScoringOptions(DataOptions, total=False):
    """What decides a score, and which models have one: as `kes.score` and `kes.certify` take it."""

    criterion: str
    ess: float
    penalty: float
    transform: str | None
    knowledge: Knowledge | None


class SearchOptions(ScoringOptions, total=False):
    """What `kes.learn`, `sweep`, `stability` and `cross_validate` take."""

    random_state: int | None
    n_jobs: int | None
    max_parents: int | None
    two_phase: bool
    neighbourhood: str | Sampled
    start: EssentialGraph | Sequence[tuple[str, str]] | None
    cache_mb: int
    progress: bool | Callable[[Progress], object] | None


SCORING_DEFAULTS: ScoringOptions = {
    "criterion": "bic",
    "ess": 1.0,
    "penalty": 1.0,
    "transform": None,
    "knowledge": None,
    "kinds": None,
    "weights": None,
    "discretize": None,
    "missing": "error",
    "completions": 5,
}
"""What each of them is if it is not given."""

DEFAULTS: SearchOptions = {
    **SCORING_DEFAULTS,
    "random_state": 0,
    "n_jobs": None,
    "max_parents": None,
    "two_phase": False,
    "neighbourhood": "exact",
    "start": None,
    "cache_mb": DEFAULT_CACHE_MB,
    "progress": None,
}
"""What each of them is if it is not given."""
