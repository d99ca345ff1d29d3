"""Result files: JSON, gzipped if the name ends in .gz, the same bytes for the same result.

A file holds the settings, names and states, a fingerprint of the data, the models found and, for
each run, the model it ended in, and what was made of these models afterwards, if anything; never
the data themselves. It is replaced as a whole, so at any
moment a crash leaves either the old content or the new.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import secrets
import sys
import time
import zlib
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kes import _core
from kes.data.dataset import State
from kes.errors import KesError
from kes.graph import EssentialGraph
from kes.search.record import Edges, Improvement, Model, Offspring, Record
from kes.settings import Sampled, Settings, number, whole

if TYPE_CHECKING:
    from kes.search.collector import Collector

PathLike: TypeAlias = str | os.PathLike[str]
FORMAT = "kes optima"
VERSION = 1
_HEAD = f'{{\n"format": "{FORMAT}"'.encode()
_BEGINNING = 200  # bytes in which a file says what it is


def write(record: Record, path: PathLike) -> None:
    """Write a record to a file, atomically.

    Raises
    ------
    KesError
        If the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        content = _encoded(record)
    except ValueError as error:  # a number that is none, or text that is no Unicode
        raise KesError(f"cannot write {path}: no file can hold this result ({error})") from error
    if target.suffix == ".gz":
        content = _gzipped(content)
    try:
        _replace(target, content)
    except OSError as error:
        raise KesError(f"cannot write {path}: {error.strerror or error}") from error


