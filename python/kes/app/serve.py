"""Start the server: bind to this machine only, print the address, open the browser."""

from __future__ import annotations

import errno
import logging
import os
import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Timer

import uvicorn

from kes.app.desk import kept_draft
from kes.app.security import Gate, new_token
from kes.app.server import application
from kes.app.workspace import Workspace, plain
from kes.errors import KesError

PORT = 8642
"""The port that is tried first."""

_ADDRESS = "127.0.0.1"
_MB = 10**6
_ENTRY = "open.html"
_LAST_PORT = 65_535


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
        timeout_graceful_shutdown=1,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    address = f"http://{_ADDRESS}:{number}/?token={token}"
    say(f"kes works in {workspace.folder}")
    say(f"Open {address}")
    say("Ctrl-C ends it; a running search keeps its work and is resumed at the next start.")
    if browse:
        Timer(0.5, webbrowser.open, [_entry(workspace, address).as_uri()]).start()
    try:
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        (workspace.state / _ENTRY).unlink(missing_ok=True)


def _is_news(record: logging.LogRecord) -> bool:
    """Tell whether to log something: that requests are cancelled is no news after Ctrl-C."""
    return not record.getMessage().startswith("Cancel ")


def _entry(workspace: Workspace, address: str) -> Path:
    """Write a page that leads to the address: other users can see the arguments of a browser."""
    path = workspace.state / _ENTRY
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f'<meta http-equiv="refresh" content="0; url={address}">\n')
    return path


def _begin_with(workspace: Workspace, file: str) -> None:
    """Let the page begin with a file, unless it already works with it."""
    workspace.file(plain(file))
    kept = kept_draft(workspace)
    if kept["draft"].get("file") != file:
        new = {"version": kept["version"] + 1, "draft": {"file": file}}
        workspace.write("draft.json", new)


def _bound(port: int | None) -> socket.socket:
    """Return a socket on this machine: the given port, or a free one."""
    if port is not None and port > _LAST_PORT:
        raise KesError(f"port {port} does not exist; the last is {_LAST_PORT}", option="port")
    for number in (PORT, 0) if port is None else (port,):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if os.name == "posix":  # elsewhere it would let two servers share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((_ADDRESS, number))
            listening.listen()
        except OSError as error:
            listening.close()
            refusal = error
        else:
            return listening
    why = "is in use" if refusal.errno == errno.EADDRINUSE else f"is refused ({refusal.strerror})"
    raise KesError(
        f"port {port or PORT} {why}; leave out --port for a free one, or give another",
        option="port",
    )
