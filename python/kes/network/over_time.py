"""Networks over time: forecasts and samples of series.

The nodes of a network that was learned from `kes.lagged` are current values, which are modelled,
and earlier ones. Step by step, current values are drawn given earlier ones, and become earlier
values of the next step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from kes.data import Continuous, Dataset, Discrete
from kes.data.random_stream import Purpose, Stream
from kes.data.series import Lagged, Places, Series
from kes.data.source import open_source
from kes.errors import KesError
from kes.network.evidence import Evidence, in_order
from kes.network.new_rows import read_rows
from kes.table import Table
from kes.validation import integer

if TYPE_CHECKING:
    from kes.data.dataset import Data
    from kes.network.base import Network
    from kes.network.regressors import Values

_COVERED = (0.05, 0.95)
"""Quantiles between which nine of ten values are."""

_BURN_IN = 100
"""Steps before a sampled series begins."""


class OverTime:
    """Methods of networks that were learned from series."""

    def forecast(
        self: Any,
        data: Data,
        steps: int = 1,
        *,
        by: str | Sequence[str] | None = None,
        time: str | None = None,
        draws: int = 1000,
        seed: int = 0,
    ) -> Table:
        """Forecast each series of a table, by drawing continuations of it.

        Parameters
        ----------
        data
            A table of series, or ``kes.lagged(...)`` of one, whose `by` and `time` are then used.
            The last rows of each series must be there, without missing values.
        steps
            Number of steps after the last row of each series.
        by, time
            As in `kes.lagged`.
        draws
            Number of draws of each series: means have a standard error of 1/sqrt(draws) of the
            standard deviation.
        seed
            The same seed gives the same forecast.

        Returns
        -------
        Table
            A row for each series, step and variable: the columns of `by`; ``time``; ``step``;
            ``variable``; ``forecast``, the mean or the most frequent state; ``low`` and ``high``,
            between which nine of ten draws are; and ``probability`` of the state.

        Raises
        ------
        KesError
            If the network has no earlier values, or no series ends with all the rows it needs.
        """
        return forecast(self, data, steps, by=by, time=time, draws=draws, seed=seed)

    def sample_series(
        self: Any,
        n: int = 1,
        steps: int = 100,
        *,
        burn_in: int = _BURN_IN,
        seed: int = 0,
    ) -> Dataset:
        """Draw series.

        Each begins with independent draws of the earlier values and forgets them in the first
        `burn_in` steps, which are dropped.

        Parameters
        ----------
        n
            Number of series.
        steps
            Length of each.
        burn_in
            Number of steps before them.
        seed
            The same seed gives the same series.

        Returns
        -------
        Dataset
            With the columns ``series``, ``time`` and the modelled variables, for instance for
            ``kes.lagged(sample, by="series", time="time")``.

        Raises
        ------
        KesError
            If the network has no earlier values.
        """
        return sample_series(self, n, steps, burn_in=burn_in, seed=seed)


@dataclass(frozen=True)
class Slices:
    """The nodes of a network by what they stand for.

    Attributes
    ----------
    now : tuple of str
        Modelled nodes: current values, in topological order.
    before : mapping of str to (str, int)
        Nodes of earlier values, with the variable and the lag of each.
    fixed : tuple of str
        Other exogenous nodes; their values do not change.
    """

    now: tuple[str, ...]
    before: Mapping[str, tuple[str, int]]
    fixed: tuple[str, ...]

    @classmethod
    def of(cls, network: Network) -> Slices:
        """Sort the nodes of a network, which must have earlier values."""
        before = {node: (own.of, own.lag) for node, own in network.notations.items() if own.lag > 0}
        if not before:
            raise KesError(
                "the network has no earlier values; learn one from kes.lagged(table, lags=...)",
                option="lags",
            )
        fixed = [node for node in network.exogenous if node not in before]
        now = [node for node in in_order(network) if node not in {*before, *fixed}]
        return cls(tuple(now), before, tuple(fixed))

    @property
    def lags(self) -> int:
        """The largest lag."""
        return max(lag for _, lag in self.before.values())


class _Walk:
    """Series being drawn: for every row the last values of each variable, in raw units."""

    def __init__(
        self,
        network: Network,
        slices: Slices,
        past: Mapping[str, list[Values]],
        fixed: Mapping[str, Values],
    ) -> None:
        self._network, self._slices = network, slices
        self._past = {name: list(values) for name, values in past.items()}
        self._fixed = fixed
        self._rows = len(next(iter(past.values()))[0])

    def step(self, stream: Stream) -> dict[str, Values]:
        """Draw the next values of all variables, in raw units."""
        network = self._network
        columns = {node: self._scaled(node, values) for node, values in self._fixed.items()}
        for node, (name, lag) in self._slices.before.items():
            columns[node] = self._scaled(node, self._past[name][lag - 1])
        uniforms = stream.uniforms(len(self._slices.now), self._rows)
        drawn = Evidence(network, columns, self._rows)
        for node, own in zip(self._slices.now, uniforms, strict=True):
            columns[node] = network.local(node).draw(drawn.inputs(node), own)
        found = {node: self._raw(node, columns[node]) for node in self._slices.now}
        for name, values in self._past.items():
            if name in found:
                values.insert(0, found[name])
                values.pop()
        return found

    def _scaled(self, node: str, values: Values) -> Values:
        own = self._network.transform
        return values if own is None or self._network.states[node] else own.transform(node, values)

    def _raw(self, node: str, values: Values) -> Values:
        own = self._network.transform
        return values if own is None or self._network.states[node] else own.inverse(node, values)


# --- forecasts -----------------------------------------------------------------------------------


def forecast(
    network: Network,
    data: Data,
    steps: int,
    *,
    by: str | Sequence[str] | None,
    time: str | None,
    draws: int,
    seed: int,
) -> Table:
    """Forecast series; see `OverTime.forecast`."""
    ahead, number = integer("steps", steps, minimum=1), integer("draws", draws, minimum=1)
    slices = Slices.of(network)
    series = Series.of(slices.lags, by, time)
    if isinstance(data, Lagged):
        series = data.series
        data = data.table
    source = open_source(data)
    places = Places.find(source, Series(slices.lags - 1, series.by, series.time))
    ends = _ends(places)
    names = sorted({name for name, _ in slices.before.values()} | {*slices.now})
    states = {name: network.states[name] for name in (*names, *slices.fixed)}
    columns = read_rows(
        data, states, discretizer=network.discretizer, notations=network.notations
    ).columns
    past = {
        name: [np.repeat(columns[name][ends[lag]], number) for lag in range(slices.lags)]
        for name in names
    }
    fixed = {name: np.repeat(columns[name][ends[0]], number) for name in slices.fixed}
    walk = _Walk(network, slices, past, fixed)
    keys = {name: _labels(source, name)[ends[0]] for name in series.by}
    rows: list[dict[str, Any]] = []
    for step in range(1, ahead + 1):
        drawn = walk.step(Stream(seed, Purpose.FORECASTS, step))
        for place in range(ends.shape[1]):
            moment = int(places.moments[ends[0][place]]) + step
            own = {name: values[place] for name, values in keys.items()}
            own |= {"time": places.clock.label(moment), "step": step}
            for name in network.nodes:
                if name in drawn:
                    part = drawn[name][place * number : (place + 1) * number]
                    rows.append({**own, "variable": name, **_summary(part, network.states[name])})
    return Table({name: [row[name] for row in rows] for name in rows[0]})


def _ends(places: Places) -> NDArray[np.intp]:
    """Return the last row of each series, and the rows before it that a forecast needs."""
    last = np.full(int(places.series.max(initial=0)) + 1, -1, dtype=np.int64)
    np.maximum.at(last, places.series, places.moments)
    now = places.rows[0]
    ends = places.rows[:, places.moments[now] == last[places.series[now]]]
    if not ends.size:
        raise KesError(
            "no series ends with all the rows that a forecast needs; see kes.lagged",
            option="data",
        )
    return ends


def _labels(source: Any, name: str) -> NDArray[Any]:  # noqa: ANN401 - a Source
    """Return the values of a column that tells series apart."""
    factor = source.column(list(source.names).index(name), frozenset()).factor()
    values = np.empty(len(factor.values), dtype=object)
    values[:] = factor.values
    return cast("NDArray[Any]", values[factor.codes])


def _summary(values: Values, states: Sequence[object]) -> dict[str, object]:
    if states:
        counts = np.bincount(values, minlength=len(states))
        best = int(counts.argmax())
        share = float(counts[best] / len(values))
        return {"forecast": states[best], "low": None, "high": None, "probability": share}
    low, high = np.quantile(values, _COVERED)
    mean = float(values.mean())
    return {"forecast": mean, "low": float(low), "high": float(high), "probability": None}


# --- samples -------------------------------------------------------------------------------------


def sample_series(network: Network, n: int, steps: int, *, burn_in: int, seed: int) -> Dataset:
    """Draw series; see `OverTime.sample_series`."""
    number, length = integer("n", n, minimum=1), integer("steps", steps, minimum=1)
    before = integer("burn_in", burn_in, minimum=0)
    slices = Slices.of(network)
    first = network.sample(number, seed)
    start = dict(zip(first.names, first.columns, strict=True))
    past: dict[str, list[Values]] = {
        name: [np.zeros(0)] * slices.lags
        for name in dict.fromkeys(v for v, _ in slices.before.values())
    }
    for node, (name, lag) in slices.before.items():
        past[name][lag - 1] = _values(start[node])
    walk = _Walk(network, slices, past, {node: _values(start[node]) for node in slices.fixed})
    every = range(before + length)
    rows = [walk.step(Stream(seed, Purpose.SERIES, step)) for step in every][before:]
    modelled = [node for node in network.nodes if node in {*slices.now}]
    columns: list[Discrete | Continuous] = [
        Discrete(tuple(range(number)), np.repeat(np.arange(number), length)),
        Discrete(tuple(range(length)), np.tile(np.arange(length), number)),
    ]
    for name in modelled:
        values = np.stack([row[name] for row in rows], axis=1).reshape(-1)
        states = network.states[name]
        columns.append(Discrete(states, values) if states else Continuous(values))
    return Dataset.of(["series", "time", *modelled], columns)


def _values(column: Discrete | Continuous) -> Values:
    return column.codes.astype(np.int32) if isinstance(column, Discrete) else column.values
