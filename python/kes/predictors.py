"""A scikit-learn classifier and regressor: averaged networks that predict one variable.

`kes` imports this module only when one of its classes is used, as `kes.estimator`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.analysis.averaging import ensemble
from kes.data.discretizer import Discretizer
from kes.data.schema import match_rows
from kes.data.source import open_source
from kes.declare import checked_options
from kes.errors import KesError, not_installed
from kes.network.new_rows import Rows
from kes.options import DEFAULTS, EnsembleOptions, LearnOptions
from kes.search.problem import read_as
from kes.sklearn_base import CALL_ONLY, TableEstimator, document, with_target

try:
    from sklearn.base import ClassifierMixin, RegressorMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d
except ImportError:
    raise not_installed("scikit-learn") from None

if TYPE_CHECKING:
    from kes.data.dataset import Data
    from kes.network.average import AveragedNetwork
    from kes.network.mixtures import MixtureAnswer


class _Averaged(TableEstimator):
    """Fits an averaged network to a table with the target as a further column."""

    network_: AveragedNetwork

    @checked_options(EnsembleOptions, without=CALL_ONLY, check=False)
    def __init__(self, **options: Unpack[EnsembleOptions]) -> None:
        for name, value in options.items():  # unchecked: `fit` checks them
            setattr(self, name, value)

    def _fit(self, X: Any, y: NDArray[Any], kind: str, weights: ArrayLike | None) -> None:  # noqa: ANN401
        options = self._options(weights)
        source = open_source(X)
        if source.rows != len(y):
            raise KesError(f"X has {source.rows} rows, and y has {len(y)}", option="y")
        self._set_columns(source.names)
        name = "y"
        while name in self._places:
            name += "_"
        data, given = with_target(X, name, y)
        self._target = name
        if kind == "continuous" and options["discretize"] is not None:  # features, not the target
            alone = read_as(X, cast("LearnOptions", {**DEFAULTS, **options}))
            options["discretize"] = Discretizer.at(alone.reading.cuts)
        options["kinds"] = {**(options["kinds"] or {}), given: kind}
        read = read_as(data, cast("LearnOptions", {**DEFAULTS, **options}))
        names = [name if column == given else column for column in read.table.names]
        table = replace(read, table=read.table.renamed(names))
        self.network_ = ensemble(cast("Data", table), **options)

    def _answers(self, X: ArrayLike) -> MixtureAnswer:
        """Predict the target in each row; columns are matched by position."""
        check_is_fitted(self)
        network = self.network_
        own = self._matched(X, network, self._target)
        source = open_source(own.data)
        columns, _ = match_rows(source, own.schema, own.cuts, "missing")
        rows = Rows(dict(zip(own.nodes, columns, strict=True)), source.rows)
        return network.answers_in(network.members[0].transformed(rows), self._target)


class KESClassifier(ClassifierMixin, _Averaged):  # type: ignore[misc]
    """Classifier: an averaged network of the features and the class.

    The members of the average are learned by `kes.ensemble` from the features and the class
    together, so it also shows how the features depend on each other, takes columns of all kinds,
    and predicts from incomplete rows.

    Needs the extra ``sklearn``.

    Parameters
    ----------
    criterion : str or None
        The criterion of all members. By default they take turns: see `kes.ensemble`.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    network_ : AveragedNetwork
        The average, over the features and "y", the target.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had any.

    See Also
    --------
    kes.ensemble : The average itself.
    kes.KES : One network, as an estimator of the density of all columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kes.predictors import KESClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KESClassifier(members=5).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    classes_: NDArray[Any]

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from features and classes.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The classes.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.

        Returns
        -------
        KESClassifier
            This estimator.
        """
        data = self._table(X, y, reset=True)
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) > 1:
            _refuse_one_class(codes, sample_weight)
        self._fit(data, codes, "discrete", sample_weight)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Cases, with the columns that `fit` saw.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return self._answers(X).values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each case; see `predict_proba`."""
        best: NDArray[np.intp] = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


class KESRegressor(RegressorMixin, _Averaged):  # type: ignore[misc]
    """Regressor: an averaged network of the features and a continuous target.

    Needs the extra ``sklearn``.

    Parameters
    ----------
    criterion : str or None
        The criterion of all members. By default they take turns: see `kes.ensemble`.

    Attributes
    ----------
    network_ : AveragedNetwork
        The average, over the features and "y", the target.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had any.

    See Also
    --------
    kes.ensemble : The average itself.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kes.predictors import KESRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> KESRegressor(members=5).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.4
    True
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from features and a number for each case.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The numbers.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.

        Returns
        -------
        KESRegressor
            This estimator.
        """
        data = self._table(X, y, reset=True)
        numbers = column_or_1d(y, warn=True, dtype=np.float64)
        if not np.isfinite(numbers).all():
            row = int(np.flatnonzero(~np.isfinite(numbers))[0])
            raise KesError(
                f"y has no finite number in row {row}; leave such rows out of X and y",
                option="y",
                row=row,
            )
        self._fit(data, numbers, "continuous", sample_weight)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the mean of the target in each case.

        With ``transform="ranks"`` or `basis` it is the value that has the mean normal score, which
        is near the median.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Cases, with the columns that `fit` saw.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        means = self._answers(X).values[:, 0]
        transform = self.network_.transform
        return means if transform is None else transform.inverse(self._target, means)


def _refuse_one_class(codes: NDArray[np.intp], weights: ArrayLike | None) -> None:
    """Refuse weights that leave the rows of one class; others are checked with the table."""
    own = np.ones(len(codes)) if weights is None else np.asarray(weights)
    if own.shape == codes.shape and len(np.unique(codes[own > 0])) == 1:
        raise KesError(
            "all rows of positive weight are of one class; give weight to rows of another, too",
            option="sample_weight",
        )


for _own in (KESClassifier, KESRegressor):
    document(_own, EnsembleOptions)
