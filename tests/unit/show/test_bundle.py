"""The bundler: modules become one script, and what it does not understand is refused."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import kes
from kes.show.report import bundle as bundler
from kes.show.report.bundle import BundleError, Module, bundle, script, style

TEMPLATE = Path(kes.__file__).parent / "show" / "report" / "template"
TESTS = Path(__file__).parents[2] / "page"


def app(source):
    """Bundle an entry with a module that exports a constant, a function and a class."""
    other = "export const one = 1;\nexport function two() {}\nexport class Three {}\n"
    return bundle({"app": source, "other-module": other})


USED = 'import { one } from "./other-module.js";\n'


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js runs the script")
def test_the_bundle_does_what_the_modules_do():
    sources = {
        "app": '// Entry.\n\nimport { Sum } from "./sum-up.js";\nimport {\n  one,\n  two,\n} from '
        '"./other.js";\n\nconsole.log(new Sum(one, two()).value);\n',
        "sum-up": "export class Sum {\n  constructor(a, b) {\n    this.value = a + b;\n  }\n}\n",
        "other": 'import { Sum } from "./sum-up.js";\nconst hidden = new Sum(3, 4).value;\n'
        "export const one = 1;\nexport function two() {\n  return hidden;\n}\n",
    }
    done = subprocess.run(
        ["node", "-"], input=bundle(sources), capture_output=True, text=True, check=True
    )
    assert done.stdout == "8\n"


@pytest.mark.parametrize(
    "source",
    [
        'import * as other from "./other-module.js";\n',
        'import other from "./other-module.js";\n',
        'import other, { one } from "./other-module.js";\n',
        'import { one as uno } from "./other-module.js";\n',
        'import "./other-module.js";\n',
        "import { one } from './other-module.js';\n",
        'import { one } from "../other-module.js";\n',
        'import { one } from "other-module";\n',
        'import { one } from "./other-module.js"\n',
        'import { one } from "./other-module.js"; one();\n',
        'const other = await import("./other-module.js");\n',
        "const here = import.meta.url;\n",
        'const a = 1;\nimport { one } from "./other-module.js";\n',
        'const a = 1; import { one } from "./other-module.js";\n',
        USED + "export default one;\n",
        USED + "export { one };\n",
        USED + 'export { two } from "./other-module.js";\n',
        USED + 'export * from "./other-module.js";\n',
        USED + "export let a = 1;\n",
        USED + "export async function a() {}\n",
        USED + "export function* a() {}\n",
        USED + "export const { a } = one;\n",
        USED + "export const [a] = one;\n",
        USED + "  export const a = 1;\n",
        USED + "const a = 1; export { a };\n",
        USED + "// what an import looks like\n",
        "// what an import looks like\n" + USED,
    ],
)
def test_unsupported_imports_and_exports_are_refused(source):
    with pytest.raises(BundleError, match=r"^app\.js, line [12]: unsupported use of '(im|ex)port'"):
        app(source)


def test_the_line_of_an_unsupported_form_is_named():
    with pytest.raises(BundleError, match=r"app\.js, line 5: "):
        app("// Entry.\n\n" + USED + "const a = 1;\nexport { a };\n")


def test_supported_forms_are_accepted():
    assert "const { one } = $other_module;" in app(USED + "one.imported = 1;\n")
    assert "$other_module" in app("\n// Comment.\n" + USED + "\n// Another one.\none();\n")


def test_missing_modules_and_names_are_refused():
    with pytest.raises(BundleError, match=r"no module none\.js: app -> none"):
        app('import { one } from "./none.js";\n')
    with pytest.raises(BundleError, match=r"app\.js: other-module\.js does not export four"):
        app('import { four, one } from "./other-module.js";\n')
    # Of `export const a = 1, b = 2`, only the first name is known.
    sources = {"app": 'import { b } from "./c.js";\n', "c": "export const a = 1, b = 2;\n"}
    with pytest.raises(BundleError, match=r"c\.js does not export b"):
        bundle(sources)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_circles_are_refused(length):
    names = ["app", "b", "c"][:length]
    sources = {
        name: f'import {{ x }} from "./{after}.js";\nexport const own = 1;\n'
        for name, after in zip(names, [*names[1:], "app"], strict=True)
    }
    with pytest.raises(BundleError, match=f"in a circle: {' -> '.join([*names, 'app'])}"):
        bundle(sources)


def test_unused_modules_are_refused():
    with pytest.raises(BundleError, match=r"no module imports other-module\.js"):
        app("const a = 1;\n")


@pytest.mark.parametrize(
    "source",
    [
        USED + USED,
        'import { one, one } from "./other-module.js";\n',
        USED + "const one = 2;\n",
        USED + "export function one() {}\n",
        USED + "class A {}\nexport class A {}\n",
    ],
)
def test_names_that_clash_are_refused(source):
    with pytest.raises(BundleError, match=r"app\.js imports or declares twice: (one|A)"):
        app(source)


def test_modules_that_would_share_a_variable_are_refused():
    imports = 'import { a } from "./x-y.js";\nimport { b } from "./x_y.js";\n'
    with pytest.raises(BundleError, match=r"another module becomes \$x_y too"):
        bundle({"app": imports, "x-y": "export const a = 1;\n", "x_y": "export const b = 1;\n"})


def test_style_sheets_are_all_listed(monkeypatch):
    assert style().count("/* ") >= len(list(TEMPLATE.glob("*.css")))
    monkeypatch.setattr(bundler, "_STYLES", bundler._STYLES[1:])
    with pytest.raises(BundleError, match="not listed: base"):
        style()


# --- the page's own modules ----------------------------------------------------------------------


def test_every_module_is_in_the_script_and_of_a_readable_size():
    text = script()
    for path in TEMPLATE.glob("*.js"):
        module = Module.read(path.stem, path.read_text(encoding="utf-8"))
        assert f"const {module.variable} = (() => {{" in text
    for path in TEMPLATE.iterdir():
        assert len(path.read_text(encoding="utf-8").splitlines()) < 350, path.name


def test_every_export_is_imported_somewhere():
    """By the page, or by the tests of the page."""
    read = [Module.read(p.stem, p.read_text(encoding="utf-8")) for p in TEMPLATE.glob("*.js")]
    used = {(other, one) for m in read for other, names in m.imports.items() for one in names}
    for path in TESTS.glob("*.js"):
        for names, other in re.findall(
            r'^import \{([^}]*)\} from "[./\w-]*/([\w-]+)\.js";', path.read_text(), re.MULTILINE
        ):
            used |= {(other, one) for one in re.findall(r"\w+", names)}
    assert [(m.name, one) for m in read for one in m.exports if (m.name, one) not in used] == []


def test_every_class_of_the_style_sheets_is_in_use():
    sources = [*TEMPLATE.glob("*.js"), TEMPLATE / "page.html", *TEMPLATE.parent.glob("*.py")]
    texts = [re.sub("//.*", "", path.read_text(encoding="utf-8")) for path in sources]
    words = {word for text in texts for word in re.findall(r"[\w-]+", text)}
    selectors = re.sub(r"\{[^{}]*\}|/\*.*?\*/", "", style(), flags=re.DOTALL)
    assert set(re.findall(r"\.([a-zA-Z][\w-]*)", selectors)) - words == set()
