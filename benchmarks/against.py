"""Compare this version with an earlier one, in alternation (`make bench-against REV=...`).

The earlier revision is checked out from git into target/against. Both are installed from source in
the same way, as for a wheel, with one compiler; this version is the working tree.
Each runs in its own process (`against_worker.py`), with the same interpreter and dependencies, and
they alternate. The earlier version draws the tables and both read them, so that they are the same.
The output also says whether the results are bit-identical.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from timing import SAMPLE, ratio, show

ROOT = Path(__file__).parents[1]
HOME = ROOT / "target" / "against"
WORKER = Path(__file__).with_name("against_worker.py")
NEEDED = ("pyproject.toml", "Cargo.toml", "crates/kes-py/Cargo.toml", "python/kes/__init__.py")
"""Files that a revision must have to be built."""
TASKS = {
    "import": "import kes",
    "cold": "GES, nothing cached, 1 thread",
    "runs": "1 000 runs, k=0.8, 2 threads",
    "warm": "1 000 warm runs, k=0.8, 1 thread",
    "boundary": "boundary of GES's model, scored",
    "improve": "improving, 1 000 tasks, 1 thread",
    "certify": "certify 20 variables, 1 thread",
}
LARGE = 100
"""With more variables, only `cold` is done unless tasks are named: the others take hours."""
NETWORKS = ("andes", "pigs", "link", "munin")
ROWS, SEED = 10_000, 1001
LINEAR = 4096
"""Variables of a table of 1 000 cases from a sparse linear network: the most for all versions."""


# --- building ---


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True
    )


def commit_of(revision: str) -> str:
    """Return the hash of a revision that can be built, or exit with the reason."""
    found = git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    if found.returncode:
        raise SystemExit(
            f"there is no revision {revision!r} in this repository; name a commit, tag or branch "
            "(make bench-against REV=56d3890), and in a shallow clone fetch it first "
            f"(git fetch --unshallow)\ngit says: {found.stderr.strip()}"
        )
    commit = found.stdout.strip()
    for path in NEEDED:
        if git("cat-file", "-e", f"{commit}:{path}").returncode:
            raise SystemExit(
                f"revision {revision} has no {path}, so it cannot be built; "
                "name a later one: those since 56d3890 can be compared"
            )
    return commit


def build_settings() -> str:
    """Return what a built core depends on besides its sources."""
    compiler = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    flags = [f"{k}={v}" for k, v in sorted(os.environ.items()) if "RUST" in k or "CARGO_" in k]
    return "\n".join([compiler, sys.version, *flags])


def install(source: Path, home: Path) -> Path:
    """Build a source tree and return its installation folder."""
    site, new = home / "site", home / "site.new"
    shutil.rmtree(new, ignore_errors=True)
    # Separate target folders: cargo cannot distinguish two libraries of one name in one folder.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(home / "build")}
    if "[profile.dist]" in (source / "Cargo.toml").read_text():
        environment["MATURIN_PEP517_ARGS"] = "--profile dist"  # as in wheels
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--target", str(new), str(source)]
    if subprocess.run(command, env=environment, check=False).returncode:
        raise SystemExit(f"{source} cannot be built; the reason is above")
    shutil.rmtree(site, ignore_errors=True)
    return new.rename(site)


def installed_earlier(commit: str) -> Path:
    """Return the installation folder of a revision; built once for each compiler."""
    home = HOME / commit[:12]
    stamp = home / "settings.txt"
    if not (stamp.exists() and stamp.read_text() == build_settings()):
        print(f"building {commit[:12]} ...", file=sys.stderr, flush=True)
        source, archive = home / "source", home / "source.zip"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        taken = git("archive", "--format=zip", f"--output={archive}", commit)
        if taken.returncode:
            raise SystemExit(f"git cannot take {commit} out: {taken.stderr.strip()}")
        shutil.unpack_archive(archive, source)
        install(source, home)
        for used in (source, home / "build"):
            shutil.rmtree(used)
        archive.unlink()
        stamp.write_text(build_settings())
    return home / "site"


def installed_present() -> Path:
    """Return the installation folder of the current working tree."""
    print("building the working tree ...", file=sys.stderr, flush=True)
    return install(ROOT, HOME / "present")


# --- two versions in alternation ---


class Failed(Exception):
    """A version could not do a task; the message has the reason."""


class Version:
    """A version of kes in its own process."""

    def __init__(self, name: str, site: Path) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER)],
            env={**os.environ, "PYTHONPATH": str(site)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        imported = Path(self._answer()["kes"])
        if site.resolve() not in imported.resolve().parents:
            raise SystemExit(f"{name} should be imported from {site}, but came from {imported}")

    def ask(self, **request: Any) -> dict[str, Any]:
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of {self.name} ended; the reason is above")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Failed(f"{self.name} fails: {answer['error']}")
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()


def compare(task: str, old: Version, new: Version, repeat: int) -> list[str]:
    """Time a task in both versions, in alternation, and return a row of the table."""
    print(f"{task} ...", file=sys.stderr, flush=True)
    turns: dict[Version, list[dict[str, Any]]] = {old: [], new: []}
    try:
        for version in (old, new):
            version.ask(prepare=task)
        for turn in range(repeat):
            for version in (old, new) if turn % 2 == 0 else (new, old):
                turns[version].append(version.ask(time=task))
    except Failed as reason:
        return [TASKS[task], "", "", "", "", str(reason)]
    seconds = {version: [turn["seconds"] for turn in turns[version]] for version in turns}
    ratios = [n / o for n, o in zip(seconds[new], seconds[old], strict=True)]
    return [
        TASKS[task],
        f"{statistics.median(seconds[old]):.4f} s",
        f"{statistics.median(seconds[new]):.4f} s",
        f"{ratio(seconds[new], seconds[old]):.2f} x",
        f"{min(ratios):.2f} to {max(ratios):.2f}",
        same(turns[old], turns[new]),
    ]


def same(old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> str:
    """Describe whether the results are bit-identical."""
    before, after = ({turn["fingerprint"] for turn in turns} for turns in (old, new))
    if before == {None}:
        return ""
    if len(before) > 1 or len(after) > 1:
        return "CHANGE FROM TURN TO TURN"
    if before == after:
        return "identical"
    return f"differ: {old[0]['value']:.3f} -> {new[0]['value']:.3f}"


# --- tables ---


@dataclass(frozen=True)
class Table:
    """A file with a table, and the network it is drawn from if it does not exist."""

    path: Path
    network: str = ""
    rows: int = 0
    seed: int = 0
    numbers: bool = False

    def drawn_by(self, version: Version) -> Path:
        """Return the file; draw it if it does not exist."""
        if not self.path.exists():
            print(f"drawing {self.path.name} ...", file=sys.stderr, flush=True)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            out = str(self.path)
            version.ask(draw=self.network, rows=self.rows, seed=self.seed, out=out)
        return self.path


def tables_of(folder: Path, networks: Path | None) -> dict[str, Table]:
    """Return the available tables by name; drawn tables are written to a folder."""
    tables = {"alarm": Table(folder / "alarm_20000_0.csv", "alarm", rows=20_000, seed=0)}
    for path in sorted(SAMPLE.parent.glob("*.csv.gz")):
        tables[path.name.removesuffix(".csv.gz")] = Table(path)
    wide = folder / f"linear_{LINEAR}.csv"
    tables["linear"] = Table(wide, f"linear:{LINEAR}", rows=1000, numbers=True)
    if networks is None:
        return tables
    files = {name: next(networks.glob(f"{name}.bif*"), None) for name in NETWORKS}
    if not any(files.values()):
        raise SystemExit(f"{networks} has none of the networks {', '.join(NETWORKS)} as .bif")
    for name, file in files.items():
        if file is not None:
            drawn = folder / f"{name}_{ROWS}_{SEED}.csv"
            tables[name] = Table(drawn, str(file.resolve()), rows=ROWS, seed=SEED)
    return tables


def chosen(what: str, wanted: str, there_are: Sequence[str]) -> list[str]:
    """Return the names of a comma-separated list; all names if it is empty."""
    names = wanted.split(",") if wanted else list(there_are)
    for name in names:
        if name not in there_are:
            raise SystemExit(f"there is no {what} {name!r}; there are {', '.join(there_are)}")
    return names


def measure(
    old: Version, new: Version, tables: dict[str, Table], tasks: list[str], options: Any
) -> None:
    """Print ratios for each table of data, and for tasks that need none."""
    header = ["", old.name, "now", "now / then", "lowest, highest", "results"]
    if "import" in tasks:
        row = compare("import", old, new, options.repeat)
        print()
        show(header, [row])
        tasks = [task for task in tasks if task != "import"]
    for name in tables if tasks else ():
        path = tables[name].drawn_by(old)
        numbers = tables[name].numbers
        shape, _ = (version.ask(read=str(path), numbers=numbers) for version in (old, new))
        named = options.tasks or shape["variables"] <= LARGE
        here = [task for task in tasks if named or task == "cold"]
        rows = [compare(task, old, new, options.repeat) for task in here]
        print(f"\n{name}: {shape['rows']} cases, {shape['variables']} variables, BIC\n")
        show(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", help="commit, tag or branch to compare with")
    parser.add_argument("--tasks", default="", help=f"some of {','.join(TASKS)}")
    parser.add_argument("--tables", default="", help="some of the tables, by name")
    parser.add_argument("--networks", type=Path, help="folder of BIF files to draw tables from")
    parser.add_argument("--repeat", type=int, default=9, help="rounds")
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")
    tasks = chosen("task", options.tasks, list(TASKS))
    commit = commit_of(options.revision)
    tables = tables_of(HOME / commit[:12] / "tables", options.networks)
    tables = {name: tables[name] for name in chosen("table", options.tables, list(tables))}
    earlier, present = installed_earlier(commit), installed_present()
    with Version(options.revision, earlier) as old, Version("the working tree", present) as new:
        measure(old, new, tables, tasks, options)


if __name__ == "__main__":
    try:
        main()
    except Failed as reason:
        sys.exit(str(reason))
    except KeyboardInterrupt:
        sys.exit("stopped")
