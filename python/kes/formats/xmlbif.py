"""XMLBIF 0.3, the XML interchange format of JavaBayes, Weka, SamIam, Tetrad, pgmpy and pyAgrum.

XML preserves all names except for control characters and surrounding space. In a ``TABLE`` the
states of the variable change fastest, those of the first ``GIVEN`` slowest.
"""

from collections.abc import Iterator
from xml.sax.saxutils import escape

import numpy as np

from kes.formats.builder import Draft, Parts, WritableTables
from kes.formats.escaping import UNNAMED, labels, plain_words, properties, read_property
from kes.formats.parsing import XML_TEXT, Document, Element

# Without the DTD of the definition, which pyAgrum's reader cannot parse.
_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
"""


def read(content: bytes) -> Parts:
    """Read a network from the bytes of an XMLBIF file."""
    document = Document(content, "BIF")
    network = document.only(document.root, "NETWORK")
    draft = Draft(document.fail)
    for variable in network.find_all("VARIABLE"):
        _declare(document, draft, variable)
    for definition in (*network.find_all("DEFINITION"), *network.find_all("PROBABILITY")):
        _define(document, draft, definition)
    return draft.parts()


def _declare(document: Document, draft: Draft, variable: Element) -> None:
    name = document.only(variable, "NAME").text.strip()
    kind = variable.attributes.get("TYPE", "nature")
    if kind not in ("nature", "discrete"):
        document.fail(f"{name!r} is a {kind} node; kes reads chance nodes only", variable.at)
    # Version 0.2 calls the outcomes VALUE.
    outcomes = [*variable.find_all("OUTCOME"), *variable.find_all("VALUE")]
    own: dict[str, str] = {}
    for entry in variable.find_all("PROPERTY"):
        own |= read_property(entry.text)
    draft.declare(name, [outcome.text.strip() for outcome in outcomes], variable.at, own)


def _define(document: Document, draft: Draft, definition: Element) -> None:
    head, parents = (
        [
            name
            for entry in definition.find_all(tag)
            for name in draft.variables([entry.text.strip()], entry.at)
        ]
        for tag in ("FOR", "GIVEN")
    )
    name = draft.only(head, parents, definition.at)
    table = document.only(definition, "TABLE")
    try:
        numbers = np.array([float(word) for word in table.text.replace(",", " ").split()])
    except ValueError as error:
        document.fail(f"the table must consist of numbers: {error}", table.at)
    draft.define(name, parents, numbers, table.at)


def write(network: WritableTables, name: str = UNNAMED) -> Iterator[str]:
    """Yield a network as the text of an XMLBIF file."""
    word = dict(zip(network.nodes, plain_words(network.nodes, XML_TEXT), strict=True))
    yield f"{_HEAD}<NAME>{escape(plain_words([name], XML_TEXT)[0])}</NAME>\n"
    for node in network.nodes:
        states = network.states[node]
        shown = plain_words(labels(states), XML_TEXT)
        yield f'<VARIABLE TYPE="nature">\n\t<NAME>{escape(word[node])}</NAME>\n'
        yield from (f"\t<OUTCOME>{escape(state)}</OUTCOME>\n" for state in shown)
        for key, value in properties(node, word[node], states, shown).items():
            yield f"\t<PROPERTY>{key} = {value}</PROPERTY>\n"
        yield "</VARIABLE>\n"
    for node in network.nodes:
        yield f"<DEFINITION>\n\t<FOR>{escape(word[node])}</FOR>\n"
        yield from (f"\t<GIVEN>{escape(word[p])}</GIVEN>\n" for p in network.parents[node])
        rows = network.cpts[node].reshape(-1, len(network.states[node])).tolist()
        table = "\n\t\t".join(" ".join(map(repr, row)) for row in rows)
        yield f"\t<TABLE>\n\t\t{table}\n\t</TABLE>\n</DEFINITION>\n"
    yield "</NETWORK>\n</BIF>\n"
