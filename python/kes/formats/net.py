"""NET, the format of HUGIN, GeNIe and others.

For example::

    net
    {
    }
    node smoke
    {
      states = ("yes" "no");
    }
    potential (lung | smoke)
    {
      data = ((0.1 0.9)(0.01 0.99));
    }

Comments begin with ``%``. In ``data`` the states of the node change fastest, those of the first
parent slowest. A potential without data is uniform. Attributes other than these are skipped.
"""

import re
from collections.abc import Iterator
from math import prod
from typing import TypeAlias

import numpy as np

from kes.formats.builder import Draft, Parts, WritableTables
from kes.formats.escaping import plain_words, properties, state_words
from kes.formats.parsing import Scanner, Token

_TOKEN = re.compile(
    r"""\s*(?: "(?P<string>[^"]*)"
          | (?P<mark>[{}()=;,|])
          | (?P<word>[^\s{}()=;,|"][^\s{}()=;,|]*) )""",
    re.VERBOSE,
)
_COMMENT = re.compile(r'(?P<string>"[^"\n]*")|%[^\n]*|/\*.*?\*/', re.DOTALL)
_VALUE = re.compile(r'((?>"[^"\n]*"|[^;{}])*?);')

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STATE = re.compile(r"[A-Za-z0-9_.:<>=+-]+")
_OTHER_KINDS = ("continuous", "decision", "utility", "function")
_BLOCKS = ("net", "class", "node", "discrete", "potential", *_OTHER_KINDS)
_KEYWORDS = (*_BLOCKS, "states", "data", "normal")

_Potential: TypeAlias = tuple[int, list[str], list[str], tuple[str, int] | None]
"""Place, head and parents of a potential, and its data and their place."""


def read(content: bytes) -> Parts:
    """Read a network from the bytes of a NET file."""
    scanner = Scanner(content, token=_TOKEN, comment=_COMMENT)
    draft = Draft(scanner.fail)
    potentials = []
    is_class = False
    while (token := scanner.next()).kind != "end":
        if token.text == "net":
            _attributes(scanner)
        elif token.text == "class":
            scanner.names()
            scanner.expect("{", "after the name of the class")
            is_class = True
        elif token.text in ("node", "discrete"):
            _read_node(scanner, draft, token)
        elif token.text == "potential":
            potentials.append(_read_potential(scanner, token.at))
        elif token.text == "}" and is_class:
            is_class = False
        elif token.text in _OTHER_KINDS:
            scanner.fail(f"a {token.text} node; kes reads discrete chance nodes only", token.at)
        elif scanner.is_mark("="):  # an attribute of the class
            scanner.raw(_VALUE, "a value that ends in ';'")
        else:
            scanner.fail(f"expected net, node or potential, found {token}", token.at)
    for potential in potentials:
        _define(scanner, draft, potential)
    return draft.parts()


def _attributes(scanner: Scanner) -> dict[str, tuple[str, int]]:
    """Read a block of attributes; return the raw value of each, and its offset."""
    scanner.expect("{", "before the attributes")
    found = {}
    while not scanner.skip("}"):
        key = scanner.name("an attribute or '}'")
        scanner.expect("=", f"after {key.text}")
        found[key.text] = scanner.raw(_VALUE, f"a value of {key.text} that ends in ';'")
    return found


def _read_node(scanner: Scanner, draft: Draft, first: Token) -> None:
    words = scanner.names()
    if first.text == "discrete" and (not words or words.pop(0).text != "node"):
        scanner.fail("expected a discrete node: kes reads no other kinds", first.at)
    if not words:
        scanner.fail(f"expected the name of a node, found {scanner.peek()}")
    name = " ".join(word.text for word in words)
    attributes = _attributes(scanner)
    states = re.findall(r'"([^"]*)"|([^\s(),"]+)', attributes.get("states", ("", 0))[0])
    own = {key: value.strip().strip('"') for key, (value, _) in attributes.items()}
    draft.declare(name, [quoted or bare for quoted, bare in states], words[0].at, own)


def _read_potential(scanner: Scanner, at: int) -> _Potential:
    scanner.expect("(", "before the name of the node")
    head = [token.text for token in scanner.names()]
    parents = [token.text for token in scanner.names()] if scanner.skip("|") else []
    scanner.expect(")", "after the node and its parents")
    attributes = _attributes(scanner)
    if "data" not in attributes and "model_data" in attributes:
        scanner.fail("a table given by a formula (model_data); kes reads numbers (data)", at)
    return at, head, parents, attributes.get("data")


def _define(scanner: Scanner, draft: Draft, potential: _Potential) -> None:
    at, head, parents, data = potential
    given = draft.variables(parents, at)
    name = draft.only(draft.variables(head, at), given, at)
    if data is None:
        draft.check_size(name, given, at)
        shape = draft.shape(name, given)
        draft.define(name, given, np.full(prod(shape), 1 / shape[-1]), at)
    else:
        draft.define(name, given, np.array(scanner.numbers(*data)), data[1])


def write(network: WritableTables) -> Iterator[str]:
    """Yield a network as the text of a NET file."""
    word = dict(zip(network.nodes, plain_words(network.nodes, _NAME, _KEYWORDS), strict=True))
    yield "net\n{\n}\n"
    for node in network.nodes:
        states = network.states[node]
        shown = state_words(states, _STATE, ())
        quoted = " ".join(f'"{state}"' for state in shown)
        yield f"node {word[node]}\n{{\n  states = ({quoted});\n"
        for key, value in properties(node, word[node], states, shown).items():
            yield f'  {key} = "{value}";\n'
        yield "}\n"
    for node in network.nodes:
        given = " ".join(word[parent] for parent in network.parents[node])
        yield f"potential ({word[node]}{' | ' if given else ''}{given})\n{{\n"
        yield f"  data = {_nested(network.cpts[node].tolist())};\n}}\n"


def _nested(table: list[object]) -> str:
    """Write a table with one pair of parentheses per axis."""
    if isinstance(table[0], float):
        return f"({' '.join(map(repr, table))})"
    return "(" + "\n   ".join(_nested(part) for part in table if isinstance(part, list)) + ")"
