"""The options that all searches have, declared once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from kes.data.dataset import Weights
    from kes.graph import EssentialGraph
    from kes.progress import Progress
    from kes.settings import Sampled

DEFAULT_CACHE_MB = 512


class SearchOptions(TypedDict, total=False):
    """What `kes.learn`, `sweep`, `stability` and `cross_validate` take; `kes.learn` explains it."""

    criterion: str
    ess: float
    random_state: int | None
    n_jobs: int | None
    max_parents: int | None
    two_phase: bool
    neighbourhood: str | Sampled
    weights: Weights
    missing: str
    start: EssentialGraph | Sequence[tuple[str, str]] | None
    cache_mb: int
    progress: bool | Callable[[Progress], object] | None


DEFAULTS: SearchOptions = {
    "criterion": "bic",
    "ess": 1.0,
    "random_state": 0,
    "n_jobs": None,
    "max_parents": None,
    "two_phase": False,
    "neighbourhood": "exact",
    "weights": None,
    "missing": "error",
    "start": None,
    "cache_mb": DEFAULT_CACHE_MB,
    "progress": None,
}
"""What each of them is if it is not given."""
