"""Text files of any encoding as blocks of UTF-8."""

import codecs
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from kes.errors import option
from kes.files import read_blocks

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is a prefix
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_GUESSES = ("cp1252", "latin-1")
_BLOCK = 2**20
_START = 2**10  # bytes
_LONGEST = 2**25
"""Bytes in which the first lines must end."""


class TextFile:
    """A text file in a given or detected encoding.

    A byte order mark decides. Without one, UTF-16 is recognized by its zeros; otherwise UTF-8 is
    tried first, then cp1252 (Windows in Western Europe), which leaves five bytes undefined, then
    latin-1: `encoding` is then `guessed`.
    """

    def __init__(self, file: Path, encoding: str | None) -> None:
        self._file = file
        start = first_bytes(read_blocks(file), _START)[:_START]
        mark, marked = next((one for one in _MARKS if start.startswith(one[0])), (b"", None))
        self._mark = len(mark)
        unmarked = None if encoding or marked else _sixteen_bits(start)
        known = _with_order(encoding, marked) if encoding else marked
        self.encoding = known or unmarked or "utf-8"
        self._further = [] if known or unmarked else [*_GUESSES]
        self.guessed = unmarked is not None

    def guess_again(self) -> bool:
        """Move on to the next encoding; False if there is none."""
        if not self._further:
            return False
        self.encoding, self.guessed = self._further.pop(0), True
        return True

    def blocks(self) -> Iterator[bytes]:
        """Yield the text as UTF-8, without a byte order mark.

        UTF-8 is passed on unchecked: the caller decodes it and notices errors. The last argument of
        a UnicodeError is the line.
        """
        raw = self._raw()
        if codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig"):
            yield from raw
            return
        decoder = codecs.getincrementaldecoder(self.encoding)()
        line = 1
        for block in raw:
            try:
                text = decoder.decode(block)
            except UnicodeError as error:
                whole = getattr(error, "object", block)  # including the rest of the last block
                before = whole[: getattr(error, "start", 0)].count(b"\n")
                raise UnicodeError(str(error), line + before) from None
            line += block.count(b"\n")
            yield text.encode()
        try:
            yield decoder.decode(b"", final=True).encode()
        except UnicodeError as error:
            raise UnicodeError(str(error), line) from None

    def head(self, size: int, lines: int = 0) -> bytes:
        """Return at least the first bytes of the text as UTF-8, and the first lines if any end."""
        found, ends = b"", 0
        for block in self.blocks():
            found, ends = found + block, ends + block.count(b"\n")
            if len(found) >= size and (ends >= lines or len(found) >= _LONGEST):
                break
        return found

    def complaint(self, line: int) -> str:
        """Return the error message for text in another encoding."""
        return (
            f"line {line}: not valid {self.encoding}; set {option('encoding')}, for example to "
            "cp1252 or latin-1"
        )

    def _raw(self) -> Iterator[bytes]:
        skip = self._mark
        for block in read_blocks(self._file):
            yield block[skip:]
            skip = max(0, skip - len(block))


def first_bytes(blocks: Iterable[bytes], size: int) -> bytes:
    """Return at least the first bytes."""
    found = b""
    for block in blocks:
        found += block
        if len(found) >= size:
            break
    return found


def _sixteen_bits(start: bytes) -> str | None:
    """Return the UTF-16 encoding of a text without a mark, if its first bytes look like it.

    Separators, digits and Latin letters have a zero in every other byte; no other text has any.
    """
    zeros = [start[place::2].count(0) for place in (0, 1)]
    if 4 * max(zeros) < len(start) or min(zeros):
        return None
    return "utf-16-be" if zeros[0] else "utf-16-le"


def _with_order(encoding: str, marked: str | None) -> str:
    """Add the byte order: that of the mark, or by default that of this machine."""
    name = codecs.lookup(encoding).name
    if name not in ("utf-16", "utf-32"):
        return encoding
    own = "le" if sys.byteorder == "little" else "be"
    return marked if marked is not None and marked.startswith(name) else f"{name}-{own}"


# --- other dialects ------------------------------------------------------------------------------


def map_lines(change: Callable[[bytes], bytes], blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Change each line, with its end, of a text that comes in blocks."""
    ready = bytearray()
    for line in _byte_lines(blocks):
        ready += change(line)
        if len(ready) >= _BLOCK:
            yield bytes(ready)
            ready.clear()
    yield bytes(ready)


def blank_lines_as_fields(blocks: Iterable[bytes], quote: bytes) -> Iterator[bytes]:
    """Quote the blank lines of a file with one column, where they are empty fields.

    Blank lines before the header, at the end and within quotes are not fields.
    """
    quotes, header = 0, False
    ready, held = bytearray(), b""  # held back until something follows
    for line in _byte_lines(blocks):
        content = line.rstrip(b"\r\n")
        end = line[len(content) :]
        if content:
            ready += held + content
            held, header = end, True
        else:
            held += (2 * quote if header and quotes % 2 == 0 else b"") + end
        quotes += line.count(quote)
        if len(ready) >= _BLOCK:
            yield bytes(ready)
            ready.clear()
    yield bytes(ready)


def _byte_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines with their ends; CR LF may be split between blocks."""
    rest = b""
    for block in blocks:
        *whole, rest = (rest + block).splitlines(keepends=True) or [b""]
        if rest.endswith(b"\n"):
            whole, rest = [*whole, rest], b""
        yield from whole
    if rest:
        yield rest
