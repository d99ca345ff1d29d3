"""Short searches of the data of a problem by other criteria than its own."""

from dataclasses import replace

from kes.data.dataset import Dataset
from kes.options import DEFAULTS
from kes.settings import Settings

_CASES_FOR_AIC = 5  # for each variable; with fewer, AIC joins nearly everything


def suits_aic(table: Dataset) -> bool:
    """Tell whether a table has enough cases for AIC."""
    return table.cases >= _CASES_FOR_AIC * table.varying


def by_criterion(settings: Settings, kind: str, criterion: str, ess: float | None) -> Settings:
    """Return the settings of a short search of a table of some kind by another criterion.

    Criteria without a penalty have no curves, either.
    """
    own = replace(
        settings,
        criterion=criterion,
        ess=ess,
        k=DEFAULTS["k"],
        two_phase=False,
        neighbourhood="exact",
        start=None,
    )
    if kind in own.measure.kinds and not own.measure.has_penalty(kind):
        return replace(own, penalty=1.0, basis=None)
    return own
