"""``kes query``: ask a network for probabilities and means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import click

from kes.cli import options
from kes.cli.console import say
from kes.cli.inputs import network_of
from kes.data.dataset import Dataset, naming
from kes.data.schema import read_number
from kes.errors import KesError, listed, suggest
from kes.network import BayesianNetwork
from kes.network.average import AnyNetwork, AveragedNetwork
from kes.network.query import Probability
from kes.network.ranges import SIGNS, Range

_DIFFERENCE = 0.05
"""Show the share of a state in the data if it differs more than this."""


@options.command(
    "query",
    "Ask a network for probabilities, or for means.",
    'kes query a.kes.json.gz "P(cancer | smoker=yes)"',
    'kes query best.bif "P(cancer=yes, cough=yes | smoker=yes, age=old)"',
    'kes query a.kes.json.gz "P(income>4000 | age>=30, age<40)"',
    'kes query flowers.json "height | width=1.2"',
)
@options.model
@click.argument("questions", nargs=-1, required=True, metavar="QUESTION...")
@options.count(
    "--draws",
    "Number of draws if a network of both kinds of variables has no exact answer.",
    10_000,
)
@options.add("random_state")
def query(
    *,
    model: Path,
    questions: tuple[str, ...],
    data: str | None,
    optimum: int,
    draws: int,
    random_state: int,
) -> None:
    """Ask MODEL, a network or a result with its data, for probabilities and means.

    A question names one variable, for its distribution (of a continuous variable, mean and standard
    deviation), or states or ranges of several variables, for their joint probability. The evidence
    follows after a bar. Quote names and states with special characters: "'a b'=1".

    With an average of networks (kes fit --average), each answer comes with the standard deviation
    between its members.
    """
    network, table = network_of(model, data, optimum)
    asked = [parse(question, network) for question in questions]
    blocks = [[*_answers(network, question, table, draws, random_state)] for question in asked]
    texts = zip(asked, blocks, strict=True)
    say("\n\n".join("\n  ".join([question.text, *lines]) for question, lines in texts))
    if any("±" in line for lines in blocks for line in lines):
        say("\n± is the standard error of the simulation")


def _answers(
    network: AnyNetwork, asked: Asked, table: Dataset | None, draws: int, seed: int
) -> Iterator[str]:
    target, known = asked.target, asked.known
    if isinstance(target, str) and not network.states[target]:
        yield from _moments(network, target, asked, draws, seed)
        return
    first = network.members[0] if isinstance(network, AveragedNetwork) else network
    how = {} if isinstance(first, BayesianNetwork) else {"draws": draws, "seed": seed}
    ask: Any = network
    found = ask.probability(target, known, **how)
    spread = ask.spread(target, known, **how) if first is not network else None
    if isinstance(found, dict):
        width = max(len(str(state)) for state in found)
        for state, share in found.items():
            own = None if spread is None else spread[state]
            yield f"{state!s:<{width}}  {_formatted(share)}{_apart(own)}"
    else:
        yield f"{_formatted(found)}{_apart(spread)}"
    if table is None or known:
        return
    if isinstance(found, dict):
        yield from _differences(table, str(target), {str(s): float(p) for s, p in found.items()})
    elif len(target) == 1 and not isinstance(target, str):
        [(node, state)] = target.items()
        if not isinstance(state, Range):
            yield from _differences(table, node, {str(state): float(found)})


def _apart(spread: float | None, form: str = ".4f") -> str:
    """Return the spread between the members of an average."""
    return "" if spread is None else f"  (members differ by {spread:{form}})"


def _differences(table: Dataset, node: str, said: Mapping[str, float]) -> Iterator[str]:
    """Name the states of a node whose shares in the data differ from those of the network."""
    states = map(str, table.states[table.names.index(node)])
    different = [
        f"{state} {share:.3f}"
        for state, share in zip(states, table.state_shares(node), strict=True)
        if abs(share - said.get(state, share)) > _DIFFERENCE
    ]
    if different:
        yield f"in the data: {listed(different, show=str)}; kes report checks the model"


def _moments(
    network: AnyNetwork, target: str, asked: Asked, draws: int, seed: int
) -> Iterator[str]:
    assert not isinstance(network, BayesianNetwork), "its nodes have states"
    found = network.conditional(target, asked.known, draws=draws, seed=seed)
    scale = "" if network.transform is None else "  (of the normal scores of its ranks)"
    error = f" ± {found.error[0]:.2g}" if found.error[0] else ""
    spread = None
    if isinstance(network, AveragedNetwork):
        spread = network.spread(target, asked.known, draws=draws, seed=seed)
    yield f"mean       {found.mean[0]:.6g}{error}{_apart(spread, '.3g')}{scale}"
    yield f"deviation  {found.deviation[0]:.6g}"


def _formatted(probability: float | Probability) -> str:
    """Format a probability, with the standard error if it was simulated."""
    if not isinstance(probability, Probability):
        return f"{probability:.6f}"
    return str(probability) if probability.error else f"{probability.value:.6f}"


_OUTER = re.compile(r"\s*[Pp]\s*\((.*)\)\s*", re.DOTALL)
_OPENED = re.compile(r"\s*[Pp]\s*\(")
_WORD = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^"'|,=<>]*[^"'|,=<>\s]))\s*""")
_SIGN = re.compile(r"==?|[<>]=?")
_FORM = 'write it as "P(cancer | smoker=yes, age=old)", with quotes around all of it'

_Parsed: TypeAlias = Mapping[str, str | Range | None]
"""Variables, and their states or ranges if they have any."""


