"""Bundle the modules of the page into one script, and its style sheets into one.

A page that is a single file cannot load modules, so each module of ``template`` becomes a function
that is called once and returns its exports::

    const $dom = (() => { ... return { byId, svg }; })();
    const $line_chart = (() => { const { svg } = $dom; ... return { lineChart }; })();

The bundler does not parse JavaScript. It knows two forms::

    import { a, b } from "./module.js";     (before everything else but comments)
    export const|function|class name

and refuses the words ``import`` and ``export`` anywhere else, even in comments: what it does not
understand must not reach the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

_STYLES = (
    *("base", "layout", "controls", "variables", "charts"),
    *("network", "tables", "responsive", "print"),
)
"""The style sheets, in the order of the cascade."""

_COMMENT = re.compile(r"\s*//[^\n]*\n|\s*\n")
_IMPORT = re.compile(r'import \{\s*(\w+(?:,\s*\w+)*),?\s*\} from "\./([\w-]+)\.js";\n')
_EXPORT = re.compile(r"^export (const|function|class) (\w+)", re.MULTILINE)
_DECLARED = re.compile(
    r"^(?:export )?(?:const|let|var|async function\*?|function\*?|class) (\w+)", re.MULTILINE
)
_KEYWORD = re.compile(r"(?<![\w$])(?:import|export)(?![\w$])")


class BundleError(ValueError):
    """A module of the page that cannot be bundled."""


def template(name: str) -> str:
    """Return a file of the template."""
    return files("kes.show.report").joinpath("template", name).read_text(encoding="utf-8")


def _stems(suffix: str) -> set[str]:
    """Return the names of all files of the template with a suffix."""
    folder = files("kes.show.report").joinpath("template")
    names = (entry.name for entry in folder.iterdir())
    return {name.removesuffix(suffix) for name in names if name.endswith(suffix)}


def style() -> str:
    """Return all style sheets as one."""
    if _stems(".css") != set(_STYLES):
        odd = sorted(_stems(".css").symmetric_difference(_STYLES))
        raise BundleError(f"style sheets missing or not listed: {', '.join(odd)}")
    return "\n".join(template(f"{name}.css") for name in _STYLES)


def script() -> str:
    """Return all modules as one script."""
    return bundle({name: template(f"{name}.js") for name in sorted(_stems(".js"))})


@dataclass(frozen=True)
class Module:
    """A module of the page."""

    name: str
    imports: dict[str, tuple[str, ...]]  # names by module
    exports: tuple[str, ...]
    body: str  # the source after the imports, without the keyword ``export``

    @classmethod
    def read(cls, name: str, source: str) -> Module:
        """Split a source into its imports, exports and body; refuse duplicate names."""
        at, imports = 0, dict[str, tuple[str, ...]]()
        while True:
            if comment := _COMMENT.match(source, at):
                _refuse_keywords(name, source, comment[0], comment.start())
                at = comment.end()
            elif found := _IMPORT.match(source, at):
                names = tuple(re.findall(r"\w+", found[1]))
                imports[found[2]] = (*imports.get(found[2], ()), *names)
                at = found.end()
            else:
                break
        rest = source[at:]
        body = _EXPORT.sub(r"\1 \2", rest)
        _refuse_keywords(name, source, _EXPORT.sub(lambda one: " " * len(one[0]), rest), at)
        declared = _DECLARED.findall(rest)
        words = [*(word for names in imports.values() for word in names), *declared]
        if twice := sorted({word for word in words if words.count(word) > 1}):
            raise BundleError(f"{name}.js imports or declares twice: {', '.join(twice)}")
        return cls(name, imports, tuple(word for _, word in _EXPORT.findall(rest)), body)

    @property
    def variable(self) -> str:
        """The variable that holds its exports."""
        return "$" + self.name.replace("-", "_")

    def wrapped(self, others: Mapping[str, Module]) -> str:
        """Return the module as a function that is called once."""
        lines = [
            f"const {{ {', '.join(names)} }} = {others[other].variable};\n"
            for other, names in self.imports.items()
        ]
        exports = f"return {{ {', '.join(self.exports)} }};"
        return f"const {self.variable} = (() => {{\n{''.join(lines)}{self.body}{exports}\n}})();\n"


def bundle(sources: Mapping[str, str], entry: str = "app") -> str:
    """Return modules as one script, each after those that it imports.

    Refuses unsupported, missing and circular imports, unused modules, and modules whose variables
    have the same name.
    """
    modules = {name: Module.read(name, source) for name, source in sources.items()}
    order: list[str] = []

    def visit(name: str, importers: tuple[str, ...]) -> None:
        path = " -> ".join((*importers, name))
        if name in importers:
            raise BundleError(f"modules import each other in a circle: {path}")
        if name in order:
            return
        if name not in modules:
            raise BundleError(f"there is no module {name}.js: {path}")
        for other, names in modules[name].imports.items():
            visit(other, (*importers, name))
            missing = sorted(set(names).difference(modules[other].exports))
            if missing:
                raise BundleError(f"{name}.js: {other}.js does not export {', '.join(missing)}")
        order.append(name)

    visit(entry, ())
    unused = sorted(set(modules).difference(order))
    if unused:
        raise BundleError(f"no module imports {', '.join(f'{name}.js' for name in unused)}")
    variables = [module.variable for module in modules.values()]
    for module in modules.values():
        if variables.count(module.variable) > 1:
            raise BundleError(f"{module.name}.js: another module becomes {module.variable} too")
    parts = (modules[name].wrapped(modules) for name in order)
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();"


def _refuse_keywords(name: str, source: str, part: str, start: int) -> None:
    """Refuse the keywords import and export in a part of a source."""
    if found := _KEYWORD.search(part):
        line = source.count("\n", 0, start + found.start()) + 1
        raise BundleError(
            f"{name}.js, line {line}: unsupported use of {found[0]!r}; write imports first, as "
            'import { a } from "./b.js";, and exports as export const, function or class'
        )
