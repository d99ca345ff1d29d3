"""The house: rooms in an order, imports that go down only, and private names that stay at home.

Everything is read from the syntax trees of the sources, imports inside functions included.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "kes"

ORDER = (
    *("errors", "settings", "table", "progress"),
    *("drawing", "data", "graph", "formats", "network"),
    *("search", "results", "certify", "analysis", "show"),
    *("scoring", "learning", "estimator"),
    *("datasets", "paper", "cli"),
)
"""From the ground up: each imports only those before it."""

FACADE = "kes.results.questions"
"""The methods of `Optima` ask rooms above, which they import when they are called."""

LAZY = {
    "kes": "KES waits for scikit-learn, which takes longer to import than all else",
    "kes.search.execution": "a cluster needs the extra dask",
    "kes.cli.learn": "--help answers at once",
    "kes.cli.certify": "--help answers at once",
    "kes.cli.report": "--help answers at once",
    "kes.cli.convert": "--help answers at once",
}
"""Modules that may import others of kes when they are used, and why."""

NAMED = {
    ("kes.errors", "results"): "Interrupted hands over optima",
    ("kes.settings", "graph"): "a search starts from a graph",
}
"""Annotations that name a class of a room above."""

MOST_FLAT = 8


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
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def room(module: str) -> str:
    """Return the room of a module: what follows kes in its name, or nothing for kes itself."""
    return (module.split(".") + [""])[1]


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


IMPORTS = [
    found
    for module, tree in TREES.items()
    for found in imports(module, tree)
    if room(found.imported) != "_core"
]


def test_the_reader_of_imports_sees_all_kinds():
    source = """
from kes.data import encoding, Dataset
import kes.graph
if TYPE_CHECKING:
    from kes.results.optima import Optima
def late():
    from kes import _core, datasets
"""
    found = [(i.imported, i.lazy, i.typing) for i in imports("kes.x", ast.parse(source))]
    assert found == [
        ("kes.data.encoding", False, False),
        ("kes.data", False, False),
        ("kes.graph", False, False),
        ("kes.results.optima", False, True),
        ("kes._core", True, False),
        ("kes.datasets", True, False),
    ]


def test_every_room_has_a_place_in_the_order():
    rooms = {room(module) for module in MODULES} - {"", "__main__"}
    assert rooms == set(ORDER)


def test_few_modules_lie_flat():
    flat = [path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")]
    assert len(flat) <= MOST_FLAT, "find a room for it; CONTRIBUTING.md has the map"


def test_imports_go_down():
    place = {name: i for i, name in enumerate(ORDER)}
    wrong = [
        f"{i.where} imports {i.imported}, which lies above it: what both need belongs into "
        f"{room(i.importer)}/ or below, and what needs both into {room(i.imported)}/ or above"
        for i in IMPORTS
        if room(i.importer) not in ("", "__main__")
        and place[room(i.imported)] > place[room(i.importer)]
        and i.importer != FACADE
        and not (i.typing and (i.importer, room(i.imported)) in NAMED)
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_imports_the_face():
    """`import kes` imports everything; whoever imports it imports all that lies above."""
    wrong = [i.where for i in IMPORTS if i.imported == "kes"]
    assert not wrong


def test_imports_stand_at_the_top():
    wrong = [
        f"{i.where} imports {i.imported} inside a function: import it at the top, or say in LAZY "
        "for which extra or delay this is"
        for i in IMPORTS
        if i.lazy and i.importer != FACADE and i.importer not in LAZY
    ]
    assert not wrong, "\n".join(wrong)
    idle = {name for name in LAZY if not any(i.lazy and i.importer == name for i in IMPORTS)}
    assert not idle, "modules in LAZY import nothing late"


# --- private names -------------------------------------------------------------------------------


def is_private(name: str) -> bool:
    """Tell whether a name is private; those between underscores belong to Python and notebooks."""
    return name.startswith("_") and not name.endswith("_") and name != "_core"


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
    for module, tree in TREES.items():
        home.setdefault(room(module), set()).update(filter(is_private, defined(tree)))
    wrong = [
        f"{module}, line {line} uses {name}, which is private to another room: give it a public "
        "name there, or ask for what it is needed for"
        for module, tree in TREES.items()
        for name, line in private_names(tree)
        if name not in home[room(module)]
    ]
    assert not wrong, "\n".join(wrong)


# --- one name for one thing ----------------------------------------------------------------------


def test_no_function_hides_the_module_it_lives_in():
    wrong = [
        f"{module}: {name} is a module and something else"
        for module, tree in TREES.items()
        if MODULES[module].name == "__init__.py"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for name in (alias.asname or alias.name for alias in node.names)
        if f"{module}.{name}" in MODULES and f"{node.module}.{name}" != f"{module}.{name}"
    ]
    assert not wrong, "\n".join(wrong)


def test_no_two_classes_share_a_name():
    home: dict[str, list[str]] = {}
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                home.setdefault(node.name, []).append(module)
    double = {name: modules for name, modules in home.items() if len(modules) > 1}
    assert not double


@pytest.mark.parametrize("module", [name for name in MODULES if name.count(".") == 1])
def test_rooms_say_what_they_are_for(module):
    assert ast.get_docstring(TREES[module])
