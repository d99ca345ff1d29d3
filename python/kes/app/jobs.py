"""Jobs: commands that take long, one at a time, each in a process of its own.

A job is a command of kes. Its description, progress and messages are files in the folder, so a
server that was killed finds its jobs again. A search that was running then is started again with
the same words and resumes from its checkpoint; if its process has outlived the server, the job
waits for it, as the result file is locked. A description that this user's server has not sealed is
ignored: a folder from elsewhere must not bring commands with it.
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

from kes.app.seal import is_sealed, seal
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

    @property
    def has_worked(self) -> bool:
        """Whether it has ended and left what it found."""
        return self.state == "done" or (self.state == "stopped" and self.started is not None)


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
        self._refuse_second(out)
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
            self._refuse_second(job.out)
            job.state, job.message, job.stopping, job.ended = "queued", "", False, None
            self._keep(job)
            self._news.set()

    def _refuse_second(self, out: str) -> None:
        for other in self.all.values():
            if other.out == out and other.state in ("queued", "running"):
                raise KesError(f"a job for {out} is {other.state} already", file=out)

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
                continue
            try:
                if self._is_free(job):
                    await self._do(job)
                else:
                    await asyncio.sleep(_LOOK * 5)  # its process has outlived an earlier server
            except Exception as error:  # the queue goes on, whatever happens to a job
                why = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
                self._end(job, "failed", f"The process could not be run: {why}")

    def _is_free(self, job: Job) -> bool:
        target = self._workspace.folder / job.out
        if target.is_symlink():
            raise KesError(f"{job.out} is a link; remove it", file=job.out)
        with sole_writer(target) as is_free:
            return is_free

    async def _do(self, job: Job) -> None:
        job.state, job.started = "running", time.time()
        self._keep(job)
        log, progress = (self._folder / f"{job.id}.{part}" for part in ("log", "progress"))
        for left in (log, progress):
            left.unlink(missing_ok=True)
        words = [*job.words[1:]]
        if job.is_search:
            words += ["--quiet", "--checkpoint", _CHECKPOINT, "--progress-file", str(progress)]
        with log.open("xb") as messages:
            self._process = process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "kes", *words),
                cwd=self._workspace.folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                start_new_session=True,
            )
        if job.stopping:  # while the process was being created
            _signal(process, signal.SIGINT)
        code = await self._watched(job, process)
        self._end(job, *_fate(code, _tail(log), job))

    def _end(self, job: Job, state: str, message: str) -> None:
        job.state, job.message = state, message
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
            content = asdict(job)
            self._workspace.write(f"jobs/{job.id}.json", {**content, "seal": seal(content)})
        except KesError:
            if must:
                raise


def _read(path: Path) -> Job | None:
    """Read a job; None if its file is damaged or not sealed by us."""
    try:
        found = json.loads(path.read_bytes())
        content = {one.name: found[one.name] for one in fields(Job)}
        is_ours = is_sealed(content, found["seal"]) and content["id"] == path.stem
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None
    return Job(**content) if is_ours else None


def _fate(code: int, said: str, job: Job) -> tuple[str, str]:
    """Return the state and the message of a process that has ended."""
    if code == 0:
        return "done", said
    if job.stopping or code == _INTERRUPTED:
        return "stopped", said
    if code < 0 or code > 128:
        number = abs(code) if code < 0 else code - 128
        known = {one.value: one.name for one in signal.Signals}
        name = known.get(number, f"code {code}")
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
