"""The scikit-learn face of kes: a density estimator over discrete variables.

Importing scikit-learn takes longer than most searches, so `kes` imports this module only when
`kes.KES` is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from narwhals.dependencies import is_into_dataframe
from numpy.typing import ArrayLike, NDArray

from kes.api import learn
from kes.data import Incomplete
from kes.data.discretizer import Discretizer
from kes.data.encoder import read_data
from kes.data.read_options import ReadOptions
from kes.data.schema import Schema
from kes.data.source import open_source
from kes.errors import KesError, checked_options, not_installed
from kes.options import DEFAULT_CACHE_MB

try:
    from sklearn.base import BaseEstimator, DensityMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise not_installed("scikit-learn") from None

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from kes.data.incomplete import AnyTable
    from kes.data.infer_kinds import Kinds
    from kes.graph import EssentialGraph
    from kes.graph.knowledge import Knowledge
    from kes.network.fitting import Fitted, Prior
    from kes.network.new_rows import Unseen
    from kes.options import Sampled
    from kes.results.optima import Optima

_SEEDS = 2**31


class KES(DensityMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Bayesian network learned by k-greedy equivalence search, as a scikit-learn estimator.

    `fit` does what `kes.learn` does, takes the best optimum and estimates its tables. `score` is
    the mean log-likelihood of cases, so that model selection (`GridSearchCV`,
    `cross_val_score`) compares settings by cases that had no part in learning.

    Needs the extra ``sklearn``.

    Parameters
    ----------
    k, runs, improve, prove, criterion, penalty, kinds, max_parents, two_phase, neighbourhood, \
start, knowledge, cache_mb, budget, patience
        As in `kes.learn`.
    transformation : {"ranks"} or None
        What `kes.learn` calls `transform`, which is the name of a method in scikit-learn.
    ess : float
        Equivalent sample size, of the criterion "bdeu" and of the prior "bdeu".
    prior : {"bdeu", "ml"} or float
        How to estimate the tables of the network; see `kes.fit`. Maximum likelihood may hold new
        cases for impossible, and `score` is then minus infinity.
    random_state : int, RandomState or None
        Seed of the runs; None draws one, a RandomState is asked for one.
    n_jobs : int or None
        Threads; None or -1 for all usable cores. Does not change the result.
    missing : {"error", "state", "em"}
        What to do with missing values: refuse them, make "missing" a state of its own, or fill
        them in from the model. Of rows that are scored, what is missing is then summed out.
    completions : int
        For "em", as in `kes.learn`.
    discretize : int, mapping, Discretizer or None
        As in `kes.learn`: cuts continuous columns, at places that `fit` decides.

    Attributes
    ----------
    optima_ : Optima
        The models that the search found, best first.
    graph_ : EssentialGraph
        The best of them.
    network_ : BayesianNetwork, GaussianNetwork or MixedNetwork
        The best of them with its tables; answers queries, predicts, samples.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Their names, if the table had any.

    See Also
    --------
    kes.learn : the search itself.
    kes.BayesianNetwork.predict : predict one variable from the others.

    Notes
    -----
    The table may be a data frame, whose states keep their names and declared order, or an array
    of integers, text or booleans. Continuous columns must be cut into intervals before, for
    instance by ``KBinsDiscretizer(encode="ordinal")`` in a pipeline.

    A state that occurs only in the cases held out is an error: nothing was learned about it.
    Declare the possible states (pandas categories, polars Enum) before splitting.

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
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    @checked_options()
    def __init__(
        self,
        *,
        k: float = 0.8,
        runs: int | None = 100,
        improve: bool | int | str = True,
        prove: bool | str = "auto",
        criterion: str = "bic",
        ess: float = 1.0,
        penalty: float = 1.0,
        transformation: str | None = None,
        kinds: Kinds | None = None,
        prior: Prior = "bdeu",
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        max_parents: int | None = None,
        two_phase: bool = False,
        neighbourhood: str | Sampled = "exact",
        missing: str = "error",
        completions: int = 5,
        discretize: int | Mapping[str, int] | Discretizer | None = None,
        start: EssentialGraph | Sequence[tuple[str, str]] | None = None,
        knowledge: Knowledge | None = None,
        cache_mb: int = DEFAULT_CACHE_MB,
        budget: float | str | None = None,
        patience: int | None = None,
    ) -> None:
        self.k = k
        self.runs = runs
        self.improve = improve
        self.prove = prove
        self.criterion = criterion
        self.ess = ess
        self.penalty = penalty
        self.transformation = transformation
        self.kinds = kinds
        self.prior = prior
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_parents = max_parents
        self.two_phase = two_phase
        self.neighbourhood = neighbourhood
        self.missing = missing
        self.completions = completions
        self.discretize = discretize
        self.start = start
        self.knowledge = knowledge
        self.cache_mb = cache_mb
        self.budget = budget
        self.patience = patience

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the structure and estimate the tables of the best optimum.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Discrete variables.
        y : ignored
            Here because scikit-learn passes it.
        sample_weight : array-like of shape (n_samples,), optional
            How many cases each row stands for: counts, or any non-negative reals with a sum of
            more than 1. Rows of weight 0 declare their states all the same.

        Returns
        -------
        KES
            This estimator.
        """
        if self.missing not in ("error", "state", "em"):
            raise KesError(
                f'missing must be "error", "state" or "em", not {self.missing!r}; to drop '
                "incomplete rows, do so before: scikit-learn needs a result for each row"
            )
        weights = None if sample_weight is None else np.asarray(sample_weight)
        data = self._table(X, reset=True)
        options = self.get_params(deep=False)
        prior, ess = options.pop("prior"), self.ess
        options["transform"] = options.pop("transformation")
        options |= {"random_state": self._seed(), "weights": weights}
        self.optima_ = learn(data, **options)
        best = self.optima_.best
        self.graph_ = best.graph
        self.network_ = best.fit(data, prior=prior, ess=ess, weights=weights)
        names = list(open_source(data).names)
        self._used = [names.index(name) for name in self.network_.nodes]
        return self

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the log-likelihood of each case.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Cases, with the columns that `fit` has seen.

        Returns
        -------
        ndarray of shape (n_samples,)
            Natural logarithms of probabilities.

        Raises
        ------
        KesError
            If a column has a state that `fit` has not seen.
        """
        check_is_fitted(self)
        cases = self._cases(X)
        unseen: Unseen = "missing" if isinstance(cases, Incomplete) else "error"
        return self.network_.log_likelihood(cases, per_row=True, unseen=unseen)

    def score(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the mean log-likelihood of the cases.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Cases, best ones that had no part in `fit`.
        y : ignored
            Here because scikit-learn passes it.
        sample_weight : array-like of shape (n_samples,), optional
            How many cases each row stands for.

        Returns
        -------
        float
            Natural logarithm per case; higher is better.
        """
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return float(np.average(self.score_samples(X), weights=weights))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def _table(self, X: ArrayLike, *, reset: bool) -> Any:  # noqa: ANN401 - any table
        """Check the columns as scikit-learn does; data frames stay what they are."""
        if is_into_dataframe(X):
            return validate_data(self, X, reset=reset, skip_check_array=True)
        return validate_data(
            self,
            X,
            reset=reset,
            dtype=None,
            ensure_all_finite="allow-nan" if self.missing != "error" else True,
            ensure_min_samples=2 if reset else 1,
        )

    def _cases(self, X: ArrayLike) -> AnyTable:
        """Code cases as those of `fit` were coded.

        Columns go by position. Names have been checked where both tables have some; scikit-learn
        only warns if one of them has none.
        """
        data = self._table(X, reset=False)
        states = list(self.network_.states.values())
        columns = open_source(data).names
        names = [columns[place] for place in self._used]
        options = ReadOptions(missing=self.missing)
        table = read_data(
            data, options, schema=Schema(names, states), discretizer=self._known_as(names)
        )
        return table.renamed(self.network_.nodes)

    def _known_as(self, names: Sequence[str]) -> Discretizer | None:
        """Return what cuts the columns, under the names that they have here."""
        discretizer = self.network_.discretizer
        if discretizer is None:
            return None
        own = zip(self.network_.nodes, names, strict=True)
        cuts = discretizer.cuts
        return Discretizer.at({here: cuts[name] for name, here in own if name in cuts})

    def _seed(self) -> int | None:
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(_SEEDS))
        return self.random_state
