"""Start the server: bind to this machine only, print the address, open the browser."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Timer

import uvicorn

from kes.app.security import Gate, new_token
from kes.app.server import application
from kes.app.workspace import Workspace, plain
from kes.errors import KesError

PORT = 8642
"""The port that is tried first."""

_ADDRESS = "127.0.0.1"
_MB = 10**6


def serve(
    folder: Path,
    *,
    file: str | None,
    port: int | None,
    max_upload: int,
    browse: bool,
    say: Callable[[str], object],
) -> None:
    """Serve a folder until interrupted."""
    workspace = Workspace(folder)
    if file is not None:
        _begin_with(workspace, file)
    listening = _bound(port)
    number, token = listening.getsockname()[1], new_token()
    app = Gate(application(workspace, max_upload * _MB), token, number)
    config = uvicorn.Config(
        app,
        log_level="error",
        ws="none",
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=3,
    )
    address = f"http://{_ADDRESS}:{number}/?token={token}"
    say(f"kes works in {workspace.folder}")
    say(f"Open {address}")
    say("Ctrl-C ends it; a running search keeps its work and is resumed at the next start.")
    if browse:
        Timer(0.5, webbrowser.open, [address]).start()
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


def _begin_with(workspace: Workspace, file: str) -> None:
    """Let the page begin with a file, unless it already works with it."""
    workspace.file(plain(file))
    kept = workspace.read("draft.json", {})
    version, draft = kept.get("version", 0), kept.get("draft", {})
    if draft.get("file") != file:
        workspace.write("draft.json", {"version": version + 1, "draft": {"file": file}})


def _bound(port: int | None) -> socket.socket:
    """Return a socket on this machine: the given port, or a free one."""
    for number in (PORT, 0) if port is None else (port,):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((_ADDRESS, number))
            listening.listen()
        except OSError:
            listening.close()
        else:
            return listening
    raise KesError(
        f"port {port} is in use; leave out --port for a free one, or give another", option="port"
    )