def read(path: PathLike) -> Record:
    """Read a record from a file.

    Raises
    ------
    KesError
        If the file cannot be read, is damaged, or is not a result file of this or an older
        version.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise KesError(f"cannot read {path}: {error.strerror or error}") from error
    document = _document(content, path)
    if document.get("format") != FORMAT:
        raise _foreign(path)
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise KesError(
            f"{path} was written by kes {document.get('kes')}, which is newer than this "
            f"{_core.__version__}; update with: pip install --upgrade kes"
        )
    try:
        return _decoded(document)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error


class Checkpoint:
    """A watcher of a collector that writes its record to a file at intervals.

    The file holds all runs that have ended, also those that earlier ones still keep waiting.

    Parameters
    ----------
    interval : float
        Seconds from one write to the next.

    Notes
    -----
    If a write fails, this is said once, on the standard error, and the next is tried when it is
    due: a disk that is full or away for a while must not cost hours of work.
    """

    def __init__(self, path: PathLike, interval: float) -> None:
        self._path = path
        self._interval = interval
        self._warned = False
        self._next = time.monotonic() + interval
        self._collector: Collector | None = None

    def __call__(self, collector: Collector) -> None:
        """Write if it is time to."""
        self._collector = collector
        if time.monotonic() >= self._next:
            try:
                self.flush()
            except (KesError, OSError) as error:
                self._complain(error)
            self._next = time.monotonic() + self._interval

    def flush(self) -> bool:
        """Write now; return whether there was anything to write."""
        if self._collector is None or not self._collector.done:
            return False
        write(self._collector.record(ahead=True), self._path)
        return True

    def _complain(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            again = f"the search goes on, and tries again every {self._interval:g} s"
            print(f"Note: {error}; {again}", file=sys.stderr)


# --- bytes ---------------------------------------------------------------------------------------


def _replace(target: Path, content: bytes) -> None:
    """Put the content in the place of the file: all of it, or none."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # makes the new name survive a power cut, too
        directory = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _gzipped(content: bytes) -> bytes:
    """Compress; no time and no name in the header, so that equal results are equal files."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def _document(content: bytes, path: PathLike) -> dict[str, Any]:
    """Decompress and parse; by what is in the file, whatever its name."""
    try:
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        document = json.loads(content)
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError, RecursionError) as error:
        if not _is_ours(content):
            raise _foreign(path) from error
        raise _damaged(path, str(error)) from error
    return document if isinstance(document, dict) else {}


def _is_ours(content: bytes) -> bool:
    """Tell, of what cannot be read, whether it was a result file, as far as it goes."""
    start = content[:_BEGINNING]
    if start.startswith(b"\x1f\x8b"):
        try:
            start = zlib.decompressobj(wbits=31).decompress(content, _BEGINNING)
        except zlib.error:
            return True  # not even the beginning can be read
    return FORMAT.encode() in start or _HEAD.startswith(start)


def _foreign(path: PathLike) -> KesError:
    return KesError(
        f"{path} is not a kes result file; give a file that kes learn --out or Optima.save wrote, "
        "or for a new result a name that is not taken"
    )


def _damaged(path: PathLike, why: str) -> KesError:
    return KesError(
        f"{path} is truncated or damaged ({why}); restore a copy, or remove it and learn again"
    )


# --- content -------------------------------------------------------------------------------------


def _encoded(record: Record) -> bytes:
    """Record as JSON, a line for each entry and each model."""
    entries: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kes": _core.__version__,
        "settings": _settings_to_json(record.settings, record.names),
        "names": record.names,
        "states": record.states,
        "fingerprint": record.fingerprint,
        "cases": record.cases,
        "tolerance": record.tolerance,
        "notes": record.notes,
        "ges": _model_to_json(record.ges),
        "runs": record.runs,
    }
    if record.ahead:
        entries["ahead"] = record.ahead
    lines = [f"{_json(key)}: {_json(value)}" for key, value in entries.items()]
    lines.append(_list("models", [_model_to_json(model) for model in record.models]))
    if record.improvement is not None:
        how = {"seed": record.improvement.seed, "tasks": record.improvement.tasks}
        offspring = [_offspring_to_json(child) for child in record.improvement.offspring]
        lines += [f'"improvement": {_json(how)}', _list("offspring", offspring)]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _list(key: str, entries: list[dict[str, Any]]) -> str:
    lines = ",\n".join(map(_json, entries))
    return f"{_json(key)}: [\n{lines}\n]"


def _json(value: object) -> str:
    # Floats are written as their shortest repr, which reads back as the same float.
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _decoded(document: dict[str, Any]) -> Record:
    """Record from JSON; raises one of several errors if the content does not make sense."""
    names = tuple(_text(name) for name in document["names"])
    models = tuple(_model_from_json(model, len(names)) for model in document["models"])
    runs = tuple(_below(len(models), model) for model in document["runs"])
    ahead = tuple((int(r), _below(len(models), m)) for r, m in document.get("ahead", ()))
    if any(run < len(runs) for run, _ in ahead):
        raise ValueError("a run is given twice")
    states = tuple(tuple(_state(state) for state in column) for column in document["states"])
    if len(states) != len(names):
        raise ValueError("names and states differ in number")
    return Record(
        settings=_settings_from_json(document["settings"], names),
        names=names,
        states=states,
        fingerprint=_text(document["fingerprint"]),
        cases=number("cases", document["cases"], least=0.0, strictly=True),
        tolerance=number("tolerance", document["tolerance"], least=0.0, strictly=True),
        ges=_model_from_json(document["ges"], len(names)),
        models=models,
        runs=runs,
        ahead=ahead,
        notes=tuple(_text(note) for note in document["notes"]),
        improvement=_improvement_from_json(document, len(names), len(models)),
    )


def _settings_to_json(settings: Settings, names: tuple[str, ...]) -> dict[str, Any]:
    start, where = settings.start, settings.neighbourhood
    return {
        "k": settings.k,
        "criterion": settings.criterion,
        "ess": settings.ess,
        "seed": settings.seed,
        "max_parents": settings.max_parents,
        "two_phase": settings.two_phase,
        "neighbourhood": asdict(where) if isinstance(where, Sampled) else where,
        "start": None if start is None else start.to_core(names),
    }


def _settings_from_json(entry: dict[str, Any], names: tuple[str, ...]) -> Settings:
    where, start = entry["neighbourhood"], entry["start"]
    if start is not None:
        edges = tuple(_edges_from_json(part, len(names)) for part in start)
        start = EssentialGraph.from_core(names, (edges[0], edges[1]))
    settings = Settings.checked(
        k=entry["k"],
        criterion=entry["criterion"],
        ess=1.0 if entry["ess"] is None else entry["ess"],
        random_state=whole("seed", entry["seed"], least=0, most=2**64 - 1),
        max_parents=entry["max_parents"],
        two_phase=entry["two_phase"],
        neighbourhood=Sampled(**where) if isinstance(where, dict) else where,
    )
    return replace(settings, start=start)


def _model_to_json(model: Model) -> dict[str, Any]:
    return {
        # JSON has no word for infinity: it is written as text, which float() reads.
        "score": model.score if math.isfinite(model.score) else str(model.score),
        "local optimum": model.is_local_optimum,
        "directed": model.directed,
        "undirected": model.undirected,
    }


def _model_from_json(entry: dict[str, Any], n: int) -> Model:
    score = float(entry["score"])
    if math.isnan(score):
        raise ValueError("a score is no number")
    return Model(
        directed=_edges_from_json(entry["directed"], n),
        undirected=_edges_from_json(entry["undirected"], n),
        score=score,
        is_local_optimum=bool(entry["local optimum"]),
    )


def _offspring_to_json(child: Offspring) -> dict[str, Any]:
    origin = {"task": child.task, "how": child.how, "parents": child.parents}
    return origin | _model_to_json(child.model)


def _improvement_from_json(document: dict[str, Any], n: int, models: int) -> Improvement | None:
    entry = document.get("improvement")
    if entry is None:
        return None
    offspring = tuple(
        Offspring(
            model=_model_from_json(child, n),
            how=_text(child["how"]),
            parents=tuple(_below(models + 1 + number, place) for place in child["parents"]),
            task=_below(entry["tasks"], child["task"]),
        )
        for number, child in enumerate(document["offspring"])
    )
    return Improvement(seed=int(entry["seed"]), tasks=int(entry["tasks"]), offspring=offspring)


def _edges_from_json(pairs: list[list[int]], n: int) -> Edges:
    return tuple((_below(n, a), _below(n, b)) for a, b in pairs)


def _below(end: int, value: object) -> int:
    """Check that a value is one of 0 .. end-1."""
    if not isinstance(value, int) or not 0 <= value < end:
        raise ValueError(f"{value!r} where a number below {end} is expected")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} where a text is expected")
    return value


def _state(value: object) -> State:
    if not isinstance(value, str | int | bool):
        raise TypeError(f"{value!r} where a state is expected")
    return value
