"""The pictures of the README: they are current, and each has a light and a dark variant."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs" / "figures"
NAMES = ("demo", "peers")
THEMES = ("light", "dark")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """The folder into which `make pictures` draws them anew."""
    pytest.importorskip("pygraphviz")
    folder = tmp_path_factory.mktemp("pictures")
    command = [sys.executable, str(ROOT / "docs" / "pictures"), "--out", str(folder)]
    subprocess.run(command, check=True, timeout=300)
    return folder


def titles(path):
    """Names of all nodes, edges, optima and searches in a picture, with their scores."""
    return sorted(title.text for title in ET.parse(path).iter("{http://www.w3.org/2000/svg}title"))


@pytest.mark.parametrize("theme", THEMES)
def test_the_chart_is_that_of_the_table(drawn, theme):
    name = f"peers-{theme}.svg"
    assert (drawn / name).read_text("utf-8") == (FIGURES / name).read_text("utf-8")


@pytest.mark.parametrize("theme", THEMES)
def test_the_picture_shows_what_the_demo_learns(drawn, theme):
    """Places may differ between versions of Graphviz; names, edges and scores may not."""
    name = f"demo-{theme}.svg"
    assert titles(drawn / name) == titles(FIGURES / name)
    assert len(titles(drawn / name)) > 100


def test_the_readme_shows_both_variants():
    readme = (ROOT / "README.md").read_text("utf-8")
    shown = re.findall(r"<picture>\n(.*?)</picture>", readme, flags=re.DOTALL)
    assert len(shown) == len(NAMES)
    for name, picture in zip(NAMES, shown, strict=True):
        dark, light = (f"docs/figures/{name}-{theme}.svg" for theme in ("dark", "light"))
        assert f'media="(prefers-color-scheme: dark)" srcset="{dark}"' in picture
        assert re.search(rf'<img alt="[^"]+" src="{light}"', picture)


def test_the_screens_of_the_app_have_both_variants_and_are_small():
    """`make pictures` makes them, in a browser; how they look is not compared."""
    page = (ROOT / "docs" / "howto" / "app.md").read_text("utf-8")
    shown = re.findall(r"\((?:\.\./figures/)(app-\w+-(light|dark)\.webp)#only-(light|dark)\)", page)
    assert len(shown) == 8
    for name, theme, only in shown:
        assert theme == only
        assert (FIGURES / name).stat().st_size < 150_000
    assert {path.name for path in FIGURES.glob("app-*")} == {name for name, _, _ in shown}
