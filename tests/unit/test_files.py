"""Whole files: what a small one may unfold to, and that a write leaves the old file or the new."""

import gzip
import os
import stat
import subprocess
import sys
import threading
import zlib

import pytest
from tests.unit.refused import refused

import kes
from kes.files import DamagedFile, read_file, write_file

OLD, NEW = b"old content\n", b"new content\n" * 50_000


# --- reading -------------------------------------------------------------------------------------


def bomb(path, megabytes):
    """A gzip file of zeros, about a thousandth of its content in size."""
    packer = zlib.compressobj(9, wbits=31)
    with path.open("wb") as file:
        for _ in range(megabytes):
            file.write(packer.compress(bytes(10**6)))
        file.write(packer.flush())
    return path


def test_content_is_unpacked_whatever_the_name(tmp_path):
    for name in ("a.bin", "a.gz"):
        (tmp_path / name).write_bytes(gzip.compress(NEW))
        assert read_file(tmp_path / name) == NEW
    (tmp_path / "plain.gz").write_bytes(OLD)
    assert read_file(tmp_path / "plain.gz") == OLD
    (tmp_path / "empty").touch()
    assert read_file(tmp_path / "empty") == b""


def test_several_compressed_members_are_one_file(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(OLD) + gzip.compress(NEW))
    assert read_file(tmp_path / "a.gz") == OLD + NEW


def test_a_cut_or_changed_file_is_damaged(tmp_path):
    packed = gzip.compress(os.urandom(1000))
    for content in (packed[:-1], packed[:20], packed[:5], packed[:-8] + bytes(8)):
        (tmp_path / "a.gz").write_bytes(content)
        with pytest.raises(DamagedFile) as error:
            read_file(tmp_path / "a.gz")
        assert error.value.file == str(tmp_path / "a.gz")


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "no/such/file", "x" * 5000, "/"])
def test_names_that_no_file_has(path):
    with refused(file=path):
        read_file(path)


def test_a_small_file_does_not_unfold_to_a_large_one(tmp_path):
    with refused(r"6\d MB .*KES_MAX_MB", file=tmp_path / "a.gz"):
        read_file(bomb(tmp_path / "a.gz", 100))


def test_the_variable_sets_the_limit(tmp_path, monkeypatch):
    packed = bomb(tmp_path / "a.gz", 100)
    monkeypatch.setenv("KES_MAX_MB", "100")
    assert len(read_file(packed)) == 100 * 10**6
    monkeypatch.setenv("KES_MAX_MB", "99")
    with refused("99 MB .*KES_MAX_MB", file=packed):
        read_file(packed)
    (tmp_path / "plain").write_bytes(bytes(2 * 10**6))
    monkeypatch.setenv("KES_MAX_MB", "1")
    with refused("1 MB .*KES_MAX_MB", file=tmp_path / "plain"):
        read_file(tmp_path / "plain")


@pytest.mark.parametrize("value", ["much", "-1", "0", "1e3"])
def test_a_limit_that_is_no_number(tmp_path, monkeypatch, value):
    (tmp_path / "a").write_bytes(OLD)
    monkeypatch.setenv("KES_MAX_MB", value)
    with refused(f"'{value}'", option="KES_MAX_MB"):
        read_file(tmp_path / "a")


def test_no_more_than_fifty_times_what_was_read(tmp_path):
    """Large tables may be packed tightly: what counts is how much more there is than on disk."""
    block = os.urandom(20_000) + bytes(10**6 - 20_000)  # packed by almost exactly fifty
    (tmp_path / "fine.gz").write_bytes(gzip.compress((block + os.urandom(2000)) * 80))
    assert len(read_file(tmp_path / "fine.gz")) == 80 * 1_002_000


BOMBED = {
    "a.csv": kes.learn,
    "a.csv.gz": kes.audit,
    "a.bif": kes.read_network,
    "a.xmlbif": kes.read_network,
    "a.net": kes.read_network,
    "a.json": kes.read_network,
    "b.json": kes.read_graph,
    "a.dot": kes.read_graph,
    "a.graphml": kes.read_graph,
    "a.kes.json.gz": kes.load,
    "a.toml": kes.Knowledge.read,
    "k.json": kes.Knowledge.read,
    "coil.csv": kes.datasets.coil,
    "leukemia.csv": kes.datasets.leukemia,
}


@pytest.mark.parametrize("name", BOMBED)
def test_every_reader_has_the_limit(name, tmp_path):
    with refused("KES_MAX_MB", file=tmp_path / name):
        BOMBED[name](bomb(tmp_path / name, 100))


# --- writing -------------------------------------------------------------------------------------

posix = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")


def test_what_is_written_is_read(tmp_path):
    for name in ("a", "a.gz", "x" * 255):
        write_file(tmp_path / name, OLD)
        write_file(tmp_path / name, NEW)
        assert read_file(tmp_path / name) == NEW
    assert len(list(tmp_path.iterdir())) == 3
    assert (tmp_path / "a.gz").stat().st_size < len(NEW) / 10


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_permissions_stay(tmp_path, mode):
    write_file(tmp_path / "a", OLD)
    (tmp_path / "a").chmod(mode)
    write_file(tmp_path / "a", NEW)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


@posix
def test_what_is_no_file_is_written_to(tmp_path):
    """A pipe must not become a file: whoever reads from it would wait forever."""
    os.mkfifo(tmp_path / "pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_file(tmp_path / "pipe", NEW)
    reader.join(10)
    assert got == [NEW]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "no/such/folder", "x" * 256, "."])
def test_names_that_no_file_can_have(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refused("write", file=path):
        write_file(path, OLD)
    assert not list(tmp_path.iterdir())


FULL = """
import resource, sys
from pathlib import Path
import kes
from kes.formats import write_graph

kind, target = sys.argv[1], Path(sys.argv[2])
data = kes.datasets.alarm(rows=50)
optima = kes.learn(data, runs=3, random_state=0, improve=False)
network = kes.read_network(target.parent / "source.bif")
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
write = {
    "result": lambda: optima.save(target),
    "report": lambda: optima.report(target),
    "network": lambda: network.save(target),
    "graph": lambda: write_graph(optima.best.graph, target),
    "knowledge": lambda: kes.Knowledge(roots=data.names * 3).save(target),
    "convert": lambda: sys.exit(__import__("kes.cli").cli.run(
        ["convert", str(target.parent / "source.bif"), str(target)])),
}[kind]
try:
    write()
except kes.KesError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""


@posix
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("result", "a.kes.json"),
        ("report", "a.html"),
        ("network", "a.bif"),
        ("graph", "a.dot"),
        ("knowledge", "a.toml"),
        ("convert", "a.net"),
    ],
)
def test_a_disk_that_is_full_leaves_the_old_file(kind, name, tmp_path):
    """The process may write 200 bytes, less than any of these; the system says so in mid-write."""
    (tmp_path / name).write_bytes(OLD)
    data = kes.datasets.alarm(rows=50)
    kes.learn(data, runs=1, improve=False).best.fit(data).save(tmp_path / "source.bif")
    command = [sys.executable, "-c", FULL, kind, str(tmp_path / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert f"cannot write {tmp_path / name}: File too large" in done.stderr
    assert (tmp_path / name).read_bytes() == OLD
    assert {file.name for file in tmp_path.iterdir()} == {name, "source.bif"}
