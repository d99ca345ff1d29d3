"""The numbers behind the charts about the search; the page draws them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kes.analysis.compare import Landscape
from kes.analysis.coverage import Coverage
from kes.results.optima import Optima

_MOST_POINTS = 1000
"""Runs in the chart of scores: the screen has no more columns."""


def charts(optima: Optima, found: Landscape, coverage: Coverage) -> dict[str, Any]:
    """Return the places of the map, the sorted scores of the runs, and what coverage tells."""
    models, best = coverage.accumulation(), coverage.best_so_far()
    return {
        "landscape": found.points.round(2).tolist(),
        "scores": _scores(optima, found),
        "accumulation": {
            "runs": list(models["runs"]),
            "models": _rounded(models["models"]),
            "levels": _rounded(models["levels"]),
        },
        "best": {
            "runs": list(best["runs"]),
            "observed": _rounded(best["observed"]),
            "expected": _rounded(best["expected"]),
        },
    }


def _scores(optima: Optima, found: Landscape) -> dict[str, Any]:
    """Return runs from best to worst: rank, number, score, and the optimum on the page if any."""
    order = np.argsort(-optima.run_scores, kind="stable")
    ranks = np.unique(np.linspace(0, len(order) - 1, min(len(order), _MOST_POINTS)).astype(int))
    runs = order[ranks]
    shown = {number: i for i, number in enumerate(found.numbers)}
    return {
        "ranks": (ranks + 1).tolist(),
        "runs": runs.tolist(),
        "scores": _rounded(optima.run_scores[runs].tolist()),
        "optima": [shown.get(int(end)) for end in optima.run_optima[runs]],
    }


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(value, 6) for value in values]
