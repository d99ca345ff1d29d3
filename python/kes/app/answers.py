"""The process that reads tables and results for the server; see `kes.app.reader`."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable
from typing import Any

from kes.app import results, tables
from kes.errors import KesError, naming_flags

QUESTIONS: dict[str, Callable[..., Any]] = {
    "cards": tables.cards,
    "check": tables.check,
    "states": tables.states,
    "summary": results.summary,
    "landscape": results.landscape,
    "effects": results.effects,
    "compare": results.compare,
    "draft": results.draft,
}


def answered(line: str | bytes) -> dict[str, Any]:
    """Return the answer to a question."""
    try:
        question = json.loads(line)
        with naming_flags({"kinds": "--discrete or --continuous"}):
            return {"found": _finite(QUESTIONS[question.pop("ask")](**question))}
    except KesError as error:
        fields = {name: getattr(error, name) for name in ("option", "column", "row", "file")}
        return {"error": {"message": str(error), **fields}}
    except MemoryError:
        return {"error": {"message": "There is not enough memory for this; use fewer columns."}}
    except Exception as error:
        return {"error": {"message": f"unexpected {type(error).__name__}: {error}"}}


def _finite(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a value of JSON, which has no NaN and no infinity: they become null."""
    if isinstance(value, dict):
        return {name: _finite(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(own) for own in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def main() -> None:
    """Answer questions, one per line, until the server is gone."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    for line in sys.stdin.buffer:
        answers.write(json.dumps(answered(line)).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
