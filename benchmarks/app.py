"""Measure what the page of `kes app` takes: memory when idle, and a large table, by CPU seconds.

Linux only, as /proc is read. The browser's part needs playwright and Chromium.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

TICKS = os.sysconf("SC_CLK_TCK")
MB = 10**6


class Server:
    """``kes app`` in a folder."""

    def __init__(self, folder: Path) -> None:
        words = ["app", "--folder", str(folder), "--port", "0", "--no-browser"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kes", *words],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "XDG_CONFIG_HOME": str(folder.parent)},
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line):
                self.address, self.port, self.token = found[0], int(found[1]), found[2]
                return
        raise SystemExit("kes app did not start")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to a request, or stop."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=3600)
        host = f"127.0.0.1:{self.port}"
        headers = {"Origin": f"http://{host}", "Cookie": f"kes-{self.port}={self.token}"}
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        connection.request(method, f"/api/{path}", content, headers)
        answer = connection.getresponse()
        found = json.loads(answer.read())
        if answer.status != 200:
            raise SystemExit(str(found))
        return found

    @property
    def cpu(self) -> float:
        """CPU seconds of the server and of all processes that it has started."""
        pids = [self.process.pid, *children(self.process.pid)]
        return sum(sum(stat(pid)[11:15]) / TICKS for pid in pids)

    @property
    def memory(self) -> tuple[float, float]:
        """Resident memory of the server, and the peak of its largest process, in MB."""
        others = [status(pid, "VmHWM") for pid in children(self.process.pid)]
        return status(self.process.pid, "VmRSS"), max(others, default=0.0)


def stat(pid: int) -> list[int]:
    """Return the numbers of /proc/PID/stat from the third on; 11 to 14 are CPU times."""
    text = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return [0, *map(int, text[1:])]


def status(pid: int, key: str) -> float:
    """Return a size of /proc/PID/status in MB; 0 of a process that has just ended."""
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"{key}:\s+(\d+) kB", text)
    return int(found[1]) * 1024 / MB if found else 0.0


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that run."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(one) for task in tasks for one in (task / "children").read_text().split()]


def blocks(megabytes: int) -> Iterator[str]:
    """Draw a table of numbers and states as CSV, block by block."""
    rng, written = np.random.default_rng(0), 0
    yield ",".join([*(f"x{i}" for i in range(12)), "a", "b", "c"]) + "\n"
    states = np.array(["low", "middle", "high"])
    while written < megabytes * MB:
        x = rng.normal(size=(20_000, 12))
        x[:, 1:] += 0.7 * x[:, :-1]
        codes = np.digitize(x[:, :3], [-0.7, 0.7])
        rows = zip(x.round(4).tolist(), states[codes].tolist(), strict=True)
        block = "".join(",".join([*map(str, own), *words]) + "\n" for own, words in rows)
        written += len(block)
        yield block


def measure(megabytes: int) -> None:
    """Measure everything, and print a line for each."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "folder"
        folder.mkdir()
        server = Server(folder)
        try:
            time.sleep(2)
            server.ask("GET", "state")
            say("server, idle", server.memory[0], "MB")
            before = server.cpu
            server.ask("GET", "state")
            server.ask("POST", "cards", {"draft": {"example": 2000}})
            say("cards of the example, with the start of the reader", server.cpu - before, "CPU s")
            before = server.cpu
            server.ask("GET", "state")
            server.ask("POST", "cards", {"draft": {"example": 2000}})
            say("cards of the example, again", server.cpu - before, "CPU s")
            in_browser(server)
            large(server, folder, megabytes)
        finally:
            server.process.send_signal(2)
            server.process.wait(60)


def in_browser(server: Server) -> None:
    """Measure the page with the example, from a reload to cards that can be used."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("the browser's part needs playwright and Chromium")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(server.address)
        page.click("text=Take the built-in example")
        page.wait_for_selector("#problem .message.good")
        page.reload()
        page.wait_for_selector(".column >> nth=36")
        wall = page.evaluate("performance.now()") / 1000
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        before = server.cpu
        page.reload()
        page.wait_for_selector(".column >> nth=36")
        found = session.send("Performance.getMetrics")["metrics"]
        values = {one["name"]: one["value"] for one in found}
        say("page of the example, until it can be used", wall, "s (wall)")
        say("page of the example, main thread of the browser", values["TaskDuration"], "CPU s")
        say("page of the example, server and reader", server.cpu - before, "CPU s")
        browser.close()


def large(server: Server, folder: Path, megabytes: int) -> None:
    """Measure a large table: upload, cards, check, and learning from it."""
    path = folder.parent / "large.csv"
    with path.open("w") as file:
        file.writelines(blocks(megabytes))
    say("large table", path.stat().st_size / MB, "MB")
    before = server.cpu
    with path.open("rb") as file:
        name = server.ask("PUT", "files/large.csv", file)["name"]
    say("upload", server.cpu - before, "CPU s")
    draft = {"file": name, "options": {"runs": 1, "improve": False}}
    for question in ("cards", "check"):
        before = server.cpu
        server.ask("POST", question, {"draft": draft})
        say(question, server.cpu - before, "CPU s")
    say("server", server.memory[0], "MB")
    say("reader, peak", server.memory[1], "MB")
    before, peak = server.cpu, 0.0
    job = server.ask("POST", "learn", {"draft": draft})
    while (state := server.ask("GET", f"jobs/{job['id']}")["job"])["state"] in (
        "queued",
        "running",
    ):
        peak = max(peak, server.memory[1])
        time.sleep(0.2)
    if state["state"] != "done":
        raise SystemExit(state["message"])
    say("one run", server.cpu - before, "CPU s")
    say("reader or search, peak", peak, "MB")


def say(what: str, value: float, unit: str) -> None:
    """Print a line of the result."""
    print(f"{what:<52} {value:9.2f} {unit}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    measure(parser.parse_args().megabytes)
