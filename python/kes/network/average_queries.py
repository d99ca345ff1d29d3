"""Queries of averaged networks: probabilities, moments and effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.data import State
from kes.data.normal_scores import Ranks
from kes.errors import KesError
from kes.network.discrete import BayesianNetwork
from kes.network.fitting import Fitted
from kes.network.gaussian import GaussianNetwork
from kes.network.mixtures import Shares, mixed_moments, mixed_probability, shares
from kes.network.query import Moments, Probability
from kes.table import Table, tabulated


@dataclass(frozen=True, init=False, eq=False, repr=False)
class AveragedQueries:
    """Members with the same nodes, and answers to queries."""

    members: tuple[Fitted, ...]
    weights: tuple[float, ...]
    nodes: tuple[str, ...]
    states: Mapping[str, tuple[State, ...]]
    transform: Ranks | None

    def log_evidence(self, evidence: Mapping[str, Any] | None = None) -> float:
        """Return the natural logarithm of the probability of evidence; see `Network`."""
        return float(self._shares(evidence, strict=False).log_mean)

    def probability(
        self,
        query: str | Mapping[str, Any],
        evidence: Mapping[str, Any] | None = None,
        **sampling: int,
    ) -> Any:  # noqa: ANN401 - as for the members
        """Return the probability of states or ranges of some nodes, given those of others.

        Parameters
        ----------
        query
            Nodes and their states or ranges, for their joint probability; or the name of one
            discrete node, for its distribution.
        evidence
            Observed nodes and their states, values or ranges.
        **sampling
            `draws` and `seed`, for averages with continuous nodes: see
            `MixedNetwork.probability`.

        Returns
        -------
        float, Probability or dict
            As the members return. The standard error of a `Probability` is that of drawing; for
            the disagreement of the members see `spread`.
        """
        own, found = self._asked(query, evidence, sampling)
        if isinstance(query, str):
            return {
                state: mixed_probability(own, [answer[state] for answer in found])
                for state in self.states[query]
            }
        return mixed_probability(own, found)

    def spread(
        self,
        query: str | Mapping[str, Any],
        evidence: Mapping[str, Any] | None = None,
        **sampling: int,
    ) -> Any:  # noqa: ANN401 - a number, or one for each state
        """Return the disagreement of the members about an answer: their standard deviation.

        Parameters are those of `probability`. For the name of a discrete node, the result has a
        number for each of its states. For that of a continuous one it is about the mean, of
        transformed values if the network has a `transform`.
        """
        if isinstance(query, str) and not self.states[self.members[0]._checked(query)]:
            own, every = self.counting(evidence)
            members: list[Any] = every
            found = [member.conditional(query, evidence, **sampling) for member in members]
            return _deviation(own, [float(moments.mean[0]) for moments in found])
        own, found = self._asked(query, evidence, sampling)
        if isinstance(query, str):
            return {s: _deviation(own, [answer[s] for answer in found]) for s in self.states[query]}
        return _deviation(own, found)

    def marginals(self, evidence: Mapping[str, Any] | None = None) -> dict[str, dict[State, float]]:
        """Return the distributions of all nodes of a discrete average, given states of some."""
        own, members = self.counting(evidence)
        found = []
        for member in members:
            if not isinstance(member, BayesianNetwork):
                raise KesError("marginals() is for discrete networks; see probability()")
            found.append(member.marginals(evidence))
        return {
            node: {
                state: float(own @ np.array([each[node][state] for each in found]))
                for state in states
            }
            for node, states in self.states.items()
        }

    def conditional(
        self,
        query: str | Sequence[str],
        evidence: Mapping[str, Any] | None = None,
        **sampling: int,
    ) -> Moments:
        """Return means and covariances of some continuous nodes, given values of others.

        The average of normal distributions is a mixture: its covariances include the differences
        between the members' means. Parameters are those of `MixedNetwork.conditional`.
        """
        own, members = self.counting(evidence)
        found = []
        for member in members:
            if isinstance(member, BayesianNetwork):
                raise KesError("discrete nodes have no moments; see probability()")
            found.append(member.conditional(query, evidence, **sampling))
        return mixed_moments(own, found)

    def _asked(
        self,
        query: str | Mapping[str, Any],
        evidence: Mapping[str, Any] | None,
        sampling: Mapping[str, int],
    ) -> tuple[NDArray[np.float64], list[Any]]:
        """Return the shares of the members to which the evidence is possible, and their answers."""
        own, members = self.counting(evidence)
        if isinstance(query, str) and isinstance(self.members[0], GaussianNetwork):
            query = {query: None}  # for the error that says what to ask instead
        every: list[Any] = members
        return own, [member.probability(query, evidence, **sampling) for member in every]

    def counting(
        self, evidence: Mapping[str, Any] | None
    ) -> tuple[NDArray[np.float64], list[Fitted]]:
        """Return the members to which evidence is possible, after their shares."""
        found = self._shares(evidence).shares
        kept = [m for m, share in zip(self.members, found, strict=True) if share > 0]
        return found[found > 0], kept

    def _shares(self, evidence: Mapping[str, Any] | None, *, strict: bool = True) -> Shares:
        logs = np.array([member.log_evidence(evidence) for member in self.members])
        if strict and (logs == -inf).all():
            given = ", ".join(f"{node} = {value!r}" for node, value in (evidence or {}).items())
            raise KesError(
                f"impossible evidence: {given} has probability zero; drop some of it, or fit the "
                "networks with a prior",
                column=next(iter(evidence or {}), None),
            )
        return shares(logs, self.weights)

    # --- effects ---------------------------------------------------------------------------------

    def effects(
        self,
        x: str,
        y: str,
        *,
        values: tuple[Any, Any] | None = None,
        outcome: State | None = None,
    ) -> Table:
        """Return the effect of setting x on y in each member.

        Members are networks of different classes, and of different directions where a class leaves
        them open, so their spread shows how far the effect depends on the structure.

        Parameters
        ----------
        x, y : str
            The cause and the outcome.
        values : pair or None
            What x is set to, before and after. By default its first and last state; of a
            continuous variable, its mean and one unit more.
        outcome : state or None
            State of a discrete y; by default the last.

        Returns
        -------
        Table
            A row for each member: its `weight`, the `parents` of x, and the `effect`, which is the
            change of the probability of the outcome, or of the mean of y; in networks with a
            `transform`, of the value that has the mean normal score, which is near the median. The
            note has the mean over the members and their spread.

        Raises
        ------
        KesError
            If a variable or state is unknown.
        """
        self.members[0]._checked(x)
        self.members[0]._checked(y)
        if x == y:
            raise KesError(f"{x!r} cannot cause itself; name two variables", column=x)
        low, high = self._values_of(x) if values is None else _pair(values)
        states = self.states[y]
        end = states[-1] if states and outcome is None else outcome
        every: list[Any] = list(self.members)
        found = [level(m.do({x: high}), y, end) - level(m.do({x: low}), y, end) for m in every]
        what = f"P({y} = {end})" if states else f"the mean of {y}"
        if not states and self.transform is not None:
            what = f"the centre of {y} (its mean normal score, mapped back)"
        mean = float(np.average(found, weights=self.weights))
        spread = float(np.average((np.array(found) - mean) ** 2, weights=self.weights) ** 0.5)
        note = (
            f"effect: change of {what} when {x} is set to {_shown(high)} instead of "
            f"{_shown(low)}; mean {mean:.4g}, spread {spread:.4g}. Assumptions: "
            "arrows are causal, and no common cause of two variables is missing."
        )
        parents = [member.parents[x] for member in self.members]
        rows = zip(range(len(found)), self.weights, parents, found, strict=True)
        return tabulated(("member", "weight", "parents", "effect"), rows, note)

    def _values_of(self, x: str) -> tuple[Any, Any]:
        """Return the default values of a cause."""
        if states := self.states[x]:
            return states[0], states[-1]
        centre = float(self.conditional(x).mean[0])
        if self.transform is not None:
            centre = float(self.transform.inverse(x, np.array([centre]))[0])
        return centre, centre + 1.0


def _deviation(own: NDArray[np.float64], answers: Sequence[float | Probability]) -> float:
    """Return the standard deviation of answers, weighted by the shares of members."""
    values = np.array([float(answer) for answer in answers])
    return float(np.sqrt(own @ (values - own @ values) ** 2))


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _pair(values: object) -> tuple[Any, Any]:
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != 2:
        raise KesError(
            f"values must be a pair, what x is set to before and after, not {values!r}",
            option="values",
        )
    return values[0], values[1]


def level(
    network: Any,  # noqa: ANN401 - any network
    y: str,
    outcome: State | None,
    evidence: Mapping[str, Any] | None = None,
) -> float:
    """Return the probability of an outcome, or the mean; mean normal scores are mapped back."""
    if network.states[y]:
        return float(network.probability({y: outcome}, evidence))
    mean = network.conditional(y, evidence).mean[:1]
    return float((mean if network.transform is None else network.transform.inverse(y, mean))[0])
