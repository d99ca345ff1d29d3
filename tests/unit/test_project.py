"""The project around the code: versions agree, links and references resolve, the
README's examples run, the make targets exist, and the sources are the house that CONTRIBUTING.md
draws: imports go down only, and private names stay at home."""

import ast
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SOURCES = sorted(
    path
    for folder in ("crates", "python", "tests", "docs")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".rs", ".py", ".pyi", ".md"}
)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def version() -> str:
    """The one place where the version is written for a release: the Rust workspace."""
    return tomllib.loads(text("Cargo.toml"))["workspace"]["package"]["version"]


def test_the_built_core_has_the_version_of_the_workspace(version):
    from kes import _core

    assert _core.__version__ == version


def test_changelog_and_citation_know_the_version(version):
    assert f"## [{version}]" in text("CHANGELOG.md")
    assert f"\nversion: {version}\n" in text("CITATION.cff")


def test_metadata_is_the_one_of_the_licence():
    assert text("LICENSE").startswith("MIT License")
    assert tomllib.loads(text("pyproject.toml"))["project"]["license"] == "MIT"
    assert "\nlicense: MIT\n" in text("CITATION.cff")


# --- references and links ---


def cited(content: str) -> set[tuple[str, str]]:
    """(First author, year) of every bracketed key; several keys are separated by semicolons."""
    brackets = re.findall(r"\[([^\W\d_][^\[\]]*\s\d{4}\b[^\[\]]*)\]", content)
    parts = [part for bracket in brackets for part in bracket.split(";")]
    found = (re.match(r"\s*([^\W\d_]+)\b.*?\s(\d{4})\b", part, re.DOTALL) for part in parts)
    return {(match[1], match[2]) for match in found if match and match[1][0].isupper()}


def test_the_reader_of_keys_reads_the_forms_in_use():
    assert cited("as in [Chickering 2002, Thm 15].") == {("Chickering", "2002")}
    assert cited("//! [Castelo & Kočka\n//! 2003]") == {("Castelo", "2003")}
    assert cited("[Andersson, Madigan & Perlman 1997; Meek 1995]") == {
        ("Andersson", "1997"),
        ("Meek", "1995"),
    }
    assert cited("x[10], [rows + 2000], [a link](https://example.org)") == set()


def test_every_cited_key_resolves():
    known = cited(text("docs/references.md"))
    missing = {
        f"{path.relative_to(ROOT)}: [{author} {year}]"
        for path in SOURCES
        if path != Path(__file__)
        for author, year in cited(path.read_text(encoding="utf-8")) - known
    }
    assert not missing


def written(page: Path) -> bool:
    """Tell whether a file exists, or is made by the build of the documentation."""
    from_notebook = page.suffix == ".md" and page.with_suffix(".ipynb").exists()
    made = (ROOT / "docs" / "demo-report.html").resolve()
    return page.exists() or from_notebook or page.resolve() == made


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_resolve(page):
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not written(page.parent / target)] == []


def test_every_page_of_the_documentation_is_in_its_navigation():
    docs = ROOT / "docs"
    navigation = set(re.findall(r"(?:: |- )(\S+\.md)$", text("mkdocs.yml"), flags=re.MULTILINE))
    pages = [*docs.rglob("*.md"), *(page.with_suffix(".md") for page in docs.rglob("*.ipynb"))]
    assert navigation == {page.relative_to(docs).as_posix() for page in pages}


# --- what a newcomer types ---


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_help_lists_every_target_with_a_description():
    shown = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    described = dict(re.findall(r"^  make (\S+) +(\S.*)$", shown, flags=re.MULTILINE))
    assert set(described) == set(
        re.findall(r"^([a-z-]+):(?!=)", text("Makefile"), flags=re.MULTILINE)
    )
    assert {"demo", "test", "lint", "bench", "docs", "build", "dist", "clean"} <= set(described)


def test_the_demo_prints_what_the_readme_shows():
    """Results depend on nothing but data, settings and seed, so this holds on every machine."""
    from click.testing import CliRunner

    from kes.cli import kes

    demo = re.search(r"kes learn (--example .*) --out", text("Makefile"))
    shown = re.search(r"```text\n(.*?)```", text("README.md"), flags=re.DOTALL)
    assert demo is not None
    assert shown is not None
    lines = iter(CliRunner().invoke(kes, ["learn", *demo[1].split()]).stdout.splitlines())
    missing = [line for line in shown[1].splitlines() if line not in lines]  # looks on from there
    assert missing == []
    assert shown[1].count("\n") >= 5


