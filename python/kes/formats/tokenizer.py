"""A tokenizer for text formats that knows the line and column of every token."""

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
    """A text with a position that advances over its tokens.

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
        opening_quote = 1 if kind == "string" else 0
        return Token(kind, match[kind], match.start(kind) - opening_quote)

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


def _blank(match: re.Match[str]) -> str:
    if match.lastgroup == "string":
        return match[0]
    return re.sub(r"[^\n]", " ", match[0])
