"""Conditional probability distributions (CPDs): a node given its parents.

========  ==========  ========================================================
CPD       node        given its parents
========  ==========  ========================================================
Tabular   discrete    a table of probabilities; all parents are discrete
Linear    continuous  normal, the mean a linear function of the parents
Logistic  discrete    the log-odds are linear functions of the parents
========  ==========  ========================================================

Parents enter a linear function as *regressors* (`kes.network.regressors`): a continuous parent as
its value, a discrete one as an indicator (0 or 1) of each state but the first. With a `degree`
above 1, a continuous parent enters as polynomials, and the function is a sum of curves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import isfinite, log, pi
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes import _core
from kes.data.column import State
from kes.data.normal_scores import quantiles
from kes.errors import KesError
from kes.formats.escaping import labels
from kes.network.normal import LEAST_UNIFORM
from kes.network.regressors import Values, configurations, inputs, regressor_names
from kes.table import Table
from kes.validation import integer

Inputs: TypeAlias = Any
"""What a CPD needs of its parents: the index of a configuration, or regressors."""


class Local(Protocol):
    """A CPD."""

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""

    def inputs(self, given: Sequence[Values], levels: Sequence[int], rows: int) -> Inputs:
        """Return the parents' columns, without missing values, in the form that the CPD needs.

        `levels` are the numbers of states of the parents; 0 for continuous ones.
        """

    def log_probability(self, inputs: Inputs, own: Values) -> NDArray[np.float64]:
        """Return the logarithm of the probability, or density, of the node's value in each row."""

    def draw(self, inputs: Inputs, uniforms: NDArray[np.float64]) -> Values:
        """Return in each row the quantile of the node at a number in [0, 1)."""

    def describe(self) -> tuple[str, Any]:
        """Return the kind of the CPD and its parameters, as plain data."""


