"""Draw the pictures of the README and of the docs, light and dark (`make pictures`)."""

import argparse
from pathlib import Path

from canvas import THEMES
from demo import demo, demo_picture
from peers import measured, peers_picture
from screens import screens


def main() -> None:
    """Write all pictures into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "figures")
    parser.add_argument("--screens", action="store_true", help="those of kes app, too")
    given = parser.parse_args()
    folder = given.out
    optima, points = demo(), measured()
    for theme in THEMES:
        pictures = {
            f"demo-{theme.name}.svg": demo_picture(optima, theme),
            f"peers-{theme.name}.svg": peers_picture(points, theme),
        }
        for name, content in pictures.items():
            (folder / name).write_text(content, encoding="utf-8")
    if given.screens:
        screens(folder)


if __name__ == "__main__":
    main()
