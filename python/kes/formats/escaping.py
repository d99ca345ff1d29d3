"""Escaping of names and states in formats that allow plain words only.

Many programs that read BIF and HUGIN NET fail on spaces, quotes or accents, and only JSON
distinguishes the integer 1 or the boolean True from text. So that every reader understands our
files and nothing is lost, a file contains plain words, and where these differ from the names, a
property (BIF, XMLBIF) or attribute (NET, DOT, GraphML) gives the original::

    kes_name = 'blood pressure (mm%C2%A0Hg)'
    kes_states = 'very low', 1, true

Texts are in single quotes, percent-encoded as in URLs except for spaces; integers and booleans are
bare. No character used has a meaning in any of the formats.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from urllib.parse import quote, unquote

from kes.data.column import State
from kes.data.intervals import named_cuts

NAME = "kes_name"
STATES = "kes_states"
UNNAMED = "unknown"
"""The name of a network without a name in formats that require one, as in bnlearn."""

_PROPERTY = re.compile(rf"\s*({NAME}|{STATES})\s*=\s*(.*?)\s*", re.DOTALL)
_LITERAL = r"'[^']*'|true|false|-?[0-9]{1,400}"
_LIST = re.compile(rf"\s*(?:{_LITERAL})(?:\s*,\s*(?:{_LITERAL}))*\s*")


def read_property(text: str) -> dict[str, str]:
    """Parse a property written by kes; return an empty dict for other properties."""
    match = _PROPERTY.fullmatch(text)
    return {match[1]: match[2]} if match else {}


def write_literals(values: Iterable[State]) -> str:
    """Write texts, integers and booleans so that `read_literals` can read them."""
    return ", ".join(map(_literal, values))


def read_literals(text: str) -> tuple[State, ...] | None:
    """Read the output of `write_literals`; None for any other text."""
    if not _LIST.fullmatch(text):
        return None
    try:
        return tuple(map(_value, re.findall(_LITERAL, text)))
    except ValueError:
        return None


def read_name(text: str) -> str | None:
    """Read a single text that `write_literals` wrote; None if the text is something else."""
    match read_literals(text):
        case (str() as name,):
            return name
    return None


def properties(
    node: str, word: str, states: Sequence[State], shown: Sequence[str]
) -> dict[str, str]:
    """Return the properties by which a reader restores the name and states of a node."""
    found = {} if word == node else {NAME: write_literals([node])}
    return found if same(states, shown) else {**found, STATES: write_literals(states)}


def _literal(value: State) -> str:
    if isinstance(value, str):
        return "'" + quote(value, safe=" ", errors="surrogatepass") + "'"
    return str(value).lower()


def _value(literal: str) -> State:
    if literal.startswith("'"):
        return unquote(literal[1:-1], errors="surrogatepass")
    return literal == "true" if literal in ("true", "false") else int(literal)


def same(ours: Sequence[State], theirs: Sequence[State]) -> bool:
    """Tell whether two lists of states are equal in value and type (in Python, 1 == True)."""
    return [(type(a), a) for a in ours] == [(type(b), b) for b in theirs]


def labels(states: Iterable[State]) -> list[str]:
    """Return the states as distinct texts, in order."""
    words = _Claims()
    return [words.claim(str(state)) for state in states]


def state_words(
    states: Sequence[State], plain: re.Pattern[str], reserved: Iterable[str]
) -> list[str]:
    """Return distinct plain words that stand for the states of a variable, in order.

    Intervals keep sign and order: "<= -0.5", "(-0.5, 2]", "> 2" are ``le_m0_5``, ``m0_5_to_2``,
    ``gt_2``. Other states are as in `plain_words`.
    """
    texts = labels(states)
    intervals = 1 + max(map(len, named_cuts({"": states}).values()), default=-1)
    own = [text if plain.fullmatch(text) else _interval(text) for text in texts[:intervals]]
    return plain_words([*own, *texts[intervals:]], plain, reserved)


def _interval(text: str) -> str:
    """Make a word of what `kes.data.intervals.interval_labels` calls an interval."""
    spelled = {"<= ": "le_", "> ": "gt_", ", ": "_to_", "-": "m", ".": "_"}
    for mark, word in spelled.items():
        text = text.replace(mark, word)
    return re.sub(r"[(\]+]", "", text)


def plain_words(
    texts: Sequence[str], plain: re.Pattern[str], reserved: Iterable[str] = ()
) -> list[str]:
    """Return distinct plain words that stand for the distinct texts, in order.

    Texts that match `plain`, as all ASCII identifiers must, and are not reserved by the format stay
    as they are.
    """
    taken = set(reserved)
    kept = {text for text in texts if plain.fullmatch(text) and text not in taken}
    words = _Claims(taken | kept)
    return [text if text in kept else words.claim(_plain(text, plain)) for text in texts]


def _plain(text: str, plain: re.Pattern[str]) -> str:
    """Return a plain word that resembles the text."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    word = re.sub(r"[^A-Za-z0-9_]+", "_", ascii_text)
    return word if plain.fullmatch(word) else f"_{word}"


class _Claims:
    """Hands out distinct words."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used)
        self._number: dict[str, int] = {}
        """The last number that each word got: smaller ones are in use, and not tried again."""

    def claim(self, word: str) -> str:
        """Return the word, or word_2, word_3, ... if it is in use, and mark it as used."""
        free, number = word, self._number.get(word, 1)
        while free in self._used:
            number += 1
            free = f"{word}_{number}"
        self._number[word] = number
        self._used.add(free)
        return free
