"""Parsers of text and XML that know the line and column of every token and element."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from kes.errors import KesError

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a quoted string (then without its quotes) or a punctuation mark."""

    kind: str
    """"word", "string", "mark" or "end"."""
    text: str
    at: int
    """Offset in the file's text."""

    def __str__(self) -> str:
        return "the end of the file" if self.kind == "end" else repr(self.text)


class Scanner:
    """A text with a position that advances over its tokens.

    The pattern of a token, after its leading white space, has groups named "word", "string" and
    "mark". Comments are blanked out, which keeps all other positions; their pattern also matches
    strings, as group "string", which keeps comment signs inside of strings.
    """

    def __init__(self, content: bytes, *, token: re.Pattern[str], comment: re.Pattern[str]) -> None:
        self.text = comment.sub(
            lambda match: match[0] if match["string"] else re.sub(r"[^\n]", " ", match[0]),
            decode(content),
        )
        self._token = token
        self._next: Token | None = None
        self._at = 0

    def peek(self) -> Token:
        """Return the next token without consuming it."""
        if self._next is None:
            self._next = self._scan()
        return self._next

    def next(self) -> Token:
        """Consume and return the next token."""
        token = self.peek()
        self._next = None
        return token

    def _scan(self) -> Token:
        match = self._token.match(self.text, self._at)
        if match is None:
            at = self._skip_space(self._at)
            if at == len(self.text):
                self._at = at
                return Token("end", "", at)
            what = "a string that does not end" if self.text[at] == '"' else repr(self.text[at])
            self.fail(f"unexpected {what}", at)
        kind = match.lastgroup or ""
        self._at = match.end()
        return Token(kind, match[kind], match.start(kind) - (kind == "string"))  # with its quote

    def _skip_space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def is_mark(self, *marks: str) -> bool:
        """Tell whether the next token is one of these punctuation marks."""
        token = self.peek()
        return token.kind == "mark" and token.text in marks

    def skip(self, mark: str) -> bool:
        """Consume a punctuation mark if it is next, and tell whether it was."""
        found = self.is_mark(mark)
        if found:
            self.next()
        return found

    def expect(self, mark: str, where: str) -> Token:
        """Consume a required punctuation mark."""
        if not self.is_mark(mark):
            self.fail(f"expected {mark!r} {where}, found {self.peek()}")
        return self.next()

    def name(self, what: str) -> Token:
        """Consume a required word or string."""
        if self.peek().kind not in ("word", "string"):
            self.fail(f"expected {what}, found {self.peek()}")
        return self.next()

    def names(self) -> list[Token]:
        """Consume all words and strings up to the next mark."""
        found = []
        while self.peek().kind in ("word", "string"):
            found.append(self.next())
        return found

    def numbers(self, text: str, at: int) -> list[float]:
        """Return the probabilities in a text that starts at an offset."""
        found = []
        for word in re.finditer(r"[^\s(),]+", text):
            try:
                found.append(float(word[0]))
            except ValueError:
                self.fail(f"expected a probability, found {word[0]!r}", at + word.start())
        return found

    def raw(self, pattern: re.Pattern[str], what: str) -> tuple[str, int]:
        """Consume text that matches a pattern; return its first group and its offset."""
        at = self._skip_space(self._at) if self._next is None else self._next.at
        match = pattern.match(self.text, at)
        if match is None:
            self.fail(f"expected {what}", at)
        self._next, self._at = None, match.end()
        return match[1], match.start(1)

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raise an error about the text at an offset, by default that of the next token."""
        at = self.peek().at if at is None else at
        raise located(message, *position(self.text, at))


def position(text: str, at: int) -> tuple[int, int]:
    """Return line and column of an offset, both counted from 1."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def located(message: str, line: int, column: int) -> KesError:
    """Return an error about a place in a text file."""
    return KesError(f"line {line}, column {column}: {message}", row=line)


def decode(content: bytes) -> str:
    """Decode a text file."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        raise located(
            "not UTF-8 text; save the file with this encoding", *position(before, len(before))
        ) from None


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


class Document:
    """A parsed XML file."""

    root: Element

    def __init__(self, content: bytes, root: str) -> None:
        self._places: list[tuple[int, int]] = []
        self._open: list[Element] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = lambda tag: self._open.pop()
        self._parser.CharacterDataHandler = self._characters
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            reason = f"not well-formed XML: {expat.ErrorString(error.code)}"
            raise located(reason, error.lineno, error.offset + 1) from None
        except (ValueError, LookupError) as error:  # from the codec of the declared encoding
            raise located(f"cannot be decoded ({error}); save it as UTF-8", 1, 1) from None
        del self._parser  # handlers and document refer to each other
        if self.root.tag != root:
            self.fail(f"expected <{root}>, found <{self.root.tag}>: the file has another format", 0)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag.rpartition(":")[2], attributes, len(self._places))
        self._places.append((self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber))
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

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
