"""The likelihood of data, for single and averaged networks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from numpy.typing import NDArray

from kes.network.new_rows import Rows, Unseen

if TYPE_CHECKING:
    from kes.data.dataset import Data, Weights


class Likelihood(ABC):
    """A model that assigns a probability to each row."""

    @abstractmethod
    def prepare(
        self,
        data: Data,
        *,
        nodes: Iterable[str] | None = None,
        weights: Weights = None,
        unseen: Unseen = "error",
    ) -> Rows:
        """Read raw rows: discretize, transform and encode them."""

    @abstractmethod
    def _log_probabilities(self, rows: Rows) -> NDArray[np.float64]:
        """Return ln P of the values of each row, given those of exogenous nodes."""

    @overload
    def log_likelihood(
        self,
        data: Data,
        *,
        weights: Weights = ...,
        per_row: Literal[False] = ...,
        unseen: Unseen = ...,
    ) -> float: ...
    @overload
    def log_likelihood(
        self, data: Data, *, weights: Weights = ..., per_row: Literal[True], unseen: Unseen = ...
    ) -> NDArray[np.float64]: ...
    def log_likelihood(
        self,
        data: Data,
        *,
        weights: Weights = None,
        per_row: bool = False,
        unseen: Unseen = "error",
    ) -> float | NDArray[np.float64]:
        """Return the natural logarithm of the probability of data.

        It is that of the modelled nodes, given the exogenous ones. For continuous nodes it is a
        log-density, of transformed values if the network has a `transform`: comparable only
        between networks with the same transform.

        Parameters
        ----------
        data
            A table with a column for every node (others are ignored), or a `Dataset`.
        weights
            Number of cases that each row stands for; see `kes.learn`.
        per_row
            Return one number per row instead of their sum; weights are ignored.
        unseen : {"error", "missing"}
            Treat missing values, and values that are none of the node's states, as an error or as
            missing. Missing values are summed out: exactly, unless continuous ones meet discrete
            ones or logistic nodes, where 1 000 draws are averaged. Rows with missing values in
            the same columns are computed together, so a table with many patterns takes time.

        Returns
        -------
        float or ndarray
            Minus infinity where the network assigns zero probability to a row. The probability
            that an averaged network assigns is the weighted mean over its members.

        Raises
        ------
        KesError
            If a column is missing or contains a state that the network does not have.
        """
        rows = self.prepare(data, weights=weights, unseen=unseen)
        result = self._log_probabilities(rows)
        return result if per_row else rows.total(result)
