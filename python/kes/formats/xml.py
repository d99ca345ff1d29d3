"""An XML parser whose elements know their line and column, unlike the standard library's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from kes.errors import KesError
from kes.formats.tokenizer import located

XML_TEXT = re.compile("(?!\\s)[ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+(?<!\\s)")
"""Texts that XML preserves: no control characters, and no surrounding space, which is stripped."""


@dataclass
class Element:
    """An element with its attributes, its own text and its children."""

    tag: str
    """Without the name space."""
    attributes: dict[str, str]
    at: int
    """Number of the element in its document."""
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def find_all(self, tag: str) -> Iterator[Element]:
        """Iterate over the children with a tag."""
        return (child for child in self.children if child.tag == tag)

    def find(self, tag: str) -> Element | None:
        """Return the first child with a tag."""
        return next(self.find_all(tag), None)


class Document:
    """A parsed file.

    Parameters
    ----------
    content
        The file's bytes.

    Raises
    ------
    KesError
        If they are not well-formed XML.
    """

    root: Element

    def __init__(self, content: bytes) -> None:
        self._places: list[tuple[int, int]] = []
        self._open: list[Element] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            raise located(
                f"not well-formed XML: {expat.ErrorString(error.code)}",
                error.lineno,
                error.offset + 1,
            ) from None
        except (ValueError, LookupError) as error:  # from the codec of the declared encoding
            if isinstance(error, KesError):
                raise
            raise located(f"cannot be decoded ({error}); save it as UTF-8", 1, 1) from None
        del self._parser  # handlers and document refer to each other

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag.rpartition(":")[2], attributes, len(self._places))
        self._places.append((self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber))
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, tag: str) -> None:
        del tag
        self._open.pop()

    def _characters(self, text: str) -> None:
        self._open[-1].text += text

    def fail(self, message: str, at: int) -> NoReturn:
        """Raise an error about an element, given by its number."""
        line, column = self._places[at]
        raise located(message, line, column + 1)

    def only(self, element: Element, tag: str) -> Element:
        """Return the only child with a tag."""
        found = list(element.find_all(tag))
        if len(found) != 1:
            self.fail(f"expected one <{tag}> in <{element.tag}>, found {len(found)}", element.at)
        return found[0]
