"""Add the report of the demo to the site, as `kes report` writes it."""

import tempfile
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import kes

NAME = "demo-report.html"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Learn what `make demo` learns, and add its report."""
    optima = kes.learn(kes.datasets.alarm(), k=0.8, runs=100, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / NAME
        optima.report(page, title="The ALARM network, 20 000 cases")
        files.append(File.generated(config, NAME, content=page.read_bytes()))
    return files
