"""Small changes of Python sources, each of which a test should notice."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
UNTOUCHED = (ast.JoinedStr, ast.AnnAssign, ast.Import, ast.ImportFrom)
"""Texts, declarations and imports: what a change there does shows nothing about results."""


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    path: Path
    line: int
    number: int
    """Of the change among those of the module."""
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path.as_posix()}:{self.line}: {self.before} -> {self.after}"


def mutants_of(path: Path, root: Path) -> list[Mutant]:
    """List every change of a module that this file knows."""
    tree = ast.parse((root / path).read_text(encoding="utf-8"))
    return [
        Mutant(path, node.lineno, number, _brief(node), _brief(changed))
        for number, (_, _, node, changed) in enumerate(_changes(tree))
    ]


def source_of(mutant: Mutant, root: Path) -> str:
    """Return the module's source with the change."""
    tree = ast.parse((root / mutant.path).read_text(encoding="utf-8"))
    for number, (parent, place, _, changed) in enumerate(_changes(tree)):
        if number == mutant.number:
            _put(parent, place, changed)
            return ast.unparse(ast.fix_missing_locations(tree))
    raise LookupError(mutant)


Place = tuple[str, int | None]


def _changes(tree: ast.AST) -> Iterator[tuple[ast.AST, Place, ast.AST, ast.AST]]:
    """Yield (parent, place, node, changed node) in the order of the source."""
    for parent in _inner(tree):
        for name, value in ast.iter_fields(parent):
            if name in {"annotation", "returns", "decorator_list", "type_params", "bases"}:
                continue
            for at, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(node, ast.AST) and not isinstance(node, UNTOUCHED):
                    for changed in _changed(node):
                        yield parent, (name, at), node, ast.copy_location(changed, node)


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    """Walk through what is run, in order; not through annotations, texts and type declarations."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params", "bases"}:
            continue
        for inner in value if isinstance(value, list) else [value]:
            if not isinstance(inner, ast.AST) or isinstance(inner, UNTOUCHED):
                continue
            if isinstance(inner, ast.If) and "TYPE_CHECKING" in ast.unparse(inner.test):
                continue
            yield from _inner(inner)


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[operator]) | ast.BoolOp(op=operator) | ast.BinOp(op=operator):
            if type(operator) in OPERATORS:
                other = copy.deepcopy(node)
                new = OPERATORS[type(operator)]()
                if isinstance(other, ast.Compare):
                    other.ops = [new]
                else:
                    other.op = new
                yield other
        case ast.UnaryOp(op=ast.Not()) | ast.UnaryOp(op=ast.USub()):
            yield copy.deepcopy(node.operand)
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(node.value + 1)
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            other = copy.deepcopy(node)
            other.func = ast.copy_location(ast.Name(NAMES[name], ast.Load()), node.func)
            if name == "sorted":
                other.keywords = []
            yield other
        case ast.IfExp():
            yield copy.deepcopy(node.body)
            yield copy.deepcopy(node.orelse)
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.AugAssign():
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def _put(parent: ast.AST, place: Place, node: ast.AST) -> None:
    name, at = place
    if at is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[at] = node


def _brief(node: ast.AST) -> str:
    line = " ".join(ast.unparse(node).split())
    return line if len(line) <= 70 else f"{line[:67]}..."
