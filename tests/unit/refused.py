"""Assert that input is refused, and what the error is about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kes.errors import KesError


@contextmanager
def refused(word: str = "", *, file: Path | str | None = None, **fields: object) -> Iterator[None]:
    """Expect a `KesError` with these fields (`option`, `column`, `row`, `file`).

    Parameters
    ----------
    word
        A key word or figure of the message, or a regular expression.
    """
    with pytest.raises(KesError, match=word or None) as caught:
        yield
    if file is not None:
        fields["file"] = str(file)
    assert {name: getattr(caught.value, name) for name in fields} == fields
