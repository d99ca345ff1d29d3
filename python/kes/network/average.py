"""Averaged networks: mixtures of networks over the same variables.

The probability of a case is the weighted mean of the probabilities that the members assign to it.
Queries follow from that joint distribution,

    P(q | e)  =  sum of w_m P_m(q, e) / sum of w_m P_m(e)  =  sum of s_m P_m(q | e),

so the *share* s_m of a member is proportional to its weight and to the probability that it assigns
to the evidence: members that did not expect it count less. The *spread* is the standard deviation
of the members' answers, weighted by their shares: how far the networks that the data support
disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, inf, isclose
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data import Dataset
from kes.data.discretizer import Discretizer
from kes.data.notation import Notation
from kes.data.random_stream import Purpose, Stream
from kes.errors import KesError
from kes.formats import format_of, write_average, write_network
from kes.formats.escaping import same
from kes.network.average_queries import AveragedQueries
from kes.network.base import Network
from kes.network.cpds import as_array
from kes.network.evidence import draw, uniforms
from kes.network.fitting import Fitted
from kes.network.inference import refuse_impossible
from kes.network.likelihood import Likelihood
from kes.network.mixtures import MixtureAnswer, shares
from kes.network.new_rows import Rows, Unseen
from kes.network.regressors import Values
from kes.table import Table, tabulated

if TYPE_CHECKING:
    from kes.data.dataset import Data, Weights

_ROUNDING = 1e-15
"""Tolerance for the sum of normalised weights, which is 1."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class AveragedNetwork(Likelihood, AveragedQueries):
    """The average of several networks with the same variables; immutable.

    It answers what a single network answers. Discrete, Gaussian and mixed averages return what
    `BayesianNetwork`, `GaussianNetwork` and `MixedNetwork` return.

    Parameters
    ----------
    members
        The networks. They must have the same nodes and states, and read raw rows in the same way.
    weights
        How much each member counts, such as its posterior probability; equal by default.

    Attributes
    ----------
    members : tuple of networks
        The networks.
    weights : tuple of float
        How much each counts; they sum to 1.
    nodes, states, discretizer, transform, notations
        As in `BayesianNetwork`; common to all members.

    Raises
    ------
    KesError
        If there are no members, they differ in their variables, or weights are not positive.

    See Also
    --------
    kes.ensemble : learn one from data.

    Examples
    --------
    >>> from kes.network import AveragedNetwork, BayesianNetwork
    >>> def coin(share):
    ...     return BayesianNetwork(["coin"], {"coin": ["heads", "tails"]}, {}, {"coin": share})
    >>> average = AveragedNetwork([coin([0.5, 0.5]), coin([0.9, 0.1])])
    >>> average.probability({"coin": "heads"})
    0.7
    >>> round(average.spread("coin")["heads"], 3)
    0.2
    """

    discretizer: Discretizer | None
    notations: Mapping[str, Notation]

    def __init__(self, members: Iterable[Fitted], weights: Iterable[float] | None = None) -> None:
        if not isinstance(members, Iterable):
            raise KesError(f"members must be networks, not {members!r}", option="members")
        own = tuple(members)
        _check_members(own)
        object.__setattr__(self, "members", own)
        object.__setattr__(self, "weights", _normalized(weights, len(own)))
        for name in ("nodes", "states", "discretizer", "transform", "notations"):
            object.__setattr__(self, name, getattr(own[0], name))

    # --- structure -------------------------------------------------------------------------------

    @property
    def kinds(self) -> dict[str, Literal["discrete", "continuous"]]:
        """Whether each node is discrete or continuous."""
        return self._first.kinds

    @property
    def cuts(self) -> dict[str, tuple[float, ...]]:
        """Cut points of discretized nodes."""
        return self._first.cuts

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of all members together."""
        return sum(member.n_parameters for member in self.members)

    def edges(self) -> Table:
        """Return which members connect two nodes, and in which direction.

        Returns
        -------
        Table
            A row for each pair that some member connects: `x` and `y`, the weight of the members
            with an edge between them (`edge`), and with an arc in each direction (`forward`,
            `backward`). Members that `kes.ensemble` learns are drawn from their equivalence
            classes, so a direction that the data leave open varies.
        """
        place = {node: i for i, node in enumerate(self.nodes)}
        found: dict[tuple[str, str], list[list[float]]] = {}
        for member, weight in zip(self.members, self.weights, strict=True):
            for a, b in member.arcs:
                pair = (a, b) if place[a] < place[b] else (b, a)
                found.setdefault(pair, [[], []])[pair != (a, b)].append(weight)
        rows = [
            (x, y, _rounded(forward + backward), _rounded(forward), _rounded(backward))
            for (x, y), (forward, backward) in found.items()
        ]
        rows.sort(key=lambda row: (-row[2], place[row[0]], place[row[1]]))
        return tabulated(("x", "y", "edge", "forward", "backward"), rows)

    def do(self, values: Mapping[str, Any]) -> AveragedNetwork:
        """Return the average after an intervention, which sets nodes to values; see `Network.do`.

        The shares of the members do not change: an intervention is no evidence.
        """
        return AveragedNetwork((member.do(values) for member in self.members), self.weights)

    # --- rows ------------------------------------------------------------------------------------

    def prepare(
        self,
        data: Data,
        *,
        nodes: Iterable[str] | None = None,
        weights: Weights = None,
        unseen: Unseen = "error",
    ) -> Rows:
        """Read raw rows: discretize, transform and encode them; see `Network.prepare`."""
        return self._first.prepare(data, nodes=nodes, weights=weights, unseen=unseen)

    def _log_probabilities(self, rows: Rows) -> NDArray[np.float64]:
        each = [member._log_probabilities(rows) for member in self.members]
        return shares(np.stack(each), self.weights).log_mean

    def predict(
        self,
        data: Data,
        target: str,
        *,
        probabilities: bool = False,
        deviations: bool = False,
        spread: bool = False,
        unseen: Unseen = "error",
    ) -> Any:  # noqa: ANN401 - as the target is
        """Predict a node from the other columns of each row.

        All columns count, not only those that a member uses to predict the target: they decide the
        shares of the members.

        Parameters
        ----------
        data
            A table with columns for some or all of the nodes, or a `Dataset`. Nodes without a
            column are summed out; a column of the target is ignored.
        target
            The node to predict.
        probabilities
            For a discrete target: return the distribution instead of the most probable state.
        deviations
            For a continuous target: also return the standard deviations around the means.
        spread
            Also return the spread between the members: of the probability of each state, shape
            (rows, states), or of the means, shape (rows,), in units of transformed values if the
            network has a `transform`.
        unseen : {"error", "missing"}
            Treat missing values, and values that are none of the node's states, as an error or as
            missing, and sum them out.

        Returns
        -------
        ndarray, or a tuple
            As `BayesianNetwork.predict` for a discrete target, and `GaussianNetwork.predict` for a
            continuous one; then the spread, if it is asked for.
        """
        found = self.answers(data, target, unseen=unseen)
        if states := self.states[target]:
            if deviations:
                raise _wrong_kind(target, "discrete", "probabilities", "deviations")
            most = as_array(states)[found.values.argmax(axis=1)]
            result: list[Any] = [found.values if probabilities else most]
            disagreement = found.spread
        else:
            if probabilities:
                raise _wrong_kind(target, "continuous", "deviations", "probabilities")
            means, disagreement = found.values[:, 0], found.spread[:, 0]
            if self.transform is not None:
                means = self.transform.inverse(target, means)
            result = [means, found.deviations] if deviations else [means]
        result += [disagreement] if spread else []
        return result[0] if len(result) == 1 else tuple(result)

    def predict_proba(
        self, data: Data, target: str, *, unseen: Unseen = "error"
    ) -> NDArray[np.float64]:
        """Return the probabilities of the states of a discrete node, shape (rows, states)."""
        found: NDArray[np.float64] = self.predict(data, target, probabilities=True, unseen=unseen)
        return found

    def answers(self, data: Data, target: str, *, unseen: Unseen = "error") -> MixtureAnswer:
        """Return the prediction of each member for a node in each row, and its share."""
        self._first._checked(target)
        rows = self._first._prepare_for(target, data, unseen, every=True)
        return self.answers_in(rows, target)

    def answers_in(self, rows: Rows, target: str) -> MixtureAnswer:
        """Return the prediction of each member for a node in prepared rows, and its share."""
        logs = np.stack([member._log_probabilities(rows) for member in self.members])
        each = shares(logs, self.weights)
        refuse_impossible(np.isneginf(each.log_mean))
        found = [member._answers(rows, target) for member in self.members]
        return MixtureAnswer(
            each.shares,
            np.stack([answer.values for answer in found]),
            np.stack([answer.deviations for answer in found]),
        )

    def sample(self, n: int, seed: int = 0) -> Dataset:
        """Draw independent cases, each from a member that is drawn at random.

        Parameters
        ----------
        n
            Number of cases.
        seed
            The same seed gives the same cases; a longer sample begins with the shorter ones.

        Returns
        -------
        Dataset
            As `BayesianNetwork.sample`.
        """
        numbers = uniforms(n, seed, len(self.nodes))
        stream = Stream(seed, Purpose.MEMBER_OF_CASE)
        thresholds = np.cumsum(self.weights)[:-1]  # without 1, which rounding may miss
        chosen = np.searchsorted(thresholds, stream.uniforms(n), side="right")
        columns: dict[str, Values] = {
            node: np.empty(n, dtype=np.int64 if states else np.float64)
            for node, states in self.states.items()
        }
        for number, member in enumerate(self.members):
            rows = np.flatnonzero(chosen == number)
            if rows.size:
                for node, drawn in draw(member, numbers[rows]).items():
                    columns[node][rows] = drawn
        return self._first._as_drawn(columns)

    # --- files and Python ------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write all members to one file (``.json``, possibly ``.json.gz``).

        `kes.read_network` reads it. Other formats hold one network: see `save_members`.
        """
        write_average(self.members, path, self.weights)

    def save_members(self, path: str | PathLike[str]) -> list[Path]:
        """Write each member to a file of its own, such as BIF for other programs.

        Parameters
        ----------
        path
            The numbers of the members are added: ``net.bif`` becomes ``net-01.bif``,
            ``net-02.bif``, and so on. The suffix determines the format.

        Returns
        -------
        list of Path
            The files.
        """
        whole = Path(path)
        format_of(whole)
        stem, *suffixes = whole.name.split(".")
        digits = max(2, len(str(len(self.members))))
        names = [
            ".".join([f"{stem}-{number:0{digits}}", *suffixes])
            for number in range(1, len(self.members) + 1)
        ]
        paths = [whole.with_name(name) for name in names]
        for member, one in zip(self.members, paths, strict=True):
            write_network(member, one)
        return paths

    @property
    def _first(self) -> Fitted:
        return self.members[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AveragedNetwork):
            return NotImplemented
        return (self.members, self.weights) == (other.members, other.weights)

    def __hash__(self) -> int:
        return hash((self.members, self.weights))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.members, self.weights)

    def __repr__(self) -> str:
        return f"AveragedNetwork({self._summary()})"

    def _summary(self) -> str:
        arcs = np.average([len(member.arcs) for member in self.members], weights=self.weights)
        counts = {"member": len(self.members), "node": len(self.nodes)}
        shown = [f"{n} {what}{'s' * (n != 1)}" for what, n in counts.items()]
        return ", ".join([*shown, f"{arcs:.1f} arcs on average"])

    def _repr_html_(self) -> str:
        return f"<p>Averaged network: {self._summary()}</p>{self.edges()._repr_html_()}"


