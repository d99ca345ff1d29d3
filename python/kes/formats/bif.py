"""BIF, the Bayesian interchange format of the bnlearn repository and most programs.

The reader accepts the dialects of JavaBayes (the origin), bnlearn, pgmpy, pyAgrum and others::

    network unknown {
    }
    variable smoke {
      type discrete [ 2 ] { yes, no };
      property position = (1, 2) ;
    }
    probability ( lung | smoke ) {
      (yes) 0.1, 0.9;
      default 0.01, 0.99;
    }

Blocks and rows may come in any order. Comments are ``//`` and ``/* */``; names may be quoted;
commas and the bar may be missing, as the definition of the format allows ("ignored when they occur
between tokens"); in a ``table`` with parents the states of the variable change slowest.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data.column import State
from kes.formats.builder import Draft, Parts, WritableTables
from kes.formats.escaping import UNNAMED, plain_words, properties, read_property, state_words
from kes.formats.parsing import Scanner, Token

_TOKEN = re.compile(
    r"""\s*(?: "(?P<string>[^"]*)"
          | (?P<mark>[{}()\[\];,|])
          | (?P<word>[^\s{}()\[\];,|"][^\s{}()\[\];,|]*) )""",
    re.VERBOSE,
)
_COMMENT = re.compile(r'(?P<string>"[^"\n]*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TO_SEMICOLON = re.compile(r'((?>"[^"\n]*"|[^;])*?);')
_COUNT = re.compile(r"[0-9]{1,9}")
_NUMBERS = re.compile(r"([^;{}()]*);")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_STATE = re.compile(r"-?[0-9]+|[0-9]+_[A-Za-z0-9_]*|[A-Za-z_][A-Za-z0-9_.-]*")
_BLOCKS = ("network", "variable", "probability")
_KEYWORDS = (*_BLOCKS, "property", "type", "discrete", "table", "default")

Segment: TypeAlias = list[Token]
"""Words between two commas."""


@dataclass
class _Block:
    """A probability block of the file."""

    at: int
    given: bool
    """Whether a bar separates the head from the parents."""
    head: list[Segment]
    parents: list[Segment]
    rows: list[tuple[list[Segment], list[float], int]] = field(default_factory=list)
    table: tuple[list[float], int] | None = None
    default: tuple[list[float], int] | None = None


def read(content: bytes) -> Parts:
    """Read a network from the bytes of a BIF file."""
    scanner = Scanner(content, token=_TOKEN, comment=_COMMENT)
    draft = Draft(scanner.fail)
    blocks = []
    while (token := scanner.next()).kind != "end":
        if token.text == "network":
            scanner.names()
            scanner.expect("{", "after the name of the network")
            while not scanner.skip("}"):
                scanner.raw(_TO_SEMICOLON, "a property that ends in ';', or '}'")
        elif token.text == "variable":
            _read_variable(scanner, draft)
        elif token.text == "probability":
            blocks.append(_read_probability(scanner, token.at))
        else:
            scanner.fail(f"expected network, variable or probability, found {token}", token.at)
    for block in blocks:
        _define(scanner, draft, block)
    return draft.parts()


# --- the blocks ----------------------------------------------------------------------------------


def _read_variable(scanner: Scanner, draft: Draft) -> None:
    first = scanner.peek()
    name = _joined([scanner.name("the name of a variable"), *scanner.names()])
    scanner.expect("{", f"after the name of the variable {name!r}")
    states: list[str] = []
    own: dict[str, str] = {}
    while not scanner.skip("}"):
        token = scanner.next()
        if token.text == "type":
            states = _read_type(scanner, name)
        elif token.text == "property":
            text, _ = scanner.raw(_TO_SEMICOLON, "a property that ends in ';'")
            own |= read_property(text)
        else:
            scanner.fail(f"expected type or property, found {token}", token.at)
    draft.declare(name, states, first.at, own)


def _read_type(scanner: Scanner, name: str) -> list[str]:
    kind = scanner.name("the type of the variable")
    if kind.text != "discrete":
        scanner.fail(
            f"{name!r} is not discrete but {kind}; kes reads discrete variables only", kind.at
        )
    count = None
    if scanner.skip("["):
        number = scanner.name("the number of states")
        if not _COUNT.fullmatch(number.text):
            scanner.fail(f"expected the number of states, found {number}", number.at)
        count = int(number.text)
        scanner.expect("]", "after the number of states")
    start = scanner.expect("{", "before the states")
    states = [text for text, _ in _texts(_segments(scanner), count)]
    scanner.expect("}", "after the states")
    scanner.expect(";", "after the states")
    if count not in (None, len(states)):
        scanner.fail(f"{name!r} is said to have {count} states, but has {len(states)}", start.at)
    return states


def _read_probability(scanner: Scanner, at: int) -> _Block:
    scanner.expect("(", "before the name of the variable")
    head = _segments(scanner)
    given = scanner.skip("|")
    block = _Block(at, given, head, _segments(scanner) if given else [])
    scanner.expect(")", "after the variable and its parents")
    scanner.expect("{", "before the probabilities")
    while not scanner.skip("}"):
        if scanner.skip("("):
            states = _segments(scanner)
            scanner.expect(")", "after the states of the parents")
            block.rows.append((states, *_read_numbers(scanner)))
            continue
        token = scanner.next()
        if token.text == "table":
            block.table = _read_numbers(scanner)
        elif token.text == "default":
            block.default = _read_numbers(scanner)
        elif token.text == "property":
            scanner.raw(_TO_SEMICOLON, "a property that ends in ';'")
        else:
            scanner.fail(f"expected table, default, property or '(', found {token}", token.at)
    return block


def _read_numbers(scanner: Scanner) -> tuple[list[float], int]:
    text, at = scanner.raw(_NUMBERS, "probabilities that end in ';'")
    return scanner.numbers(text, at), at


def _segments(scanner: Scanner) -> list[Segment]:
    """Read words up to the next mark other than a comma, split at commas."""
    segments = []
    while True:
        if words := scanner.names():
            segments.append(words)
        if not scanner.skip(","):
            return segments


def _joined(words: Segment) -> str:
    return " ".join(word.text for word in words)


def _texts(segments: list[Segment], count: int | None) -> list[tuple[str, int]]:
    """Return the texts of segments, and their offsets.

    A segment is one text, possibly of several words without quotes; but where commas are missing,
    every word is a text.
    """
    if len(segments) > 1 or count == len(segments):
        return [(_joined(words), words[0].at) for words in segments]
    return [(word.text, word.at) for words in segments for word in words]


def _variables(draft: Draft, segments: list[Segment]) -> list[str]:
    return [
        name
        for words in segments
        for name in draft.variables([word.text for word in words], words[0].at)
    ]


def _define(scanner: Scanner, draft: Draft, block: _Block) -> None:
    head, parents = _variables(draft, block.head), _variables(draft, block.parents)
    if not block.given:
        head, parents = head[:1], head[1:]
    name = draft.only(head, parents, block.at)
    (r,) = draft.shape(name)
    if block.table is not None:
        values, at = block.table
        if len(values) % r == 0:
            values = np.array(values).reshape(r, -1).T.ravel().tolist()
        draft.define(name, parents, np.array(values), at)
        return
    rows, places = _rows(scanner, draft, block, name, parents)
    draft.define(name, parents, rows, block.at, places)


def _rows(
    scanner: Scanner, draft: Draft, block: _Block, name: str, parents: list[str]
) -> tuple[NDArray[np.float64], dict[int, int]]:
    """Sort the rows of a block; also return the offset of each."""
    draft.check_size(name, parents, block.at)
    *shape, r = draft.shape(name, parents)
    rows = np.full((prod(shape), r), np.nan)
    places: dict[int, int] = {}
    for segments, values, at in block.rows:
        states = _texts(segments, len(parents))
        if len(states) != len(parents):
            scanner.fail(f"a row of {name!r} must name {len(parents)} states of its parents", at)
        row = 0
        for parent, size, (state, state_at) in zip(parents, shape, states, strict=True):
            row = row * size + draft.code(parent, state, state_at)
        if row in places:
            scanner.fail(f"this row of {name!r} is given twice", at)
        rows[row], places[row] = _full(scanner, name, values, r, at), at
    missing = np.delete(np.arange(len(rows)), list(places))
    if len(missing) and block.default is None:
        codes = np.unravel_index(missing[0], shape)
        scanner.fail(
            f"the probabilities of {name!r} lack {len(missing)} of {len(rows)} rows, the first "
            f"one with the parents' states number {', '.join(str(code + 1) for code in codes)}",
            block.at,
        )
    if block.default is not None:
        rows[missing] = _full(scanner, name, block.default[0], r, block.default[1])
    return rows, places


def _full(scanner: Scanner, name: str, values: list[float], r: int, at: int) -> list[float]:
    if len(values) != r:
        scanner.fail(f"{name!r} has {r} states, but here are {len(values)} probabilities", at)
    return values


# --- writing -------------------------------------------------------------------------------------


def variables(
    nodes: Sequence[str], states: Mapping[str, Sequence[State]], name: str = UNNAMED
) -> tuple[str, list[str], list[list[str]]]:
    """Return the part of a file that declares the network and its variables, and their names there.

    The result is the text, the word for each node, and the words for the states of each.
    """
    words = plain_words(nodes, _NAME, _KEYWORDS)
    shown = [state_words(states[node], _STATE, _KEYWORDS) for node in nodes]
    lines = [f"network {plain_words([name], _NAME, _KEYWORDS)[0]} {{\n}}\n"]
    for node, word, own in zip(nodes, words, shown, strict=True):
        lines.append(f"variable {word} {{\n")
        lines.append(f"  type discrete [ {len(own)} ] {{ {', '.join(own)} }};\n")
        for key, value in properties(node, word, states[node], own).items():
            lines.append(f"  property {key} = {value} ;\n")
        lines.append("}\n")
    return "".join(lines), words, shown


def write(network: WritableTables, name: str = UNNAMED) -> Iterator[str]:
    """Yield a network as the text of a BIF file, in the layout of bnlearn."""
    head, words, states = variables(network.nodes, network.states, name)
    word = dict(zip(network.nodes, words, strict=True))
    shown = dict(zip(network.nodes, states, strict=True))
    yield head
    for node in network.nodes:
        parents = network.parents[node]
        rows = network.cpts[node].reshape(-1, len(shown[node])).tolist()
        if not parents:
            yield f"probability ( {word[node]} ) {{\n  table {_numbers(rows[0])};\n}}\n"
            continue
        given = ", ".join(word[parent] for parent in parents)
        yield f"probability ( {word[node]} | {given} ) {{\n"
        configurations = product(*(shown[parent] for parent in parents))
        for configuration, row in zip(configurations, rows, strict=True):
            yield f"  ({', '.join(configuration)}) {_numbers(row)};\n"
        yield "}\n"


def _numbers(row: list[float]) -> str:
    return ", ".join(map(repr, row))
