"""The base class of networks with continuous nodes: moments, ranges and predictions.

Answers are in closed form, or estimated by likelihood weighting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import hypot, inf, isfinite, isnan
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kes.data import State
from kes.errors import KesError, option
from kes.network.base import DRAWS, Network
from kes.network.cpds import Linear, Tabular
from kes.network.evidence import Evidence
from kes.network.inference import refuse_impossible
from kes.network.new_rows import Rows, Unseen
from kes.network.query import Answer, Moments, Probability, Query
from kes.network.ranges import Range
from kes.network.regressors import Values

if TYPE_CHECKING:
    from kes.data.dataset import Data

_MANY_DRAWS = 10_000  # as in `probability`
FEW_DRAWS = 30
"""Effective sample size below which an estimate is hardly better than a guess."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ContinuousNetwork(Network):
    """A network some of whose nodes are continuous; immutable."""

    # --- answers ---------------------------------------------------------------------------------

    def _answer(
        self, data: Data, target: str, unseen: Unseen, draws: int = DRAWS, seed: int = 0
    ) -> Answer:
        """Return the posterior of a node given the other columns of each row."""
        rows = self._prepare_for(self._checked(target), data, unseen)
        answer = self._answers(rows, target, draws, seed)
        refuse_impossible(np.isnan(answer.values[:, 0]))
        return answer

    def _answers(self, rows: Rows, target: str, draws: int = DRAWS, seed: int = 0) -> Answer:
        """Return the posterior of a node in each row."""
        parts, places = [], []
        for hidden, where in rows.patterns():
            evidence = self._evidence_of(rows.take(where), hidden)
            parts.append(Query(evidence, [target], draws=draws, seed=seed).answer(target))
            places.append(where)
        order = np.argsort(np.concatenate(places))
        return Answer(*(np.concatenate(part)[order] for part in zip(*parts, strict=True)))

    def log_evidence(self, evidence: Mapping[str, Any] | None = None) -> float:
        """Return the natural logarithm of the probability of evidence; see `Network`."""
        return float(Query(self._given(evidence), draws=_MANY_DRAWS).log_probabilities()[0])

    def _posterior(
        self, node: str, evidence: Mapping[str, Any] | None, draws: int, seed: int
    ) -> tuple[list[float], list[float]]:
        """Return the probabilities of the states of a node, and their standard errors."""
        given = self._given(evidence)
        if node in given.columns:
            certain = np.eye(len(self.states[node]))[given.columns[node][0]].tolist()
            return certain, [0.0] * len(certain)
        answer = Query(given, [node], draws=draws, seed=seed).answer(node)
        if np.isnan(answer.values[0, 0]):
            raise _impossible(evidence)
        _check_sample_size(float(answer.sample_size[0]), draws)
        return answer.values[0].tolist(), answer.errors[0].tolist()

    def _probability(
        self, query: Mapping[str, Any], evidence: Mapping[str, Any] | None, draws: int, seed: int
    ) -> Probability:
        """Return the joint probability of states and ranges: P(x, y | e) = P(x | e) P(y | x, e)."""
        observed, result, relative = dict(evidence or {}), 1.0, 0.0
        for node, asked in query.items():
            if isinstance(asked, Range) or isinstance(observed.get(node), Range):
                self._refuse_both(node, observed)
            found = self._chance(node, asked, observed, draws, seed)
            if found.value == 0:
                return found
            result *= found.value
            relative += (found.error / found.value) ** 2
            observed[node] = asked
        return Probability(result, result * relative**0.5)

    def _chance(
        self, node: str, asked: State | Range, given: Mapping[str, Any], draws: int, seed: int
    ) -> Probability:
        """Return the probability of a state or a range of one node."""
        if self.states[self._checked(node)]:
            values, errors = self._posterior(node, given, draws, seed)
            codes = self._codes(node, asked)
            return Probability(
                float(np.array(values)[codes].sum()), hypot(*np.array(errors)[codes])
            )
        if not isinstance(asked, Range):
            raise KesError(
                f"the node {node!r} is continuous: single values have no probability; ask for a "
                f"range, such as kes.Range(above={asked!r}), or for its moments: conditional()",
                column=node,
            )
        evidence = self._given(given)
        query = Query(evidence, [node], draws=draws, seed=seed)
        found = query.between(node, *self._bounds(node, asked))
        if isnan(found.value):
            raise _impossible(given)
        _check_sample_size(query.sample_size, draws)
        return found

    def _moments(
        self, asked: Sequence[str], evidence: Mapping[str, Any] | None, draws: int, seed: int
    ) -> Moments:
        """Return the moments of continuous nodes."""
        query = Query(self._given(evidence), asked, draws=draws, seed=seed)
        found = query.moments(asked)
        if np.isnan(found.mean).any():
            raise _impossible(evidence)
        _check_sample_size(query.sample_size, draws)
        return found

    @staticmethod
    def _refuse_both(node: str, evidence: Mapping[str, Any]) -> None:
        if node in evidence:
            raise KesError(f"{node!r} is both asked for and observed", column=node)

    def _means(
        self, answer: Answer, target: str, deviations: bool
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the predictions of a continuous node, mapped back if it was transformed."""
        means = answer.values[:, 0]
        if self.transform is not None:
            means = self.transform.inverse(target, means)
        return (means, answer.deviations) if deviations else means

    # --- interventions ---------------------------------------------------------------------------

    def _fixed(self, node: str, value: Any) -> Tabular | Linear:  # noqa: ANN401
        if states := self.states[node]:
            return Tabular(np.eye(len(states))[self._code(node, value)])
        return Linear(self._value(node, value), deviation=0.0)

    # --- evidence --------------------------------------------------------------------------------

    def _value(self, node: str, value: object) -> float:
        """Return a value of a continuous node, transformed if the network is."""
        if not isinstance(value, Real) or not isfinite(value):
            raise KesError(
                f"the node {node!r} is continuous; {value!r} is not a number", column=node
            )
        if self.transform is None:
            return float(value)
        return float(self.transform.transform(node, np.array([float(value)]))[0])

    def _bounds(self, node: str, given: Range) -> tuple[float, float]:
        """Return the bounds of a continuous node, transformed if the network is."""
        if self.transform is None:
            return given.low, given.high
        score = partial(self.transform.boundary, node)
        low = -inf if given.low == -inf else score(given.low, after=given.above is not None)
        high = inf if given.high == inf else score(given.high, after=given.at_most is not None)
        return low, high

    def _given(self, evidence: Mapping[str, Any] | None) -> Evidence:
        """Validate evidence and return it as a row; ranges of continuous nodes become bounds."""
        columns: dict[str, Values] = {n: np.full(1, v) for n, v in self.constants.items()}
        bounds = {}
        for node, given in (evidence or {}).items():
            if self.states[self._checked(node)]:
                columns[node] = np.array([self._code(node, given)])
            elif not isinstance(given, Range):
                value = self._value(node, given)
                if value != self.constants.get(node, value):
                    raise KesError(f"impossible evidence: {node} is never {given!r}", column=node)
                columns[node] = np.array([value])
            elif node not in self.constants:
                bounds[node] = self._bounds(node, given)
            elif not given.includes(self.constants[node]):
                raise KesError(f"impossible evidence: {node} is never {given}", column=node)
        return Evidence(self, columns, 1, bounds)


def _impossible(evidence: Mapping[str, Any] | None) -> KesError:
    given = ", ".join(
        f"{node} {value}" if isinstance(value, Range) else f"{node} = {value!r}"
        for node, value in (evidence or {}).items()
    )
    return KesError(
        f"impossible evidence: {given} has probability zero; drop some of it",
        column=next(iter(evidence or {}), None),
    )


def _check_sample_size(size: float, draws: int) -> None:
    """Refuse an estimate from draws that hardly agree with the evidence."""
    if size < FEW_DRAWS:
        raise KesError(
            f"the evidence is so improbable that {draws} draws have an effective sample size of "
            f"{size:.1f}; increase {option('draws')}, or drop some of the evidence",
            option="draws",
        )