@dataclass(frozen=True)
class Asked:
    """A parsed question.

    Attributes
    ----------
    text : str
        The question as the user wrote it.
    target : str or mapping
        A variable, or variables with states or ranges.
    known : mapping
        The evidence: values or ranges of other variables.
    """

    text: str
    target: str | Mapping[str, Any]
    known: Mapping[str, Any]


def parse(text: str, network: AnyNetwork) -> Asked:
    """Parse a question to a network; the P and its parentheses are optional.

    Raises
    ------
    KesError
        If the syntax is wrong, or the network does not have a variable.
    """
    outer = _OUTER.fullmatch(text)
    if outer is None and _OPENED.match(text):
        raise KesError(
            f"the question {text!r} has no closing parenthesis; {_FORM}", option="question"
        )
    target, bar, known = _Words(text, outer[1] if outer else text, network).read()
    if not target or (bar and not known):
        raise KesError(f"the question {text!r} is incomplete; {_FORM}", option="question")
    if any(value is None for value in known.values()):
        name = next(name for name, value in known.items() if value is None)
        raise KesError(f"in the question {text!r}, {name!r} has no value; {_FORM}", column=name)
    both = [name for name in target if name in known]
    if both:
        raise KesError(
            f"in the question {text!r}, {both[0]!r} is both target and evidence", column=both[0]
        )
    given = {name: _value(network, name, value) for name, value in known.items() if value}
    if len(target) == 1 and (name := next(iter(target))) and target[name] is None:
        return Asked(text, name, given)
    states: dict[str, str | float | Range] = {}
    for name, state in target.items():
        if state is None:
            raise KesError(
                f"the question {text!r} asks for several variables, and {name!r} has no state; ask "
                "for one variable, or give a state of each",
                column=name,
            )
        if not network.states[name] and not isinstance(state, Range):
            raise KesError(
                f"{name!r} is continuous: single values have no probability; ask for its mean and "
                f"standard deviation: {name}{' | ...' if known else ''}, or for a range: "
                f"P({name}>{state}{' | ...' if known else ''})",
                column=name,
            )
        states[name] = _value(network, name, state)
    return Asked(text, states, given)


def word(text: str) -> str:
    """Quote a name or a state if the syntax needs it."""
    if re.fullmatch(r"[\w.+-]+(?: [\w.+-]+)*", text):
        return text
    return f"'{text}'" if '"' in text else f'"{text}"'


def _value(network: AnyNetwork, name: str, text: str | Range) -> str | float | Range:
    """Return a value as the network takes it: a number for a continuous or discretized node."""
    states = network.states[name]
    if isinstance(text, Range):
        return text
    if text in map(str, states) or (states and name not in network.cuts):
        return text
    number = _number(network, name, text)
    if number is None and not states:
        raise KesError(f"{name!r} is continuous, and {text!r} is not a number", column=name)
    return text if number is None else number  # the network lists its states


def _number(network: AnyNetwork, name: str, text: str) -> float | None:
    """Read a number, a date or a number with a unit as the network reads the column of a node."""
    try:
        return float(text)
    except ValueError:
        pass
    with naming(name):
        return read_number(text, network.notations[name]) if name in network.notations else None


class _Words:
    """Parser of ``a=1, b | c>2, c<=3``, from left to right."""

    def __init__(self, question: str, text: str, network: AnyNetwork) -> None:
        self._question, self._text, self._network = question, text, network
        self._at = 0

    def read(self) -> tuple[_Parsed, bool, _Parsed]:
        """Return the part before the bar, whether there is a bar, and the part after it."""
        target = self._list()
        bar = self._take("|")
        known = self._list() if bar else {}
        rest = self._text[self._at :].strip()
        if rest:
            raise KesError(
                f"cannot parse {rest!r} in the question {self._question!r}; {_FORM}",
                option="question",
            )
        return target, bar, known

    def _list(self) -> _Parsed:
        found: dict[str, str | None] = {}
        bounds: dict[str, dict[str, float]] = {}
        while (name := self._word()) is not None:
            if name not in self._network.states:
                raise self._no_variable(name)
            sign = self._sign()
            bound = SIGNS.get(sign or "")
            if name in found or (name in bounds and (not bound or bound in bounds[name])):
                raise KesError(
                    f"{name!r} occurs twice in the question {self._question!r}", column=name
                )
            if bound:
                bounds.setdefault(name, {})[bound] = self._number(name)
            else:
                found[name] = self._word() if sign else None
            if not self._take(","):
                break
        return {**found, **{name: Range(**own) for name, own in bounds.items()}}

    def _number(self, name: str) -> float:
        text = self._word() or ""
        number = _number(self._network, name, text)
        if number is None:
            raise KesError(
                f"in the question {self._question!r}, {name!r} is compared with {text!r}, which is "
                "not a number",
                column=name,
            )
        return number

    def _no_variable(self, name: str) -> KesError:
        if re.search(rf"[=<>]\s*\d+,{re.escape(name)}", self._question):
            return KesError(
                f"in {self._question!r} a number has a decimal comma; write a point",
                option="question",
            )
        suggestion = suggest(name, self._network.nodes)
        form = "" if suggestion and " " not in name else f"; {_FORM}"
        return KesError(f"the network has no variable {name!r}{suggestion}{form}", column=name)

    def _word(self) -> str | None:
        match = _WORD.match(self._text, self._at)
        if match is None:
            return None
        self._at = match.end()
        return next(group for group in match.groups() if group is not None)

    def _sign(self) -> str | None:
        match = _SIGN.match(self._text, self._at)
        if match is None:
            return None
        self._at = match.end()
        return match[0]

    def _take(self, mark: str) -> bool:
        taken = self._text.startswith(mark, self._at)
        self._at += taken
        return taken