def test_the_first_pages_use_options_that_the_command_line_has():
    from click.testing import CliRunner

    from kes.cli.commands import COMMANDS, kes

    offered = "".join(CliRunner().invoke(kes, [name, "--help"]).output for name in COMMANDS)
    pages = text("README.md") + text("docs/index.md")
    examples = re.findall(r"```sh\n(.*?)```", pages, flags=re.DOTALL)
    used = {option for example in examples for option in re.findall(r" (--[a-z-]+)", example)}
    assert {option for option in used if option not in offered} == set()
    assert len(used) > 5


# --- the house, read from the syntax trees of the sources ----------------------------------------

PACKAGE = ROOT / "python" / "kes"

ORDER = (
    *("errors", "files", "validation", "declare", "options", "settings", "table", "progress"),
    *("drawing", "data", "budget", "native", "graph", "formats", "network"),
    *("exact", "search", "results", "analysis", "show"),
    *("api", "sklearn_base", "estimator", "predictors"),
    *("datasets", "app", "paper", "cli"),
)
"""From the ground up: each imports only those before it."""

FACADE = (
    *("kes.results.methods", "kes.results.support_methods"),
    *("kes.results.structure_methods", "kes.results.picture_methods"),
)
"""The methods of `Optima` ask rooms above, which they import when they are called."""

LAZY = {
    "kes.cli.app": "needs the extra app",
    "kes.cli": "Ctrl-C is handled before anything large is imported",
    "kes.data.discretizer": "narwhals waits for a frame",
    "kes.data.source": "narwhals waits for a frame; readers of files derive from Source",
}
"""Modules that may import others of kes when they are used, and why."""

NAMED = {
    ("kes.errors", "results"): "Interrupted hands over optima",
    ("kes.settings", "graph"): "a search starts from a graph",
    ("kes.options.search", "graph"): "options take graphs and knowledge",
    ("kes.options.table", "data"): "options say how a table is read",
    ("kes.options.search", "progress"): "an option is a callback",
    ("kes.options.all_networks", "progress"): "an option is a callback",
}
"""Annotations that name a class of a room above."""

MOST_FLAT = 13
MOST_LINES = 450
FEWEST_LINES = 40

ONE_EACH = ("analysis", "cli", "formats")
"""Rooms with a module for each question, command and format, however short."""


class Import(NamedTuple):
    """An import of a module of kes."""

    importer: str
    imported: str
    name: str | None
    lazy: bool
    typing: bool
    line: int

    @property
    def where(self) -> str:
        return f"{self.importer}, line {self.line}"


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax trees of the package, parsed once, by the first test that asks."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def room(module: str) -> str:
    """Return the room of a module: what follows kes in its name, or nothing for kes itself."""
    return f"{module}.".split(".")[1]


def nodes(tree: ast.AST, lazy: bool = False, typing: bool = False) -> Iterator[tuple]:
    """Walk a tree; tell of each node whether it is in a function, or only for type checkers."""
    for node in ast.iter_child_nodes(tree):
        yield node, lazy, typing
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        checking = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        yield from nodes(node, lazy or inside, typing or checking)


def imports(module: str, tree: ast.AST) -> Iterator[Import]:
    for node, lazy, typing in nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "kes":
                    yield Import(module, alias.name, None, lazy, typing, node.lineno)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kes":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                target = inner if inner in MODULES or alias.name == "_core" else node.module
                yield Import(module, target, alias.name, lazy, typing, node.lineno)


@cache
def all_imports() -> list[Import]:
    """Return what the modules of the package import from each other."""
    return [
        found
        for module, tree in trees().items()
        for found in imports(module, tree)
        if room(found.imported) != "_core"
    ]


def test_the_reader_of_imports_sees_all_kinds():
    source = """
from kes.data import encoder, Dataset
import kes.graph
if TYPE_CHECKING:
    from kes.results.optima import Optima
def late():
    from kes import _core, datasets
"""
    found = [(i.imported, i.lazy, i.typing) for i in imports("kes.x", ast.parse(source))]
    assert found == [
        ("kes.data.encoder", False, False),
        ("kes.data", False, False),
        ("kes.graph", False, False),
        ("kes.results.optima", False, True),
        ("kes._core", True, False),
        ("kes.datasets", True, False),
    ]


