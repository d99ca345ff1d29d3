"""Fuzz targets: each makes an invalid input from a stream of random numbers, and uses it."""

import contextlib
import gzip
import io
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from tests.fuzz.mutations import VALUES, mutated, mutated_json
from tests.fuzz.seeds import all_seeds, words

import kes
from kes.cli import run
from kes.errors import LONGEST, KesError, printable
from kes.table import Table


class Fallen(Exception):
    """A promise that was broken."""


class Bench:
    """A folder to write in, and the right files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seeds = all_seeds(folder)

    def file(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path


Target = Callable[[Bench, random.Random], None]


def check_text(text: str, longest: int | None = None) -> None:
    """Refuse text that speaks to the terminal, or too much of it."""
    if longest is not None and len(text) > longest:
        raise Fallen(f"a message of {len(text)} characters")
    if any(line != printable(line) for line in text.split("\n")):
        raise Fallen(f"control characters: {text[:200]!r}")


def reader(kind: str, suffix: str, read: Callable, vocabulary: str, *, plain=False) -> Target:
    """Attack a reader by changed bytes, of JSON also by changed values, sometimes compressed."""

    def attack(bench: Bench, draw: random.Random) -> None:
        seeds = bench.seeds[kind]
        content = draw.choice(seeds)
        if plain and draw.random() < 0.6:
            content = mutated_json(content, draw)
        else:
            content = mutated(content, seeds, words(vocabulary), draw)
        if draw.random() < 0.05:
            content = mutated(gzip.compress(content, 1), seeds, words(vocabulary), draw)
        check_text(repr(read(bench.file(f"fuzz{suffix}", content))))

    return attack


def tables(bench: Bench, draw: random.Random) -> None:
    """Tables of odd values and names, by all that shows them."""
    rows = draw.randrange(0, 12)
    pool = [draw.choice([*VALUES, "a", "b", 1, 2, 0.5]) for _ in range(draw.randrange(1, 5))]
    names = [draw.choice(("a", "b", "", "\x1b[2J", "a\nb", "\u202e", f"c{i}")) for i in range(5)]
    columns = [[draw.choice(pool) for _ in range(rows)] for _ in range(draw.randrange(0, 5))]
    check_text(repr(Table(dict(zip(names, columns, strict=False)), note=draw.choice(names))))
    frame = pd.DataFrame(dict(enumerate(columns)), dtype=object)
    frame.columns = names[: len(columns)]
    missing = draw.choice(("error", "drop", "state"))
    check_text(repr(kes.audit(frame)))
    check_text(repr(kes.learn(frame, runs=1, improve=False, random_state=0, missing=missing)))


def arrays(bench: Bench, draw: random.Random) -> None:
    """Arrays of odd numbers and shapes."""
    shape = [draw.randrange(0, 9) for _ in range(draw.choice((1, 2, 2, 2, 2, 3)))]
    kind = draw.choice(("i8", "f8", "u1", "?", "f4", "c8", "U2", "O", "M8[s]"))
    numbers = np.array([draw.choice((0, 1, 2, 255, draw.random() * 10)) for _ in range(9**3)])
    array = numbers[: int(np.prod(shape))].reshape(shape).astype(kind)
    weights = draw.choice((None, None, np.array([1.0, 2.0]), "x0", [-1], 3))
    check_text(repr(kes.learn(array, runs=1, improve=False, random_state=0, weights=weights)))


def commands(bench: Bench, draw: random.Random) -> None:
    """Commands on wrong files; and right ones with wrong options."""
    kind = draw.choice(("csv", "result", "bif", "dot", "toml"))
    suffix = {"result": ".json"}.get(kind, f".{kind}")
    content = draw.choice(bench.seeds[kind])
    if draw.random() < 0.8:
        vocabulary = "json" if kind == "result" else kind
        content = mutated(content, bench.seeds[kind], words(vocabulary), draw)
    path = str(bench.file(f"command{suffix}", content))
    out = str(bench.folder / draw.choice(("out.json", "out.net", "out.dot", "no/out.bif", "a\0b")))
    csv = str(bench.file("right.csv", bench.seeds["csv"][0]))
    quick = ["--runs", "1", "--no-improve", "--seed", "0"]
    arguments = {
        "csv": draw.choice((["audit", path], ["learn", path, *quick])),
        "result": draw.choice((["edges", path], ["edges", path, "--data", csv])),
        "bif": ["convert", path, out],
        "dot": ["convert", path, out],
        "toml": ["learn", csv, *quick, "--knowledge", path],
    }[kind]
    if draw.random() < 0.2:
        odd = ("--\x1b[2J", "\ud800", "", "--sep", "--k", "nan", "--drop", "a\nb", "-h", "--rows")
        arguments.insert(draw.randrange(len(arguments) + 1), draw.choice(odd))
    shown, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(complaint):
        code = run(arguments)
    check_text(shown.getvalue())
    check_text(complaint.getvalue())
    if code not in (0, 2):
        raise Fallen(f"{arguments}: exit code {code}: {complaint.getvalue()[:300]}")


@cache
def targets() -> dict[str, Target]:
    """All of them, by name."""
    return {
        "bif": reader("bif", ".bif", kes.read_network, "bif"),
        "net": reader("net", ".net", kes.read_network, "net"),
        "xmlbif": reader("xml", ".xmlbif", kes.read_network, "xml"),
        "dot": reader("dot", ".dot", kes.read_graph, "dot"),
        "graphml": reader("graphml", ".graphml", kes.read_graph, "graphml"),
        "network": reader("network", ".json", kes.read_network, "json", plain=True),
        "graph": reader("graph", ".json", kes.read_graph, "json", plain=True),
        "result": reader("result", ".kes.json", kes.load, "json", plain=True),
        "packed": reader("packed", ".kes.json.gz", kes.load, "json"),
        "toml": reader("toml", ".toml", kes.Knowledge.read, "toml"),
        "knowledge": reader("knowledge", ".json", kes.Knowledge.read, "json", plain=True),
        "tetrad": reader("tetrad", ".txt", kes.Knowledge.read, "tetrad"),
        "csv": reader("csv", ".csv", kes.audit, "csv"),
        "parquet": reader("parquet", ".parquet", kes.audit, "csv"),
        "tables": tables,
        "arrays": arrays,
        "commands": commands,
    }


def attempt(target: Target, bench: Bench, draw: random.Random) -> bool:
    """Do a case, and tell whether the input was taken; all but a brief `KesError` goes through."""
    try:
        target(bench, draw)
    except KesError as error:
        check_text(str(error), LONGEST)
        return False
    return True