AnyNetwork: TypeAlias = Fitted | AveragedNetwork
"""A network, or an average of networks."""


def _normalized(weights: Iterable[float] | None, number: int) -> tuple[float, ...]:
    """Return weights that sum to 1, equal ones by default."""
    try:
        own = [1.0] * number if weights is None else [float(weight) for weight in weights]
        total = fsum(own)
    except (TypeError, ValueError, OverflowError):
        own, total = [], 0.0
    if len(own) != number or not all(0 < weight < inf for weight in own):
        raise KesError(
            f"weights must be {number} positive numbers, one for each member, not {weights!r}",
            option="weights",
        )
    if isclose(total, 1.0, rel_tol=_ROUNDING):  # as those of a file or a pickle: they stay the same
        return tuple(own)
    return tuple(weight / total for weight in own)


def _rounded(weights: Iterable[float]) -> float:
    """Return a sum, such as 0.7 for seven tenths."""
    return round(fsum(weights), 12)


def _check_members(members: Sequence[Fitted]) -> None:
    if not members:
        raise KesError("an averaged network needs at least one member", option="members")
    for number, member in enumerate(members):
        if not isinstance(member, Network):
            raise KesError(f"member {number} is no network: {member!r}", option="members")
    first = members[0]
    for number, member in enumerate(members):
        if member.nodes != first.nodes or member.kinds != first.kinds:
            raise KesError(
                f"member {number} has other nodes than member 0, or nodes of other kinds",
                option="members",
            )
        for node in first.nodes:
            if not same(member.states[node], first.states[node]):
                raise KesError(
                    f"member {number} has other states of {node!r} than member 0",
                    option="members",
                    column=node,
                )
        kept = ("discretizer", "transform", "notations")
        if any(getattr(member, name) != getattr(first, name) for name in kept):
            raise KesError(
                f"member {number} reads raw columns in another way than member 0", option="members"
            )


def _wrong_kind(target: str, kind: str, instead: str, given: str) -> KesError:
    return KesError(
        f"the node {target!r} is {kind}: ask for {instead}", option=given, column=target
    )
