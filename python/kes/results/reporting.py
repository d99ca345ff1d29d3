"""Options of reports, declared once for the file and for what notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from kes.analysis.certificate import Certificate
    from kes.analysis.effects import Effects
    from kes.analysis.stability import Stability
    from kes.data.dataset import Data, Weights
    from kes.files import PathLike
    from kes.table import Table


class ReportOptions(TypedDict, total=False):
    """What a report can be told besides the result; see `Optima.report`."""

    data: Data | None
    weights: Weights
    missing: str | None
    stability: Stability | None
    evidence: Table | bool | None
    effects: Effects | Sequence[Effects]
    certificate: Certificate | None
    title: str | None
    file: PathLike | None


REPORT_DEFAULTS: ReportOptions = {
    "data": None,
    "weights": None,
    "missing": None,
    "stability": None,
    "evidence": None,
    "effects": (),
    "certificate": None,
    "title": None,
    "file": None,
}
