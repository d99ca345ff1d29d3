"""Run the notebooks while the site is built, and make a page of each with its outputs.

Notebooks are stored without outputs, so the site always shows those of the current version.
"""

import html
import re
from pathlib import Path

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbclient import NotebookClient

_QUIET = ["--IPKernelApp.log_level=ERROR"]
_OUTPUT = re.compile(r'<div id="output-(\d+)"></div>')


class Notebook:
    """An executed notebook: its text as Markdown, and its outputs, which are inserted later."""

    def __init__(self, path: Path) -> None:
        content = nbformat.read(path, as_version=4)
        NotebookClient(content, timeout=300, extra_arguments=_QUIET).execute()
        self.outputs: list[str] = []
        self.markdown = "\n\n".join(map(self._cell, content.cells)) + (
            f"\n\n[Download this notebook]({path.name})\n"
        )

    def _cell(self, cell: nbformat.NotebookNode) -> str:
        if cell.cell_type == "markdown":
            return cell.source
        parts = [f"```python\n{cell.source}\n```"]
        for output in cell.outputs:
            if shown := _shown(output):
                parts.append(f'<div id="output-{len(self.outputs)}"></div>')
                self.outputs.append(f'<div class="output" data-search-exclude>{shown}</div>')
        return "\n\n".join(parts)


def _shown(output: nbformat.NotebookNode) -> str:
    """Return an output as HTML, without standard error."""
    if output.output_type == "stream":
        return _plain(output.text) if output.name == "stdout" else ""
    data = output.data
    return data["text/html"] if "text/html" in data else _plain(data["text/plain"])


def _plain(text: str) -> str:
    return f"<pre><code>{html.escape(text.rstrip())}</code></pre>"


_notebooks: dict[str, Notebook] = {}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        page = file.src_uri.removesuffix(".ipynb") + ".md"
        _notebooks[page] = Notebook(Path(file.abs_src_path))
        files.append(File.generated(config, page, content=_notebooks[page].markdown))
    return files


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Insert the outputs."""
    notebook = _notebooks.get(page.file.src_uri)
    if notebook is None:
        return html
    return _OUTPUT.sub(lambda found: notebook.outputs[int(found[1])], html)