def test_every_room_has_a_place_in_the_order():
    rooms = {room(module) for module in MODULES} - {"", "__main__"}
    assert rooms == set(ORDER)


def test_the_map_is_the_tree():
    """Every path on the map exists, and the rooms of the package stand on it in their order."""
    folder, paths = Path(), []
    for line in re.search(r"```text\n(.*?)```", text("CONTRIBUTING.md"), re.DOTALL)[1].splitlines():
        names = re.split(r" {2,}", line.strip())[0].split()
        if not line.startswith(" "):
            folder, names = Path(names[0]), names[1:]
        paths += [folder / name for name in names]
    assert [path.as_posix() for path in paths if not (ROOT / path).exists()] == []
    assert [path.stem for path in paths if path.parent.name == "kes"] == list(ORDER)


def test_few_modules_lie_flat():
    flat = [path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")]
    assert len(flat) <= MOST_FLAT, "find a room for it; CONTRIBUTING.md has the map"


def test_modules_are_neither_long_nor_fragments():
    lines = {name: path.read_text(encoding="utf-8").count("\n") for name, path in MODULES.items()}
    long = [name for name, number in lines.items() if number > MOST_LINES]
    assert long == [], "split them by notion"
    fragments = [
        name
        for name, path in MODULES.items()
        if lines[name] < FEWEST_LINES
        and not path.stem.startswith("__")
        and room(name) not in ONE_EACH
    ]
    assert fragments == [], "merge them into the modules that use them"


def test_imports_go_down():
    place = {name: i for i, name in enumerate(ORDER)}
    wrong = [
        f"{i.where} imports {i.imported}, which lies above it: what both need belongs into "
        f"{room(i.importer)}/ or below, and what needs both into {room(i.imported)}/ or above"
        for i in all_imports()
        if room(i.importer) in place
        and place.get(room(i.imported), len(ORDER)) > place[room(i.importer)]
        and i.importer not in FACADE
        and not (i.typing and (i.importer, room(i.imported)) in NAMED)
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_imports_the_face():
    """`import kes` imports everything; whoever imports it imports all that lies above."""
    wrong = [i.where for i in all_imports() if i.imported == "kes"]
    assert not wrong


def test_imports_stand_at_the_top():
    wrong = [
        f"{i.where} imports {i.imported} inside a function: import it at the top, or say in LAZY "
        "for which extra or delay this is"
        for i in all_imports()
        if i.lazy and i.importer not in FACADE and i.importer not in LAZY
    ]
    assert not wrong, "\n".join(wrong)
    idle = {name for name in LAZY if not any(i.lazy and i.importer == name for i in all_imports())}
    assert not idle, "modules in LAZY import nothing late"


# --- private names -------------------------------------------------------------------------------


def is_private(name: str) -> bool:
    """Tell whether a name is private; those between underscores belong to Python and notebooks."""
    return name.startswith("_") and not name.endswith("_") and name not in ("_core", "_exit")


def defined(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module defines, attributes of its own objects included."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.Attribute(attr=name, value=ast.Name(id="self")):
                yield name


def private_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield private names that a module takes from other objects, and in which lines."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name) if is_private(name):
                yield name, node.lineno
            case ast.ImportFrom(names=names):
                yield from ((n.name, node.lineno) for n in names if is_private(n.name))


def test_private_names_stay_in_their_room():
    home: dict[str, set[str]] = {}
    for module, tree in trees().items():
        home.setdefault(room(module), set()).update(filter(is_private, defined(tree)))
    wrong = [
        f"{module}, line {line} uses {name}, which is private to another room: give it a public "
        "name there, or ask for what it is needed for"
        for module, tree in trees().items()
        for name, line in private_names(tree)
        if name not in home[room(module)]
    ]
    assert not wrong, "\n".join(wrong)


# --- one name for one thing ----------------------------------------------------------------------


def test_no_function_hides_the_module_it_lives_in():
    wrong = [
        f"{module}: {name} is a module and something else"
        for module, tree in trees().items()
        if MODULES[module].name == "__init__.py"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for name in (alias.asname or alias.name for alias in node.names)
        if f"{module}.{name}" in MODULES and f"{node.module}.{name}" != f"{module}.{name}"
    ]
    assert not wrong, "\n".join(wrong)


def test_no_two_classes_share_a_name():
    home: dict[str, list[str]] = {}
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                home.setdefault(node.name.lstrip("_"), []).append(module)
    double = {name: modules for name, modules in home.items() if len(modules) > 1}
    assert not double