class _EqualByValue:
    """Equality of parameters."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            np.array_equal(value, vars(other)[name]) for name, value in vars(self).items()
        )

    def __hash__(self) -> int:
        return hash(type(self))


@dataclass(frozen=True, eq=False)
class Tabular(_EqualByValue):
    """A table: one axis for each parent, then the node's own states."""

    cpt: NDArray[np.float64]

    @property
    def n_parameters(self) -> int:
        """One less than the states, for each configuration of the parents."""
        return int(self.cpt.size - self.cpt.size // self.cpt.shape[-1])

    def inputs(self, given: Sequence[Values], levels: Sequence[int], rows: int) -> NDArray[np.intp]:
        """Return the index of the configuration."""
        return configurations(given, levels, rows)

    def log_probability(self, inputs: NDArray[np.intp], own: Values) -> NDArray[np.float64]:
        """Look the probability up."""
        logs: NDArray[np.float64] = self.log_table().ravel()[inputs * self.cpt.shape[-1] + own]
        return logs

    def log_table(self) -> NDArray[np.float64]:
        """Return the logarithms of the table."""
        with np.errstate(divide="ignore"):  # ln 0 is minus infinity, as it should be
            return np.log(self.cpt)

    def draw(self, inputs: NDArray[np.intp], uniforms: NDArray[np.float64]) -> NDArray[np.int32]:
        """Take the first state whose cumulative probability exceeds the number."""
        *thresholds, total = np.cumsum(self.cpt.reshape(-1, self.cpt.shape[-1]), axis=1).T
        # The total is 1 up to rounding. Scaled by it, a number stays below the last cumulative
        # probability that grows, so no state of probability zero is ever drawn.
        scaled = uniforms * total[inputs]
        codes = np.zeros(len(inputs), dtype=np.int32)
        for threshold in thresholds:
            codes += scaled >= threshold[inputs]
        return codes

    def describe(self) -> tuple[str, list[Any]]:
        """Return the table as nested lists."""
        return "cpt", self.cpt.tolist()


@dataclass(frozen=True, init=False, eq=False)
class Linear(_EqualByValue):
    """A normal distribution whose mean is a linear function of the parents.

    Parameters
    ----------
    intercept
        Mean where all regressors are 0.
    coefficients
        One for each regressor: for a continuous parent one, for a discrete one those of its
        states but the first. With several discrete parents, one for each combination of states of
        which at least two are not the first may follow: then each combination has its own mean.
    deviation
        Standard deviation around the mean. 0 is for a constant: no coefficient then differs
        from 0.
    errors
        Standard errors of the intercept and of the coefficients, if known.
    degree
        Number of coefficients of a continuous parent: 1 for its value, or the degree of the
        polynomials of its normal score, which make the mean a sum of curves.

    Examples
    --------
    >>> Linear(1.0, [2.0], deviation=0.5)
    Linear(intercept=1.0, coefficients=[2.0], deviation=0.5)
    """

    intercept: float
    coefficients: NDArray[np.float64]
    deviation: float
    errors: NDArray[np.float64] | None
    degree: int

    def __init__(
        self,
        intercept: float,
        coefficients: ArrayLike = (),
        *,
        deviation: float,
        errors: ArrayLike | None = None,
        degree: int = 1,
    ) -> None:
        numbers = read_only("coefficients", coefficients)
        if numbers.ndim != 1:
            raise KesError(
                "the coefficients of a linear node must be a list of numbers", option="coefficients"
            )
        known = None if errors is None else read_only("errors", errors, least=0.0)
        if known is not None and known.shape != (1 + numbers.size,):
            raise KesError(
                f"a linear node with {numbers.size} coefficients needs {1 + numbers.size} standard "
                f"errors (the intercept first), not {known.size}",
                option="errors",
            )
        if not isfinite(intercept):
            raise KesError(
                f"the intercept of a linear node must be a number, not {intercept!r}",
                option="intercept",
            )
        if not (isfinite(deviation) and deviation >= 0):
            raise KesError(
                f"the deviation of a linear node must be at least 0, not {deviation!r}",
                option="deviation",
            )
        if deviation == 0 and numbers.any():
            raise KesError(
                "a linear node with nonzero coefficients needs a deviation above 0",
                option="deviation",
            )
        _assign(
            self,
            intercept=float(intercept),
            coefficients=numbers,
            deviation=float(deviation),
            errors=known,
            degree=_degree(degree),
        )

    @property
    def n_parameters(self) -> int:
        """Intercept, coefficients and deviation."""
        return 2 + self.coefficients.size

    def inputs(self, given: Sequence[Values], levels: Sequence[int], rows: int) -> Inputs:
        """Return the regressors."""
        return inputs(given, levels, rows, number=self.coefficients.size, degree=self.degree)

    def mean(self, inputs: Inputs) -> NDArray[np.float64]:
        """Return the mean in each row."""
        mean: NDArray[np.float64] = self.intercept + inputs @ self.coefficients
        return mean

    def log_probability(self, inputs: Inputs, own: Values) -> NDArray[np.float64]:
        """Return the logarithm of the density; a constant has its value with probability 1."""
        apart = own - self.mean(inputs)
        if self.deviation == 0:
            return np.where(apart == 0, 0.0, -np.inf)
        return -0.5 * (apart / self.deviation) ** 2 - log(self.deviation) - 0.5 * log(2 * pi)

    def draw(self, inputs: Inputs, uniforms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return quantiles of the normal distribution."""
        normals = quantiles(np.maximum(uniforms, LEAST_UNIFORM))
        return self.mean(inputs) + self.deviation * normals

    def describe(self) -> tuple[str, dict[str, Any]]:
        """Return the arguments of the constructor."""
        return "linear", _described(self)

    def __reduce__(self) -> tuple[object, ...]:
        make = partial(Linear, deviation=self.deviation, errors=self.errors, degree=self.degree)
        return make, (self.intercept, self.coefficients)

    def __repr__(self) -> str:
        return (
            f"Linear(intercept={_short(self.intercept)}, "
            f"coefficients={[_short(slope) for slope in self.coefficients]}, "
            f"deviation={_short(self.deviation)}"
            + (f", degree={self.degree})" if self.degree > 1 else ")")
        )


@dataclass(frozen=True, init=False, eq=False)
class Logistic(_EqualByValue):
    """States whose log-odds against the first one are linear functions of the parents.

    Parameters
    ----------
    coefficients
        A row for each state but the first: the intercept, then one number for each regressor, as
        those of `Linear`.
    errors
        Their standard errors, if known.
    degree
        As that of `Linear`.
    """

    coefficients: NDArray[np.float64]
    errors: NDArray[np.float64] | None
    degree: int

    def __init__(
        self, coefficients: ArrayLike, *, errors: ArrayLike | None = None, degree: int = 1
    ) -> None:
        numbers = read_only("coefficients", coefficients)
        if numbers.ndim != 2 or not numbers.shape[1]:
            raise KesError(
                "the coefficients of a logistic node must be an array with a row for each state "
                "but the first: the intercept, then one number per regressor",
                option="coefficients",
            )
        known = None if errors is None else read_only("errors", errors, least=0.0)
        if known is not None and known.shape != numbers.shape:
            raise KesError(
                "the standard errors of a logistic node must have the shape of its coefficients",
                option="errors",
            )
        _assign(self, coefficients=numbers, errors=known, degree=_degree(degree))

    @property
    def n_parameters(self) -> int:
        """All coefficients."""
        return self.coefficients.size

    def inputs(self, given: Sequence[Values], levels: Sequence[int], rows: int) -> Inputs:
        """Return the regressors."""
        number = self.coefficients.shape[1] - 1
        return inputs(given, levels, rows, number=number, degree=self.degree)

    def log_distribution(self, inputs: Inputs) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities of all states, shape (rows, states)."""
        odds = self.coefficients[:, 0] + inputs @ self.coefficients[:, 1:].T
        return log_softmax(np.concatenate([np.zeros((len(odds), 1)), odds], axis=1))

    def log_probability(self, inputs: Inputs, own: Values) -> NDArray[np.float64]:
        """Return the logarithm of the probability of the state in each row."""
        logs: NDArray[np.float64] = self.log_distribution(inputs)[np.arange(len(own)), own]
        return logs

    def draw(self, inputs: Inputs, uniforms: NDArray[np.float64]) -> NDArray[np.int32]:
        """Take the first state whose cumulative probability exceeds the number."""
        each_row = np.arange(len(uniforms))
        return Tabular(np.exp(self.log_distribution(inputs))).draw(each_row, uniforms)

    def describe(self) -> tuple[str, dict[str, Any]]:
        """Return the arguments of the constructor."""
        return "logistic", _described(self)

    def __reduce__(self) -> tuple[object, ...]:
        return partial(Logistic, errors=self.errors, degree=self.degree), (self.coefficients,)


# --- tables for reading ---------------------------------------------------------------------------


def cpt_table(
    cpt: NDArray[np.float64],
    node: str,
    parents: Sequence[str],
    states: Mapping[str, Sequence[State]],
) -> Table:
    """Return a row for each configuration of the parents: these, and the probabilities."""
    configurations = list(product(*(states[parent] for parent in parents)))
    columns: dict[str, Sequence[object]] = {
        parent: [values[i] for values in configurations] for i, parent in enumerate(parents)
    }
    rows = cpt.reshape(-1, cpt.shape[-1])
    for label, column in zip(labels(states[node]), rows.T.tolist(), strict=True):
        columns[f"P({label})"] = column
    return Table(columns)


def coefficient_table(
    model: Linear | Logistic,
    own: Sequence[State],
    parents: Sequence[str],
    states: Mapping[str, Sequence[State]],
) -> Table:
    """Return a row for the intercept and each regressor (of a logistic node: for each state)."""
    number = model.coefficients.shape[-1] - isinstance(model, Logistic)
    terms = ["(intercept)", *regressor_names(parents, states, number, model.degree)]
    if isinstance(model, Linear):
        columns: dict[str, Sequence[object]] = {
            "term": terms,
            "coefficient": [model.intercept, *model.coefficients.tolist()],
        }
    else:
        columns = {
            "state": [state for state in own[1:] for _ in terms],
            "term": terms * len(own[1:]),
            "coefficient": model.coefficients.ravel().tolist(),
        }
    if model.errors is not None:
        columns["standard_error"] = model.errors.ravel().tolist()
    return Table(columns)


def as_array(states: Sequence[State]) -> NDArray[Any]:
    """Return the states as an array, of their own type if all have the same type."""
    kinds = {type(state) for state in states}
    return np.array(states, dtype=None if len(kinds) == 1 else object)


# --- numbers --------------------------------------------------------------------------------------


def log_softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln(exp(v) / sum of exp(v)) along the last axis, without overflow."""
    shifted = values - values.max(axis=-1, keepdims=True)
    result: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result


def read_only(what: str, given: ArrayLike, least: float = -np.inf) -> NDArray[np.float64]:
    """Validate parameters and return them as a read-only copy."""
    try:
        numbers = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise KesError(f"the {what} of a node must be numbers", option=what) from None
    if not (np.isfinite(numbers).all() and (numbers >= least).all()):
        raise KesError(
            f"the {what} of a node must be finite" + ", not negative" * (least == 0), option=what
        )
    numbers.flags.writeable = False
    return numbers


def _degree(given: int) -> int:
    return integer("degree", given, minimum=1, maximum=_core.MAX_DEGREE)


def _described(model: Linear | Logistic) -> dict[str, Any]:
    """Return the arguments of the constructor, without a degree of 1."""
    shown = {name: _plain(value) for name, value in vars(model).items()}
    if model.degree == 1:
        del shown["degree"]
    return shown


def _assign(model: object, **parts: object) -> None:
    for name, value in parts.items():
        object.__setattr__(model, name, value)


def _short(value: float) -> float:
    """Round to six significant digits, for display."""
    return float(f"{value:.6g}")


def _plain(value: Any) -> Any:  # noqa: ANN401
    return value.tolist() if isinstance(value, np.ndarray) else value
