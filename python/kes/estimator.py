"""The scikit-learn estimator: a density estimator for tables of any kind.

`kes` imports this module only when `kes.KES` is used: importing scikit-learn takes longer than most
searches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.analysis.target import predictions
from kes.api import learn
from kes.data import Incomplete
from kes.data.encoder import read_data
from kes.data.schema import ReadOptions
from kes.data.source import open_source
from kes.declare import checked_options, warn_renamed
from kes.errors import KesError, not_installed
from kes.network.cpds import as_array
from kes.options import HeldOutOptions, LearnOptions
from kes.sklearn_base import CALL_ONLY, TableEstimator, document, with_target

try:
    from sklearn.base import DensityMixin
    from sklearn.metrics import accuracy_score, r2_score
    from sklearn.utils import ClassifierTags, RegressorTags
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise not_installed("scikit-learn") from None

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from kes.data.dataset import AnyTable
    from kes.graph import EssentialGraph
    from kes.network.fitting import Fitted
    from kes.network.new_rows import Unseen
    from kes.results.optima import Optima

_RENAMED = {"transformation": "transform"}


class EstimatorOptions(HeldOutOptions, LearnOptions, total=False):
    """Parameters of the estimator."""


def _has_target(estimator: KES) -> bool:
    return vars(estimator)["target"] is not None


def _has_classes(estimator: KES) -> bool:
    """Return whether the target has states; before `fit` it may have."""
    is_fitted = hasattr(estimator, "network_")
    return _has_target(estimator) and (hasattr(estimator, "classes_") or not is_fitted)


class KES(DensityMixin, TableEstimator):  # type: ignore[misc]
    """Bayesian network learned by k-greedy equivalence search, as a scikit-learn estimator.

    `fit` searches as `kes.learn` does, takes the best optimum and estimates its CPDs. `score` is
    the mean log-likelihood of cases, so model selection (`GridSearchCV`, `cross_val_score`)
    compares settings on cases that were held out.

    With a `target` it is a classifier or a regressor as well, according to the kind of the target:
    it has `predict` and, for a discrete target, `predict_proba`; then `score` is the accuracy or
    R².

    Needs the extra ``sklearn``.

    Parameters
    ----------
    target : str or None
        Name of the variable to predict: a column of X, or a name for `y` if `fit` gets one.

    Attributes
    ----------
    optima_ : Optima
        The models that the search found, best first.
    graph_ : EssentialGraph
        The best model.
    network_ : BayesianNetwork, GaussianNetwork or MixedNetwork
        The best model with its CPDs; it answers queries, predicts and samples.
    classes_ : ndarray
        The states of a discrete target, sorted.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had any.

    See Also
    --------
    kes.learn : The search itself.
    kes.BayesianNetwork.predict : Predict one variable from the others.

    Notes
    -----
    The table may be a data frame, whose states keep their names and declared order, or an array.
    Its columns may be discrete, continuous or both, as in `kes.learn`.

    A state that occurs only in held-out cases is an error: nothing was learned about it. Declare
    the possible states (pandas categories, polars Enum) before splitting.

    Examples
    --------
    >>> import numpy as np
    >>> from kes.estimator import KES
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(2, size=1000)
    >>> b = np.where(rng.random(1000) < 0.9, a, 1 - a)
    >>> X = np.column_stack([a, b, rng.integers(2, size=1000)])
    >>> model = KES(runs=10).fit(X[:800])
    >>> model.graph_.skeleton == {frozenset({"x0", "x1"})}
    True
    >>> round(model.score(X[800:]), 2)  # guessing gives 3 ln(1/2) = -2.08
    -1.81
    """

    optima_: Optima
    graph_: EssentialGraph
    network_: Fitted
    classes_: NDArray[Any]

    @checked_options(EstimatorOptions, without=CALL_ONLY, check=False, renamed=_RENAMED, runs=100)
    def __init__(self, **options: Unpack[EstimatorOptions]) -> None:
        for name, value in options.items():  # unchecked: `fit` checks them
            setattr(self, name, value)

    def set_params(self, **params: object) -> Self:
        """Set parameters."""
        for old in _RENAMED.keys() & params.keys():
            warn_renamed(old, _RENAMED[old])
            params[_RENAMED[old]] = params.pop(old)
        super().set_params(**params)
        return self

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the structure and estimate the CPDs of the best optimum.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), optional
            Values of the target; ignored without one. A column of X with its name is then
            replaced.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: counts, or any non-negative reals with a sum of more than
            1. Rows of weight 0 still declare their states.

        Returns
        -------
        KES
            This estimator.
        """
        options = self._options(sample_weight)
        data, target = self._table(X, reset=True), options.pop("target")
        if target is not None:
            data, target = with_target(data, target, y)
        prior, ess, weights = options.pop("prior"), options["ess"], options["weights"]
        self.optima_ = learn(data, **options)
        best = self.optima_.best
        self.graph_ = best.graph
        self.network_ = best.fit(data, prior=prior, ess=ess, weights=weights)
        self._set_columns(open_source(data).names)
        self._target, self._is_separate = target, target is not None and y is not None
        if target is not None:
            self._set_classes(target)
        return self

    def _set_classes(self, target: str) -> None:
        """Sort the states of the target, as scikit-learn expects."""
        if target not in self.network_.states:
            raise KesError(
                f"the target {target!r} was left out of the search: {self.optima_.notes}",
                option="target",
                column=target,
            )
        if hasattr(self, "classes_"):
            del self.classes_
        if states := self.network_.states[target]:
            self.classes_, self._order = np.unique(as_array(states), return_index=True)

    @available_if(_has_target)  # type: ignore[untyped-decorator]
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the target: the most probable state, or the mean.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Cases, with the columns that `fit` saw. A column of the target is ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if hasattr(self, "classes_"):
            best: NDArray[np.intp] = self.predict_proba(X).argmax(axis=1)
            return self.classes_[best]
        return self._predictions(X)[:, 0]

    @available_if(_has_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probabilities of the states of a discrete target.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Cases, as in `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        check_is_fitted(self)
        return self._predictions(X)[:, self._order]

    def _predictions(self, X: ArrayLike) -> NDArray[np.float64]:
        assert self._target is not None, "without a target there is no predict"
        cases = self._cases(X, without=self._target)
        unseen: Unseen = "missing" if isinstance(cases, Incomplete) else "error"
        return predictions(self.network_, cases, self._target, unseen).values

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the log-likelihood of each case.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Cases, with the columns that `fit` saw.

        Returns
        -------
        ndarray of shape (n_samples,)
            Natural logarithms of probabilities.

        Raises
        ------
        KesError
            If a column has a state that `fit` did not see.
        """
        check_is_fitted(self)
        if self._is_separate:
            raise KesError(
                "score_samples needs the target as a column of X: fit without y", option="target"
            )
        cases = self._cases(X)
        unseen: Unseen = "missing" if isinstance(cases, Incomplete) else "error"
        return self.network_.log_likelihood(cases, per_row=True, unseen=unseen)

    def score(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the mean log-likelihood of the cases; with a target and y, accuracy or R².

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Cases, preferably ones that `fit` did not see.
        y : array-like of shape (n_samples,), optional
            True values of the target; ignored without one.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.

        Returns
        -------
        float
            Natural logarithm per case, accuracy or R²; higher is better.
        """
        if _has_target(self) and y is not None:
            measure = accuracy_score if hasattr(self, "classes_") else r2_score
            return float(measure(y, self.predict(X), sample_weight=sample_weight))
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return float(np.average(self.score_samples(X), weights=weights))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if _has_target(self) and hasattr(self, "network_"):
            is_classifier = hasattr(self, "classes_")
            tags.estimator_type = "classifier" if is_classifier else "regressor"
            tags.classifier_tags = ClassifierTags() if is_classifier else None
            tags.regressor_tags = None if is_classifier else RegressorTags()
        return tags

    def _cases(self, X: ArrayLike, without: str | None = None) -> AnyTable:
        """Read cases as `fit` read its table, without a column that is to be predicted."""
        own = self._matched(X, self.network_, without)
        options = ReadOptions(missing=vars(self)["missing"])
        table = read_data(own.data, options, schema=own.schema, discretizer=own.cuts)
        return table.renamed(own.nodes)


document(KES, EstimatorOptions)
