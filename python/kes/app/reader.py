"""A process that reads tables and results for the server, and its side of the conversation.

The server itself never holds a table: whatever reading one costs, or does, happens in a process
that can be replaced. Both talk in lines of JSON: ``{"ask": "cards", ...}`` is answered by
``{"found": ...}`` or ``{"error": {"message": ..., "column": ..., ...}}``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import suppress
from typing import Any

from kes.app.workspace import Workspace
from kes.errors import KesError

_PATIENCE = 900.0  # seconds for an answer
_IDLE = 120.0  # seconds after which the process is not kept
_LINE = 2**28  # bytes of an answer

CRASHED = (
    "The process that reads the table ended unexpectedly; it may need more memory than there is. "
    "Nothing is lost: try again, or use fewer columns."
)


class Reader:
    """Asks one question at a time; starts the process when needed, and ends it when idle."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._process: asyncio.subprocess.Process | None = None
        self._alone = asyncio.Lock()
        self._used = time.monotonic()

    async def ask(self, question: str, **about: Any) -> Any:  # noqa: ANN401 - JSON
        """Return the answer; a refusal of the process is raised as it was there."""
        async with self._alone:
            self._used = time.monotonic()
            try:
                line = await asyncio.wait_for(self._exchange({"ask": question, **about}), _PATIENCE)
            except asyncio.CancelledError:
                await self._end()
                raise
            except TimeoutError:
                await self._end()
                raise KesError("this takes too long for the page; use the command line") from None
            except (OSError, ValueError):  # broken pipe; a line beyond the limit
                line = b""
            self._used = time.monotonic()
            if not line:
                await self._end()
                raise KesError(CRASHED)
        answer = json.loads(line)
        if "error" in answer:
            fields = answer["error"]
            message = self._workspace.without_paths(fields.pop("message"))
            raise KesError(*message.split("\n"), **fields)
        return answer["found"]

    async def _exchange(self, question: dict[str, Any]) -> bytes:
        process = await self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(question).encode() + b"\n")
        await process.stdin.drain()
        return await process.stdout.readline()

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "kes.app.answers"),
                cwd=self._workspace.folder,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                limit=_LINE,
            )
        return self._process

    async def rest(self) -> None:
        """End the process if it has been idle for a while."""
        if time.monotonic() - self._used > _IDLE and not self._alone.locked():
            await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def close(self) -> None:
        """End the process."""
        await self._end()
