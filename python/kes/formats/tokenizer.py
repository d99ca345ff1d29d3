"""Reading text formats piece by piece, knowing the line and column of every piece."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

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
    """A text with a position that moves over its tokens.

    Parameters
    ----------
    content
        The file's bytes, in UTF-8.
    token
        Pattern of one token after its leading white space; its groups are named "word", "string"
        and "mark".
    comment
        Pattern of a comment. Comments are blanked out, which keeps all other positions. To keep
        comment signs inside of strings, the pattern also matches strings, as group "string".
    """

    def __init__(self, content: bytes, *, token: re.Pattern[str], comment: re.Pattern[str]) -> None:
        self.text = comment.sub(_blank, decode(content))
        self._token = token
        self._next: Token | None = None
        self._at = 0

    def peek(self) -> Token:
        """Return the next token without moving."""
        if self._next is None:
            self._next = self._scan()
        return self._next

    def next(self) -> Token:
        """Return the next token and move over it."""
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
        opening_quote = 1 if kind == "string" else 0
        return Token(kind, match[kind], match.start(kind) - opening_quote)

    def _skip_space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def is_mark(self, *marks: str) -> bool:
        """Tell whether one of these punctuation marks comes next."""
        token = self.peek()
        return token.kind == "mark" and token.text in marks

    def skip(self, mark: str) -> bool:
        """Move over a punctuation mark if it comes next, and tell whether it did."""
        found = self.is_mark(mark)
        if found:
            self.next()
        return found

    def expect(self, mark: str, where: str) -> Token:
        """Move over a punctuation mark that has to come now."""
        if not self.is_mark(mark):
            self.fail(f"expected {mark!r} {where}, found {self.peek()}")
        return self.next()

    def name(self, what: str) -> Token:
        """Move over a word or string that has to come now."""
        if self.peek().kind not in ("word", "string"):
            self.fail(f"expected {what}, found {self.peek()}")
        return self.next()

    def names(self) -> list[Token]:
        """Move over all words and strings that come next."""
        found = []
        while self.peek().kind in ("word", "string"):
            found.append(self.next())
        return found

    def raw(self, pattern: re.Pattern[str], what: str) -> tuple[str, int]:
        """Move over the text that matches a pattern; return its first group and where it starts."""
        at = self._skip_space(self._at) if self._next is None else self._next.at
        match = pattern.match(self.text, at)
        if match is None:
            self.fail(f"expected {what}", at)
        self._next, self._at = None, match.end()
        return match[1], match.start(1)

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Complain about the text at an offset, by default the next token."""
        at = self.peek().at if at is None else at
        raise KesError(f"{position(self.text, at)}: {message}")


def position(text: str, at: int) -> str:
    """Say in words where an offset is."""
    start = text.rfind("\n", 0, at) + 1
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - start + 1}"


def decode(content: bytes) -> str:
    """Decode a text file."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        raise KesError(
            f"{position(before, len(before))}: not UTF-8 text; save the file with this encoding"
        ) from None


def _blank(match: re.Match[str]) -> str:
    if match.lastgroup == "string":
        return match[0]
    return re.sub(r"[^\n]", " ", match[0])
