"""The scripts of the page: modules on disk, one script in the file.

Each module of ``template`` says what it imports and exports, as browsers and editors know it. A
page that is one file cannot load modules, so each becomes a function that is called once and
returns what it exports::

    const $dom = (() => { ... return { byId, svg }; })();
    const $chart = (() => { const { svg } = $dom; ... })();
"""

from __future__ import annotations

import re
from importlib.resources import files

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (const|function|class) (\w+)", re.MULTILINE)


def template(name: str) -> str:
    """Return a file of the template."""
    return files("kes.show.report").joinpath("template", name).read_text(encoding="utf-8")


def modules(entry: str = "app") -> dict[str, str]:
    """Return a module with all that it needs, each after those it imports."""
    found: dict[str, str] = {}

    def visit(name: str, waiting: tuple[str, ...]) -> None:
        if name in waiting:
            raise ValueError(f"modules import each other: {' -> '.join((*waiting, name))}")
        if name not in found:
            source = template(f"{name}.js")
            for _, imported in _IMPORT.findall(source):
                visit(imported, (*waiting, name))
            found[name] = source

    visit(entry, ())
    return found


def script() -> str:
    """Return all modules as one script."""
    parts = (_wrapped(name, source) for name, source in modules().items())
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();"


def _wrapped(name: str, source: str) -> str:
    exported = ", ".join(word for _, word in _EXPORT.findall(source))
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(r"const \1 = $\2;", source))
    return f"const ${name} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"
