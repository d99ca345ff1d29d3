"""A real server in a process, and a client that behaves like a browser unless told otherwise."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

CONFIG = tempfile.TemporaryDirectory()  # the key of the seals of all servers of the tests


class Served:
    """``kes app`` in a folder."""

    def __init__(self, folder: Path, *options: str, before=None) -> None:
        self.folder = folder
        words = ["app", "--folder", str(folder), "--port", "0", "--no-browser", *options]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kes", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "XDG_CONFIG_HOME": CONFIG.name},
            preexec_fn=before,  # noqa: PLW1509 - there are no threads yet
        )
        said = ""
        for line in self.process.stdout:
            said += line
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line):
                self.address, self.port, self.token = found[0], int(found[1]), found[2]
                break
        else:
            raise AssertionError(said)
        self.cookie = f"kes-{self.port}={self.token}"
        self.host = f"127.0.0.1:{self.port}"

    def send(self, method, path, body=None, *, cookie=True, **headers):
        """Return status, headers and content; headers named by keyword, None removes one."""
        given = {"Host": self.host, "Origin": f"http://{self.host}"}
        if method == "GET":
            del given["Origin"]
        if cookie:
            given["Cookie"] = self.cookie
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        if content is not None and "Content-Length" not in given:
            connection.putheader("Content-Length", str(len(content)))
        connection.endheaders(content)
        answer = connection.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return found

    def ask(self, method, path, body=None):
        """Return the answer as JSON; it must not be a refusal."""
        status, _, content = self.send(method, f"/api/{path}", body)
        assert status == 200, content
        return json.loads(content)

    def upload(self, name, content):
        status, _, answer = self.send("PUT", f"/api/files/{quote(name, safe='')}", content)
        return status, json.loads(answer)

    def finished(self, job, seconds=120):
        """Wait for a job and return it."""
        return self.reached(job, ("done", "stopped", "failed"), seconds)

    def reached(self, job, states, seconds=120):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = self.ask("GET", f"jobs/{job['id']}")
            if found["job"]["state"] in states:
                return found["job"]
            time.sleep(0.1)
        raise AssertionError(found)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        self.process.stdout.close()


def children(pid: int) -> dict[int, str]:
    """Return the processes that a process has started, with their command lines."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == pid:
                    words = (folder / "cmdline").read_bytes().split(b"\0")
                    found[int(folder.name)] = b" ".join(words).decode()
            except (OSError, ValueError):
                continue
    return found


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
