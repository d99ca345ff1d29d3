"""Gaussian networks: every node is a linear function of its parents plus normal noise.

The joint distribution is normal. Its moments, and those of any nodes given others, follow from the
CPDs in closed form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from kes.data.discretizer import Discretizer
from kes.data.normal_scores import Ranks
from kes.data.notation import Notation
from kes.errors import KesError, listed
from kes.network import conversion, validate
from kes.network.continuous import ContinuousNetwork
from kes.network.cpds import Linear, coefficient_table
from kes.network.evidence import in_order
from kes.network.new_rows import Unseen
from kes.network.query import Moments, Probability
from kes.network.ranges import Range
from kes.table import Table
from kes.validation import integer

if TYPE_CHECKING:
    from kes.data.dataset import Data


@dataclass(frozen=True, init=False, eq=False, repr=False)
class GaussianNetwork(ContinuousNetwork):
    """A network of continuous nodes with linear CPDs; immutable.

    Parameters
    ----------
    nodes
        Names of the nodes, in the order in which tables show them.
    parents
        For each node its parents, in the order of its coefficients. Omitted nodes have none.
    models
        For each node its CPD, a `kes.network.Linear`.
    transform
        How columns were transformed before they were modelled; see `Network`.

    Raises
    ------
    KesError
        If something is missing, unknown or repeated, the number of coefficients of a node is not
        that of its parents, or the arcs have a directed cycle.

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
        notations: Mapping[str, Notation] | None = None,
    ) -> None:
        names = validate.nodes(nodes)
        own_parents = validate.parents(parents, names)
        states: dict[str, tuple[()]] = dict.fromkeys(names, ())
        cpds = validate.models(models, states, own_parents)
        if curved := [node for node, model in cpds.items() if model.degree > 1]:
            raise KesError(
                f"a Gaussian network has no curves, but {listed(curved)} has a degree above 1; use "
                "a MixedNetwork",
                column=curved[0],
            )
        self._set(nodes=names, states=states, parents=own_parents, models=cpds)
        self._set(discretizer=discretizer, transform=transform, notations=dict(notations or {}))

    def local(self, node: str) -> Linear:
        """Return the CPD of a node."""
        return self.models[self._checked(node)]

    def coefficients(self, node: str) -> Table:
        """Return a table with a row for the intercept and for each parent of a node."""
        return coefficient_table(self.local(node), (), self.parents[node], self.states)

    # --- inference -------------------------------------------------------------------------------

    @cached_property
    def joint(self) -> Moments:
        """Means and covariances of all nodes, in closed form."""
        place = {node: i for i, node in enumerate(self.nodes)}
        mean, deviations = np.zeros(len(place)), np.zeros(len(place))
        paths = np.eye(len(place))  # effect of a unit of the noise of each node on each node
        for node in in_order(self):
            model, parents = self.models[node], [place[p] for p in self.parents[node]]
            mean[place[node]] = model.intercept + model.coefficients @ mean[parents]
            paths[place[node]] += model.coefficients @ paths[parents]
            deviations[place[node]] = model.deviation
        spread = paths * deviations
        return Moments(self.nodes, mean, spread @ spread.T, np.zeros(len(mean)))

    def probability(
        self,
        query: Mapping[str, Range],
        evidence: Mapping[str, float | Range] | None = None,
        *,
        draws: int = 10_000,
        seed: int = 0,
    ) -> Probability:
        """Return the probability that some nodes are in ranges, given values or ranges of others.

        Parameters
        ----------
        query
            Nodes and their ranges, for their joint probability.
        evidence
            Observed nodes, and their values or ranges.
        draws, seed
            Number of draws if three or more nodes have ranges, and the seed. With fewer, the answer
            is accurate to six digits.

        Raises
        ------
        KesError
            If a node is unknown, a value is neither a number nor a range, or the evidence is
            impossible.

        Examples
        --------
        >>> from kes.network import GaussianNetwork, Linear
        >>> one = GaussianNetwork(["x"], {}, {"x": Linear(0.0, deviation=1.0)})
        >>> print(one.probability({"x": Range(above=0)}))
        0.5000
        """
        return self._probability(query, evidence, integer("draws", draws, minimum=1), seed)

    def conditional(
        self,
        query: str | Sequence[str],
        evidence: Mapping[str, float | Range] | None = None,
        *,
        draws: int = 10_000,
        seed: int = 0,
    ) -> Moments:
        """Return means and covariances of some nodes, given values or ranges of others.

        The answer is in closed form, unless three or more nodes have ranges.

        Parameters
        ----------
        query
            A node, or several.
        evidence
            Observed nodes, and their values or ranges. With a `transform` they are raw values, but
            the moments are those of transformed ones.
        draws, seed
            As in `probability`.

        Raises
        ------
        KesError
            If a node is unknown, a value is not a number, or a constant has another value.
        """
        asked = [query] if isinstance(query, str) else list(query)
        for node in asked:
            self._checked(node)
        return self._moments(asked, evidence, integer("draws", draws, minimum=1), seed)

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
        """Predict a node from the other columns of each row by its exact conditional mean.

        Parameters
        ----------
        data
            A table with columns for some or all of the nodes, or a `Dataset`. Nodes without a
            column are integrated out; a column of the target is ignored.
        target
            The node to predict.
        deviations
            Also return the standard deviations around the means.
        unseen : {"error", "missing"}
            Treat missing values as an error, or integrate over them.

        Returns
        -------
        ndarray, or a tuple of two
            A mean for each row. With a `transform` it is mapped back, and is then the median;
            deviations are those of transformed values.
        """
        return self._means(self._answer(data, target, unseen), target, deviations)

    # --- other programs --------------------------------------------------------------------------

    def to_pgmpy(self) -> Any:  # noqa: ANN401 - pgmpy has no types
        """Convert into a ``pgmpy.models.LinearGaussianBayesianNetwork`` (extra ``pgmpy``)."""
        return conversion.to_linear_gaussian(self)

    def _arguments(self) -> tuple[object, ...]:
        return self.nodes, dict(self.parents), dict(self.models)

    def _with(self, parents: Mapping[str, Iterable[str]], cpds: Mapping[str, Any]) -> Self:
        return type(self)(self.nodes, parents, cpds, **self._kept)
