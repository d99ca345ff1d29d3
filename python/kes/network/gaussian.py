"""Gaussian networks: every node is a linear function of its parents, plus normal noise.

All nodes together then have a normal distribution, whose means and covariances follow from the
local models; so do those of any nodes given any others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from kes.data.discretizer import Discretizer
from kes.data.normal_scores import Ranks
from kes.network import checks, conversion
from kes.network.base import DRAWS, Network
from kes.network.cpds import Linear
from kes.network.display import coefficient_table
from kes.network.evidence import in_order
from kes.network.moments import Moments
from kes.network.new_rows import Unseen
from kes.network.query import Inquiry
from kes.table import Table

if TYPE_CHECKING:
    from kes.data.dataset import Data


@dataclass(frozen=True, init=False, eq=False, repr=False)
class GaussianNetwork(Network):
    """A network of continuous nodes with linear local models; immutable.

    Parameters
    ----------
    nodes
        Names of the nodes, in the order in which tables show them.
    parents
        For each node its parents, in the order of its coefficients. Nodes left out have none.
    models
        For each node its `kes.network.Linear` model.
    transform
        How columns were transformed before they were modelled; see `Network`.

    Raises
    ------
    KesError
        If something is missing, unknown or repeated, a node has not as many coefficients as
        parents, or the arcs have a directed cycle.

    See Also
    --------
    kes.fit : estimate a network from data.

    Examples
    --------
    >>> from kes.network import GaussianNetwork, Linear
    >>> network = GaussianNetwork(
    ...     nodes=["dose", "effect"],
    ...     parents={"effect": ["dose"]},
    ...     models={
    ...         "dose": Linear(10.0, deviation=2.0),
    ...         "effect": Linear(1.0, [0.5], deviation=1.0),
    ...     },
    ... )
    >>> network.conditional("dose", {"effect": 8.0})
    node    mean  deviation
    dose  12.000      1.414
    [1 row]
    """

    _TITLE: ClassVar[str] = "Gaussian network"

    models: Mapping[str, Linear]

    def __init__(
        self,
        nodes: Iterable[str],
        parents: Mapping[str, Iterable[str]],
        models: Mapping[str, Linear],
        *,
        discretizer: Discretizer | None = None,
        transform: Ranks | None = None,
    ) -> None:
        names = checks.nodes(nodes)
        given = checks.parents(parents, names)
        states: dict[str, tuple[()]] = dict.fromkeys(names, ())
        known = checks.models(models, states, given)
        self._set(nodes=names, states=states, parents=given, models=known)
        self._set(discretizer=discretizer, transform=transform)

    def local(self, node: str) -> Linear:
        """Return the local model of a node."""
        return self.models[self._checked(node)]

    def coefficients(self, node: str) -> Table:
        """Return the model of a node for reading: a row for the intercept and for each parent."""
        return coefficient_table(self.local(node), (), self.parents[node], self.states)

    # --- questions -------------------------------------------------------------------------------

    @cached_property
    def joint(self) -> Moments:
        """Means and covariances of all nodes, in closed form."""
        place = {node: i for i, node in enumerate(self.nodes)}
        mean, deviations = np.zeros(len(place)), np.zeros(len(place))
        paths = np.eye(len(place))  # what a unit of the noise of each node adds to each node
        for node in in_order(self):
            model, parents = self.models[node], [place[p] for p in self.parents[node]]
            mean[place[node]] = model.intercept + model.coefficients @ mean[parents]
            paths[place[node]] += model.coefficients @ paths[parents]
            deviations[place[node]] = model.deviation
        spread = paths * deviations
        return Moments(self.nodes, mean, spread @ spread.T, np.zeros(len(mean)))

    def conditional(
        self, query: str | Sequence[str], evidence: Mapping[str, float] | None = None
    ) -> Moments:
        """Return means and covariances of some nodes, given values of others, in closed form.

        Parameters
        ----------
        query
            A node, or several.
        evidence
            Nodes and their values that are known. With a `transform` they are raw values, but the
            moments are those of transformed ones.

        Raises
        ------
        KesError
            If a node is unknown, a value is no number, or a constant never has it.
        """
        asked = [query] if isinstance(query, str) else list(query)
        for node in asked:
            self._checked(node)
        known = self._known_of(self._evidence(evidence))
        return Inquiry(known, asked, draws=DRAWS).moments(asked)

    @overload
    def predict(
        self, data: Data, target: str, *, deviations: Literal[False] = ..., unseen: Unseen = ...
    ) -> NDArray[np.float64]: ...
    @overload
    def predict(
        self, data: Data, target: str, *, deviations: Literal[True], unseen: Unseen = ...
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def predict(
        self, data: Data, target: str, *, deviations: bool = False, unseen: Unseen = "error"
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Predict a node from the other columns of each row: its conditional mean, exactly.

        Parameters
        ----------
        data
            A table with columns for some or all of the nodes, or a `Dataset`. Nodes without a
            column are unknown; a column of the target is ignored.
        target
            The node to predict.
        deviations
            Return the standard deviations around the means, too.
        unseen : {"error", "missing"}
            Whether a missing value is an error or unknown.

        Returns
        -------
        ndarray, or two
            A number for each row. With a `transform` it is mapped back, and then is the median;
            deviations are those of transformed values.
        """
        answer = self._answer(data, target, unseen)
        means = answer.values[:, 0]
        if self.transform is not None:
            means = self.transform.inverse(target, means)
        return (means, answer.deviations) if deviations else means

    # --- other programs --------------------------------------------------------------------------

    def to_pgmpy(self) -> Any:  # noqa: ANN401 - pgmpy has no types
        """Convert into a ``pgmpy.models.LinearGaussianBayesianNetwork`` (extra ``pgmpy``)."""
        return conversion.to_linear_gaussian(self)

    def to_pyagrum(self) -> Any:  # noqa: ANN401 - as in BayesianNetwork
        """Complain: a ``pyagrum.BayesNet`` holds discrete nodes only."""
        raise conversion.unsupported("pyagrum.BayesNet", self)

    def _arguments(self) -> tuple[object, ...]:
        return self.nodes, dict(self.parents), dict(self.models)
