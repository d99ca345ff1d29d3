"""``kes app``: a page to work in."""

from importlib.util import find_spec
from pathlib import Path

import click

from kes.cli import options
from kes.cli.console import say
from kes.errors import KesError, not_installed


@options.command(
    "app",
    "Open a page to work in.",
    "kes app",
    "kes app data.csv",
    "kes app --folder study --port 9000 --no-browser",
)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@options.file("--folder", "Folder to work in.", show_default="that of FILE, or the current one")
@options.count("--port", "Port of the server.", minimum=0, show_default="8642, or a free one")
@options.count("--max-upload", "Largest file that can be dropped on the page, in megabytes.", 2000)
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser.")
def app(
    *, file: Path | None, folder: Path | None, port: int | None, max_upload: int, browser: bool
) -> None:
    """Work in the browser: look at a table, state what you know, learn, and use the result.

    The server runs on this machine, for this machine only, and works in one folder. Tables,
    results and knowledge files are those of the other commands.
    """
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise not_installed(package)
    from kes.app.serve import serve

    place = folder or (Path() if file is None else file.parent)
    if file is not None and (not file.is_file() or file.resolve().parent != place.resolve()):
        raise KesError(
            f"there is no file {file.name} in the folder {place}; give a file of the folder",
            option="file",
            file=str(file),
        )
    name = None if file is None else file.name
    serve(place, file=name, port=port, max_upload=max_upload, browse=browser, say=say)
