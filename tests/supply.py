"""Dependencies: `licences` lists them, `audit` looks for known vulnerabilities.

``python -m tests.supply licences`` and ``python -m tests.supply audit``, or the make targets.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
DATABASES = {
    "cargo": [["cargo", "deny", "check", "advisories"], ["cargo", "audit"]],
    "Python": [["pip-audit"]],
}
UNREACHABLE = re.compile(
    r"resolve|connect|network|timed? ?out|fetch|unreachable|proxy|certificate", re.IGNORECASE
)


# --- licences -------------------------------------------------------------------------------------


def crates() -> dict[str, str]:
    """Licence of each crate that Cargo.lock names, as its authors wrote it."""
    done = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    packages = json.loads(done.stdout)["packages"]
    return {f"{p['name']} {p['version']}": p["license"] or "unknown" for p in packages}


def packages(extra: str | None = None) -> dict[str, str]:
    """Licence of each Python package that kes needs, and of those that they need."""
    found: dict[str, str] = {}
    waiting = [("kes", {extra} if extra else set())]
    seen = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, frozenset(extras)) in seen:
            continue
        seen.add((name, frozenset(extras)))
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # of another platform
            continue
        if name != "kes":
            found[f"{package.name} {package.version}"] = licence(package)
        for line in package.requires or ():
            needed = Requirement(line)
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": one or ""}) for one in (*extras, None)
            ):
                waiting.append((needed.name, set(needed.extras)))
    return found


def licence(package: metadata.Distribution) -> str:
    """The declared licence of a package: an expression, a classifier, or a line of text."""
    about = package.metadata
    if expression := about.get("License-Expression"):
        return expression
    classifiers = [
        line.split(" :: ")[-1]
        for line in about.get_all("Classifier", [])
        if line.startswith("License :: ") and line != "License :: OSI Approved"
    ]
    if classifiers:
        return ", ".join(classifiers)
    return (about.get("License") or "unknown").strip().splitlines()[0][:60]


def list_licences() -> int:
    for title, found in (
        ("Rust crates of Cargo.lock, those of tests and other platforms included", crates()),
        ("Python packages that kes installs", packages()),
        ("Python packages of all extras and of the tests", packages("dev")),
    ):
        print(f"{title}: {len(found)}")
        for name, text in sorted(found.items(), key=lambda item: item[0].lower()):
            print(f"  {name:40} {text}")
    return 0


# --- known weaknesses -----------------------------------------------------------------------------


def audit() -> int:
    """Ask the tools that are there; say plainly what could not be asked."""
    worst = 0
    for language, commands in DATABASES.items():
        for command in commands:
            worst = max(worst, ask(language, command))
    return worst


def ask(language: str, command: list[str]) -> int:
    name = "-".join(command[:2]) if command[0] == "cargo" else command[0]
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    if shutil.which(name, path=beside) is None:
        how = f"cargo install {name}" if language == "cargo" else f"pip install {name}"
        print(f"{name}: NOT RUN, it is not installed ({how})")
        return 0
    done = subprocess.run(
        command,
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": beside},
    )
    unknown = (done.stdout + done.stderr).count("could not be audited")
    if unknown:
        print(f"{name}: NOT ASKED about {unknown} packages, which its database does not hold here")
        return done.returncode
    if done.returncode == 0:
        print(f"{name}: nothing known against what {language} installs")
        return 0
    said = (done.stdout + done.stderr).strip()
    if UNREACHABLE.search(said) and "vulnerabilit" not in said.lower():
        print(f"{name}: NOT RUN, its database cannot be reached: {said.splitlines()[-1]}")
        return 0
    print(f"{name}: exit code {done.returncode}\n{said}")
    return 1


if __name__ == "__main__":
    sys.exit({"licences": list_licences, "audit": audit}[sys.argv[1]]())
