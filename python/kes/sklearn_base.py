"""The common base of the scikit-learn estimators.

Importing scikit-learn takes longer than most searches, so `kes` imports this module only when one
of its estimators is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series
from numpy.typing import ArrayLike, NDArray

from kes.analysis.target import check_target
from kes.data.discretizer import Discretizer
from kes.data.schema import Schema
from kes.data.source import open_source
from kes.declare import declared, documented
from kes.errors import KesError, not_installed
from kes.network.fitting import Fitted

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import validate_data
except ImportError:
    raise not_installed("scikit-learn") from None

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from kes.network.average import AveragedNetwork

CALL_ONLY = ("weights", "progress", "client", "out", "checkpoint")
"""Options of `kes.learn` that are not parameters of an estimator."""

_SEEDS = 2**31

# Differences from the options of `kes.learn`.
_DOCS: dict[str, dict[str, Any]] = {
    "random_state": {
        "type": "int, RandomState or None",
        "doc": "Seed of all random choices. None draws one; a RandomState is asked for one.",
    },
    "missing": {
        "type": '{"error", "state", "em"}',
        "doc": "How to treat missing values in `fit`: raise an error, make missing a state of its "
        "own, or impute them from the model. In rows that are scored or predicted, missing values "
        "are summed out where they were imputed, and wherever members are averaged.",
    },
}


class Matched(NamedTuple):
    """New cases: the table, the nodes that it has columns of, and how to read these columns."""

    data: Any
    nodes: list[str]
    schema: Schema
    cuts: Discretizer | None


class HiddenTransform:
    """A parameter with the name of a method of scikit-learn.

    Reading it as an attribute fails, as scikit-learn takes every estimator that has an attribute
    `transform` for a transformer. `get_params` returns its value.
    """

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        raise AttributeError("not a transformer; get_params() returns the parameter")

    def __set__(self, instance: object, value: object) -> None:
        vars(instance)["transform"] = value


class TableEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator of tables of any kind, whose parameters are options of `kes`."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]

    transform = HiddenTransform()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; `deep` has no effect, as none of them is an estimator."""
        return {name: vars(self)[name] for name in self._get_param_names()}

    def _options(self, sample_weight: ArrayLike | None) -> dict[str, Any]:
        """Return the options to learn with, with a seed and weights."""
        options = self.get_params()
        if options["missing"] not in ("error", "state", "em"):
            raise KesError(
                f'missing must be "error", "state" or "em", not {options["missing"]!r}; drop '
                "incomplete rows before: scikit-learn needs a result for each row",
                option="missing",
            )
        if isinstance(state := options["random_state"], np.random.RandomState):
            options["random_state"] = int(state.randint(_SEEDS))
        options["weights"] = None if sample_weight is None else np.asarray(sample_weight)
        return options

    def _table(self, X: ArrayLike, y: object = "no_validation", *, reset: bool) -> Any:  # noqa: ANN401
        """Check the columns as scikit-learn does, and y if there is one; return X.

        Data frames are returned unchanged.
        """
        if is_into_dataframe(X):
            checks: dict[str, Any] = {"skip_check_array": True}
        else:
            gaps = "allow-nan" if vars(self)["missing"] != "error" else True
            least = 2 if reset else 1
            checks = {"dtype": None, "ensure_all_finite": gaps, "ensure_min_samples": least}
        found = validate_data(self, X, y, reset=reset, **checks)
        return found[0] if isinstance(found, tuple) else found

    def _set_columns(self, names: Iterable[str]) -> None:
        """Note the positions of the columns that `fit` saw."""
        self._places = {name: place for place, name in enumerate(names)}

    def _matched(
        self, X: ArrayLike, network: Fitted | AveragedNetwork, without: str | None
    ) -> Matched:
        """Match the columns of new cases with nodes, by position.

        scikit-learn checks names if both tables have them, and only warns if one of them has none.
        """
        data = self._table(X, reset=False)
        columns, written = list(open_source(data).names), network.notations
        own = {node: columns[self._places[node]] for node in network.nodes if node != without}
        notations = {column: written[node] for node, column in own.items() if node in written}
        schema = Schema(list(own.values()), [network.states[node] for node in own], notations)
        cuts = None
        if network.discretizer is not None:
            known = network.discretizer.cuts
            cuts = Discretizer.at({c: known[node] for node, c in own.items() if node in known})
        return Matched(data, list(own), schema, cuts)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = vars(self)["missing"] != "error"
        return tags


def document(estimator: type, options: type) -> None:
    """Complete the documentation of an estimator by its parameters."""
    known = declared(options).items()
    own = [replace(one, **_DOCS.get(name, {})) for name, one in known if name not in CALL_ONLY]
    estimator.__doc__ = documented(estimator.__doc__, own)


def with_target(data: Any, target: str, y: object) -> tuple[Any, str]:  # noqa: ANN401 - any table
    """Return the table with y as the column of the target, and the name of that column.

    The columns of an array have no names, so the target becomes the last one.
    """
    if y is None:
        check_target(target, open_source(data).names)
        return data, target
    if not is_into_dataframe(data):
        values = np.asarray(y, dtype=object).reshape(len(data), 1)
        return np.hstack([np.asarray(data, dtype=object), values]), f"x{np.shape(data)[1]}"
    frame = nw.from_native(data, eager_only=True)
    if is_into_series(y):
        own = nw.from_native(y, series_only=True).alias(target)
        if own.implementation is frame.implementation:
            return frame.with_columns(own).to_native(), target
    column = nw.new_series(target, np.asarray(y).ravel().tolist(), backend=frame.implementation)
    return frame.with_columns(column).to_native(), target
