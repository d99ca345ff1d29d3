"""From a right file to a wrong one, by a seeded stream of random numbers."""

import json
import random
from collections.abc import Callable, Sequence
from copy import deepcopy

NASTY = (
    b"",
    b"\0",
    b"\x1b[2J",
    b"\xff",
    b"\xc1",
    b"\r",
    b"\n" * 50,
    b'"',
    b"'",
    b"\\",
    b"\xe2\x80\xae",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\x1f\x8b\x08",
    b"%C1",
    b"9" * 5000,
    b"-1",
    b"1e999",
    b"nan",
    b"inf",
    b"true",
    b"null",
    b"0.5",
    b"[" * 3000,
    b"{" * 3000,
    b"(" * 3000,
    b"</a>",
    b"&a;",
    b"<!--",
    b"/*",
    b"//",
    b"#",
    b"a" * 10_000,
    b" a" * 2000,
    b",a" * 2000,
)
"""Pieces of bytes that mean something to some reader, or nothing to any."""

VALUES = (None, True, False, -1, 0, 1, 2, 10**4, 10**30, 10**400, -0.5, 1e308, float("inf"))
VALUES += (float("nan"), "", "a", "\x1b[2J", "\ud800", "\u202e", "x" * 5000, [], [[]], {}, {"a": 1})
VALUES += ([0, 1], [[0, 1]], [1, 0], "inf", "1", [True], list(range(50)))


def mutated(content: bytes, others: Sequence[bytes], words: Sequence[bytes], draw: random.Random):
    """Return bytes that differ from a right file in one to eight places."""
    for _ in range(draw.choice((1, 1, 1, 2, 3, 5, 8))):
        content = draw.choice(_WAYS)(content, others, words, draw)
    return content[: 2**20]


def mutated_json(content: bytes, draw: random.Random) -> bytes:
    """Return a JSON document in which one to four values are others, missing or doubled."""
    document = json.loads(content)
    for _ in range(draw.choice((1, 1, 2, 4))):
        places = list(_places(document))
        if places:
            _change(*draw.choice(places), draw)
    return json.dumps(document, ensure_ascii=True).encode()


def _places(value):
    """Yield all (container, key) of a document."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(entries):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


def _change(container, key, draw: random.Random) -> None:
    way = draw.randrange(5)
    if way == 0:
        del container[key]
    elif way == 1 and isinstance(container, list):
        container.insert(key, container[key])
    elif way == 2 and isinstance(container, list):
        draw.shuffle(container)
    elif way == 3 and isinstance(container[key], int | float) and container[key] < 2**53:
        container[key] += draw.choice((-1, 1, 0.5, 100))
    else:
        container[key] = deepcopy(draw.choice(VALUES))  # another case may change it


# --- ways to change bytes ------------------------------------------------------------------------


def _slice(content: bytes, draw: random.Random) -> tuple[int, int]:
    start = draw.randrange(len(content) + 1)
    return start, min(len(content), start + draw.choice((1, 2, 4, 10, 50, 200)))


def _flip(content, others, words, draw):
    at = draw.randrange(len(content) + 1)
    return content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]


def _delete(content, others, words, draw):
    start, end = _slice(content, draw)
    return content[:start] + content[end:]


def _repeat(content, others, words, draw):
    start, end = _slice(content, draw)
    return content[:end] + content[start:end] * draw.choice((1, 2, 20)) + content[end:]


def _insert(content, others, words, draw):
    start, end = _slice(content, draw)
    kept = start if draw.random() < 0.7 else end
    return content[:start] + draw.choice(draw.choice((NASTY, words))) + content[kept:]


def _word(content, others, words, draw):
    """Put another word in the place of one."""
    found = draw.choice(words)
    at = content.find(found, draw.randrange(len(content) + 1))
    if at < 0:
        return _insert(content, others, words, draw)
    return content[:at] + draw.choice((*words, *NASTY)) + content[at + len(found) :]


def _cut(content, others, words, draw):
    return content[: draw.randrange(len(content) + 1)]


def _splice(content, others, words, draw):
    other = draw.choice(others)
    return content[: draw.randrange(len(content) + 1)] + other[draw.randrange(len(other) + 1) :]


_WAYS: tuple[Callable[..., bytes], ...] = (_flip, _delete, _repeat, _insert, _word, _cut, _splice)
