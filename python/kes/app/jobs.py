"""Jobs: commands that take long, one at a time, each in a process of its own.

A job is a command of kes. Its description, progress and messages are files in the folder, so a
server that was killed finds its jobs again. A search that was running then is started again with
the same words and resumes from its checkpoint; if its process has outlived the server, the job
waits for it, as the result file is locked.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from kes.app.workspace import Workspace
from kes.errors import KesError
from kes.files import sole_writer

_LOOK = 0.1  # seconds between two looks at a process
_GRACE = 15.0  # seconds from an interrupt to a kill
_CHECKPOINT = "2s"
_INTERRUPTED = 128 + signal.SIGINT
_MESSAGE = 2000  # characters of a message
_ENDED = ("done", "stopped", "failed")


@dataclass
class Job:
    """A command and its fate: queued, running, then done, stopped or failed."""

    id: str
    title: str
    words: list[str]
    out: str
    draft: dict[str, Any] | None = None
    before: str | None = None
    """The result that this one changes, to be compared with."""
    state: str = "queued"
    message: str = ""
    created: float = field(default_factory=time.time)
    started: float | None = None
    ended: float | None = None
    stopping: bool = False

    @property
    def is_search(self) -> bool:
        """Whether it learns: such a job has progress and can be resumed."""
        return self.words[1] == "learn"


class Jobs:
    """The queue of a folder."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._folder = workspace.state / "jobs"
        self._process: asyncio.subprocess.Process | None = None
        self._news = asyncio.Event()
        self.all: dict[str, Job] = {}
        for path in sorted(self._folder.glob("*.json")):
            job = _read(path)
            if job is not None:
                self.all[job.id] = job
        for job in self.all.values():
            if job.state == "running":
                job.state = "stopped" if job.stopping else "queued"

    def add(self, title: str, words: list[str], out: str, **more: Any) -> Job:  # noqa: ANN401
        """Append a job to the queue; refuse a second one for the same file."""
        for other in self.all.values():
            if other.out == out and other.state in ("queued", "running"):
                raise KesError(f"a job for {out} is {other.state} already", file=out)
        name = f"{time.time_ns():019d}-{secrets.token_hex(3)}"
        job = Job(name, title, words, out, **more)
        self._keep(job, must=True)
        self.all[job.id] = job
        self._news.set()
        return job

    def get(self, name: str) -> Job:
        """Return a job by its id."""
        if name not in self.all:
            raise KesError("there is no such job")
        return self.all[name]

    def again(self, job: Job) -> None:
        """Queue a job that has ended, to be resumed."""
        if job.state in _ENDED:
            job.state, job.message, job.stopping, job.ended = "queued", "", False, None
            self._keep(job)
            self._news.set()

    def stop(self, job: Job) -> None:
        """Stop a job; a search keeps what it has found."""
        if job.state == "queued":
            job.state, job.ended = "stopped", time.time()
        elif job.state == "running":
            job.stopping = True
            if self._process is not None:
                _signal(self._process, signal.SIGINT)
        self._keep(job)

    def progress(self, job: Job, start: int = 0) -> tuple[list[dict[str, Any]], int]:
        """Return the progress that was written since a position, and the next position."""
        try:
            with (self._folder / f"{job.id}.progress").open("rb") as file:
                file.seek(start)
                content = file.read()
        except OSError:
            return [], start
        complete = content[: content.rfind(b"\n") + 1]
        found = []
        for line in complete.splitlines():
            with suppress(ValueError):  # of a disk that was full
                found.append(json.loads(line))
        return found, start + len(complete)

    # --- the process ------------------------------------------------------------------------------

    async def run(self) -> None:
        """Run the jobs of the queue, one at a time, for ever."""
        while True:
            job = next((one for one in self.all.values() if one.state == "queued"), None)
            if job is None:
                self._news.clear()
                await self._news.wait()
            elif not self._is_free(job):
                await asyncio.sleep(_LOOK * 5)  # its process has outlived an earlier server
            else:
                await self._do(job)

    def _is_free(self, job: Job) -> bool:
        with sole_writer(self._workspace.folder / job.out) as is_free:
            return is_free

    async def _do(self, job: Job) -> None:
        job.state, job.started = "running", time.time()
        self._keep(job)
        log = self._folder / f"{job.id}.log"
        words = [*job.words[1:]]
        if job.is_search:
            progress = self._folder / f"{job.id}.progress"
            progress.unlink(missing_ok=True)
            words += ["--quiet", "--checkpoint", _CHECKPOINT, "--progress-file", str(progress)]
        try:
            with log.open("wb") as messages:
                self._process = process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "kes", *words),
                    cwd=self._workspace.folder,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=messages,
                    stderr=messages,
                    start_new_session=True,
                )
            code = await self._watched(job, process)
        except OSError as error:
            job.state, job.message = "failed", f"The process could not be started: {error.strerror}"
        else:
            job.state, job.message = _fate(code, _tail(log), job)
        self._process, job.ended = None, time.time()
        job.message = self._workspace.without_paths(job.message)
        self._keep(job)

    async def _watched(self, job: Job, process: asyncio.subprocess.Process) -> int:
        """Wait for the process; kill it if it does not end after an interrupt."""
        asked: float | None = None
        while process.returncode is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _LOOK)
            if job.stopping:
                asked = time.monotonic() if asked is None else asked
                if time.monotonic() - asked > _GRACE:
                    _signal(process, signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
        return process.returncode

    async def close(self) -> None:
        """Interrupt the running job, which keeps its work; the next server resumes it."""
        process = self._process
        if process is not None and process.returncode is None:
            _signal(process, signal.SIGINT)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _GRACE)

    def _keep(self, job: Job, *, must: bool = False) -> None:
        """Write the description of a job; on a full disk the job itself goes on."""
        try:
            self._workspace.write(f"jobs/{job.id}.json", asdict(job))
        except KesError:
            if must:
                raise


def _read(path: Path) -> Job | None:
    """Read a job; None if its file is damaged or not ours."""
    try:
        found = json.loads(path.read_bytes())
        job = Job(**{one.name: found[one.name] for one in fields(Job)})
    except (OSError, ValueError, TypeError, LookupError):
        return None
    is_ours = job.id == path.name.removesuffix(".json") and job.words[:1] == ["kes"]
    return job if is_ours and all(isinstance(word, str) for word in job.words) else None


def _fate(code: int, said: str, job: Job) -> tuple[str, str]:
    """Return the state and the message of a process that has ended."""
    if code == 0:
        return "done", said
    if job.stopping or code == _INTERRUPTED:
        return "stopped", said
    if code < 0 or code > 128:
        name = signal.Signals(abs(code) if code < 0 else code - 128).name
        return "failed", (
            f"The process was ended from outside ({name}); perhaps the memory did not suffice. "
            "What it had found is kept up to the last checkpoint: go on from there."
        )
    return "failed", said.removeprefix("Error: ")


def _tail(log: Path) -> str:
    try:
        return log.read_text(encoding="utf-8", errors="replace")[-_MESSAGE:].strip()
    except OSError:
        return ""


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError, ValueError):
        process.send_signal(number)
