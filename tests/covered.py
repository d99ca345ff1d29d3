"""Count the lines of both languages that the tests run: ``python -m tests.covered``.

With ``--rust``, only the tests in Rust; other arguments are passed on to pytest.

The core is built once more, such that it counts, and put beside a copy of the Python sources. Rust
tests and Python tests add to the same counts, since each tests the core. Needs coverage.py, and
llvm-profdata and llvm-cov of the compiler: ``rustup component add llvm-tools``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.builds import LIBRARIES, ROOT, put_together

TARGET = ROOT / "target" / "covered"
COUNTS = TARGET / "counts"


def main() -> int:
    tools = tools_of_the_compiler()
    shutil.rmtree(COUNTS, ignore_errors=True)
    COUNTS.mkdir(parents=True)
    programs = rust_tests()
    if sys.argv[1:] == ["--rust"]:
        show_rust(tools, programs)
        return 0
    library = core()
    python_tests(library, sys.argv[1:])
    show_rust(tools, [*programs, library])
    show_python()
    return 0


def tools_of_the_compiler() -> Path:
    found = subprocess.run(
        ["rustc", "--print", "target-libdir"], check=True, capture_output=True, text=True
    )
    tools = Path(found.stdout.strip()).parent / "bin"
    if not (tools / "llvm-cov").exists():
        sys.exit("llvm-cov of the compiler is missing: rustup component add llvm-tools")
    return tools


def environment() -> dict[str, str]:
    """Build apart from other builds, counting; optimised a little, since all tests are run."""
    return os.environ | {
        "CARGO_TARGET_DIR": str(TARGET),
        "RUSTFLAGS": "-C instrument-coverage",
        "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
        "PYO3_PYTHON": sys.executable,
        "LLVM_PROFILE_FILE": str(COUNTS / "%p-%8m.profraw"),
    }


def rust_tests() -> list[Path]:
    """Run the tests of the core; return the programs that they are in."""
    command = ["cargo", "test", "--quiet", "--locked", "--package", "kes-core"]
    subprocess.run(command, cwd=ROOT, env=environment(), check=True)
    listed = [*command, "--no-run", "--message-format", "json"]
    made = subprocess.run(
        listed, cwd=ROOT, env=environment(), check=True, capture_output=True, text=True
    )
    messages = map(json.loads, made.stdout.splitlines())
    return [Path(one["executable"]) for one in messages if one.get("executable")]


def core() -> Path:
    """Build the core for Python; return the library."""
    command = ["cargo", "build", "--quiet", "--locked", "--package", "kes-py"]
    subprocess.run(command, cwd=ROOT, env=environment(), check=True)
    return next(path for name in LIBRARIES if (path := TARGET / "debug" / name).exists())


def python_tests(library: Path, arguments: list[str]) -> None:
    """Run the Python tests with a core that counts."""
    sources = TARGET / "python"
    shutil.rmtree(sources, ignore_errors=True)
    put_together(library, sources)
    settings = TARGET / "coveragerc"
    settings.write_text(
        f"[run]\nsource = {sources / 'kes'}\ndata_file = {COUNTS / 'python'}\n"
        "parallel = true\npatch = subprocess\ncore = ctrace\n"
        "[report]\nexclude_also =\n    if TYPE_CHECKING:\n    @overload\n"
    )
    counting = environment() | {"PYTHONPATH": str(sources), "COVERAGE_RCFILE": str(settings)}
    tests = ["pytest", "--numprocesses", "2", "--dist", "loadfile", "-p", "no:cacheprovider"]
    run = ["-m", "coverage", "run", "-m", *tests, *arguments]
    subprocess.run([sys.executable, *run], cwd=ROOT, env=counting, check=False)


def show_rust(tools: Path, binaries: list[Path]) -> None:
    merged = COUNTS / "rust.profdata"
    counts = sorted(map(str, COUNTS.glob("*.profraw")))
    (COUNTS / "list").write_text("\n".join(counts))
    # Processes that tests kill leave files that are cut off.
    merge = ["merge", "--sparse", "--failure-mode=all", f"--input-files={COUNTS / 'list'}"]
    merge += ["-o", str(merged)]
    subprocess.run([str(tools / "llvm-profdata"), *merge], check=True)
    objects = [word for path in binaries[1:] for word in ("-object", str(path))]
    report = ["report", f"-instr-profile={merged}", str(binaries[0]), *objects]
    report += [str(ROOT / "crates" / name / "src") for name in ("kes-core", "kes-csv", "kes-py")]
    subprocess.run([str(tools / "llvm-cov"), *report], check=True)


def show_python() -> None:
    counting = os.environ | {"COVERAGE_RCFILE": str(TARGET / "coveragerc")}
    for command in (["combine", "--quiet", str(COUNTS)], ["report", "--skip-covered"]):
        subprocess.run([sys.executable, "-m", "coverage", *command], env=counting, check=True)


if __name__ == "__main__":
    sys.exit(main())
