"""Disks that are full or may not be written to, as the kernel makes them.

The file systems are of one process each, mounted in a name space of its own.
"""

import os
import shutil
import subprocess
import sys

import pytest
from tests.unit.refused import refused

import kes

ALONE = ["unshare", "--map-root-user", "--mount"]


def can_mount():
    if shutil.which("unshare") is None:
        return False
    mount = [*ALONE, "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(mount, capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not can_mount(), reason="this user may not mount file systems")

# $1: where to mount it, $2: what to do to it, $3: how to undo that, and then the command.
SCRIPT = """
set -e
mount -t tmpfs -o size=256k none "$1"
cd "$1"
learn="kes learn --example alarm --rows 200 --no-improve"
python -m $learn --runs 5 --out old.json > /dev/null
cp old.json ..
eval "$2"
if python -m ${4//LEARN/$learn}; then exit 9; fi
eval "$3"
cmp old.json ../old.json
echo left: *
ls -A | grep '^[.]' && exit 8
true
"""
FILL = "head -c 1000000 /dev/zero > filler 2> /dev/null || true", "rm filler"
LOCK = 'mount -o remount,ro none "$1"', 'mount -o remount,rw none "$1"'


def on_a_disk(folder, fault, command):
    """Return what a command says on a small file system that has this fault.

    There is a result on it already, which must be there afterwards as it was, and no other file.
    """
    place = folder / "disk"
    place.mkdir()
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    done = subprocess.run(
        [*ALONE, "bash", "-c", SCRIPT, "bash", str(place), *fault, command],
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": path},
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stdout.endswith("left: old.json\n")
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "LEARN --runs 50 --out old.json",
        "LEARN --runs 5 --out new.json",
        "kes report old.json --example alarm --rows 200 --out new.html",
    ],
)
def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path, command):
    assert "No space left on device" in on_a_disk(tmp_path, FILL, command)


@pytest.mark.parametrize("name", ["old.json", "new.json"])
def test_a_disk_that_is_read_only(tmp_path, name):
    """Said before the work begins, since it would be in vain."""
    shown = on_a_disk(tmp_path, LOCK, f"LEARN --runs 1000000 --out {name}")
    assert "is read-only" in shown


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_a_file_cut_at_every_byte(tmp_path, name):
    """The quick tests cut it at every 97th."""
    path = tmp_path / name
    kes.learn(kes.datasets.example1(), k=0.3, runs=10).save(path)
    content = path.read_bytes()
    for length in range(len(content) - 2):
        path.write_bytes(content[:length])
        with refused("learn again", file=path):
            kes.load(path)
