"""The certificate that `kes.certify` returns, its progress, and the estimate of its cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kes.data.notes import without_excluded
from kes.graph import EssentialGraph
from kes.graph.knowledge import Knowledge
from kes.results.summary import counted
from kes.table import Table

_READABLE = 1e12
"""From here on numbers are shown with an exponent."""
YEAR = 365.25 * 24 * 3600
"""Seconds of a year: no budget allows for more."""
_HOPELESS = 100
"""Number of variables from which dynamic programming over all of them is out of reach."""


@dataclass(frozen=True)
class CertifyProgress:
    """The progress of a certificate.

    Attributes
    ----------
    stage : str
        The stage: first the estimated cost in words, then "counting sets", "solving subsets",
        "searching for a network" or "lowering the bound".
    done : int
        Sets counted or solved so far in this stage; 0 if it counts none.
    upper_bound : float or None
        The bound so far; None before there is one.
    seconds : float
        Time since the start.
    """

    stage: str
    done: int
    upper_bound: float | None
    seconds: float

    def __str__(self) -> str:
        done = f": {self.done:,}" if self.done else ""
        bound = "" if self.upper_bound is None else f": at most {self.upper_bound:.3f}"
        return f"{self.stage}{done}{bound} ({self.seconds:.0f} s)"


@dataclass(frozen=True)
class CertifyCost:
    """Estimated cost of a certificate.

    Attributes
    ----------
    variables : int
        Variables that are not constant.
    sets : float
        Largest number of sets of variables to count; the data usually rule out nearly all of
        them. Infinite beyond the range of floats.
    bytes : int
        Memory to solve all variables together by dynamic programming. Where that is too much and
        they do not fall into independent parts, the score is bounded instead.
    seconds : float
        Upper limit of the processor time to count and, up to 30 variables, to solve; roughly.
    """

    variables: int
    sets: float
    bytes: int
    seconds: float

    def __str__(self) -> str:
        if self.variables >= _HOPELESS:  # the memory would exceed the range of floats
            return (
                f"{self.variables} variables that vary: too many to solve them together "
                "unless they fall into parts"
            )
        return (
            f"{self.variables} variables that vary: at most about {about(self.sets)} sets to count "
            f"and {about(self.bytes / 2**20)} MB to solve them together; {self._time}"
        )

    @property
    def _time(self) -> str:
        """The processor time in words."""
        words = f"{duration_in_words(self.seconds)} of processor time"
        if self.seconds < 1:
            return words
        if self.seconds > YEAR:
            return f"{words} in the worst case, usually much less"
        return f"at most about {words}, usually much less"


def duration_in_words(seconds: float) -> str:
    """Format an estimated duration; beyond a year, its length does not matter.

    Examples
    --------
    >>> duration_in_words(0.2), duration_in_words(562), duration_in_words(3.6e10)
    ('less than a second', '560 s', 'more than a year')
    """
    if seconds < 1:
        return "less than a second"
    return "more than a year" if seconds > YEAR else f"{about(seconds)} s"


def about(amount: float) -> str:
    """Format an amount with two significant digits.

    Examples
    --------
    >>> about(257), about(8 / 4096), about(1.84e8), about(1e30)
    ('260', 'under 1', '180,000,000', '1e+30')
    """
    if amount < 1:
        return "under 1"
    return f"{float(f'{amount:.2g}'):,.12g}" if amount < _READABLE else f"{amount:.2g}"


@dataclass(frozen=True)
class Certificate:
    """A proof about the highest score: a bound, and how it was found.

    Attributes
    ----------
    score : float
        Score of the best known network; if `proven`, the highest of all.
    graph : EssentialGraph
        Its model. Other models may have the same score: see `ties`.
    upper_bound : float
        No network scores higher.
    proven : bool
        Whether `score` is the highest of all networks.
    method : str
        How the bound was found.
    seconds : float
        Running time.
    counted, families : int
        Sets of variables counted, and families that were left to choose from.
    ties : int
        Distinct models with this score among those compared; at least 1. There may be more.
    criterion, ess, basis, edge_prior, max_parents, knowledge
        The criterion, the degree of curves, the price of every edge, and the networks that were
        considered: None for all.
    excluded : mapping
        Pairs of variables that no network considered connects, and why; see `Optima.excluded`.
    compared : Table
        The score of each network to compare, and its gap to the upper bound.
    """

    score: float
    graph: EssentialGraph
    upper_bound: float
    proven: bool
    method: str
    seconds: float = field(compare=False)
    counted: int
    families: int
    ties: int
    criterion: str
    ess: float | None
    basis: int | None
    edge_prior: float
    max_parents: int | None
    knowledge: Knowledge | None
    excluded: Mapping[tuple[str, str], str]
    compared: Table

    @property
    def gap(self) -> float:
        """Upper bound on the difference between the highest score and `score`; 0 if `proven`."""
        return self.upper_bound - self.score

    def __repr__(self) -> str:
        ties = "possibly several" if self.ties == 1 else f"at least {self.ties}"
        edges = counted(len(self.graph.skeleton), "edge")
        rows = [
            ("score", f"{self.score:.3f} ({self._rank})"),
            ("upper bound", f"{self.upper_bound:.3f}, gap {self.gap:.3f}"),
            ("over", self._scope),
            *(("excluded", why) for why in self.excluded.values()),
            ("method", self.method),
            ("model", f"{edges}, one of {ties} with this score"),
            ("work", f"{self.counted:,} sets counted, {self.families:,} families left"),
            ("seconds", f"{self.seconds:.2f}"),
        ]
        title = "Global optimum, proven" if self.proven else "Upper bound on the score"
        lines = [title, *(f"  {label:<11}  {value}" for label, value in rows)]
        return "\n".join([*lines, repr(self.compared)] if len(self.compared) else lines)

    @property
    def _rank(self) -> str:
        if not self.proven:
            return "known"
        return "the highest of these networks" if self.excluded else "the highest there is"

    @property
    def _scope(self) -> str:
        name = self.criterion if self.ess is None else f"{self.criterion} (ess {self.ess:g})"
        name += "" if self.basis is None else f" of curves of degree {self.basis}"
        price = f" with {self.edge_prior:.4g} nats for each edge" if self.edge_prior else ""
        limit = "" if self.max_parents is None else f" with at most {self.max_parents} parents"
        known = "" if self.knowledge is None else f" under the knowledge: {self.knowledge.counts}"
        apart = without_excluded(self.excluded)
        return f"{name}{price}, all networks{limit}{known}{apart}"
