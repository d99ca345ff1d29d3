"""Attacks on the server: nobody gets in, nothing gets out, nothing is lost.

The numbers are those of the threat model in SECURITY.md.
"""

import gzip
import json
import os
import resource
import signal
import socket
import time
from pathlib import Path

import pytest
from tests.unit.app.serving import children

import kes

SECRET = "never to be seen"


@pytest.fixture(scope="module")
def secret(server):
    """A file outside the folder, beside it."""
    path = server.folder.parent / "secret.csv"
    path.write_text(SECRET)
    return path


def refused(answer, *codes):
    status, headers, content = answer
    assert status in (codes or (400, 403, 404, 405, 421)), content
    assert SECRET.encode() not in content
    assert "set-cookie" not in {name.lower() for name in headers}
    return content.decode()


# --- who may talk to the server ---


def test_1_it_listens_on_this_machine_only(server):
    """A server on all addresses would answer at 127.0.0.2 as well."""
    socket.create_connection(("127.0.0.1", server.port)).close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", server.port))


def test_2_another_host_name_is_refused(server):
    """DNS rebinding: a site's name resolves to this machine."""
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", "[::1]", ""):
        refused(server.send("GET", "/api/state", Host=host), 421, 400)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", None])
def test_3_another_origin_cannot_change_anything(server, origin):
    before = server.ask("GET", "state")["draft"]
    body = {"version": before["version"], "draft": {"example": 100}}
    refused(server.send("PUT", "/api/draft", body, Origin=origin), 403)
    assert server.ask("GET", "state")["draft"] == before


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_4_requests_that_other_sites_cause_are_refused(server, site):
    refused(server.send("GET", "/api/state", Sec_Fetch_Site=site), 403)
    refused(server.send("POST", "/api/learn", {}, Sec_Fetch_Site=site), 403)


def test_5_without_the_cookie_nothing_is_shown(server):
    for path in ("/", "/api/state", "/files/clinic.csv", "/app/page/main.js", "/view/x"):
        refused(server.send("GET", path, cookie=False), 403)
    refused(server.send("GET", "/api/state", cookie=False, Cookie=f"kes-{server.port}=x"), 403)


def test_6_a_wrong_token_gets_no_cookie(server):
    for token in ("", "x", server.token[:-1], f"{server.token}x", "%00", "é"):
        refused(server.send("GET", f"/?token={token.encode().hex()}", cookie=False), 403)


def test_7_the_token_becomes_a_cookie_that_scripts_cannot_read(server):
    status, headers, _ = server.send("GET", f"/?token={server.token}", cookie=False)
    assert (status, headers["location"]) == (303, "/")
    given = headers["set-cookie"].lower()
    assert "httponly" in given
    assert "samesite=strict" in given


def test_8_every_answer_forbids_what_the_page_does_not_need(server):
    for path in ("/", "/api/state", "/app/page/main.js", "/nothing"):
        _, headers, _ = server.send("GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_9_other_protocols_and_methods_are_refused(server):
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13"}
    status, _, _ = server.send("GET", "/api/nothing", Sec_WebSocket_Key="a" * 24, **upgrade)
    assert status in (400, 403, 404)
    for method in ("TRACE", "DELETE", "OPTIONS"):
        refused(server.send(method, "/api/state"), 403, 405)


# --- files ---


@pytest.mark.parametrize(
    "name",
    [
        "../secret.csv",
        "..%2fsecret.csv",
        "%2e%2e%2fsecret.csv",
        "..%5csecret.csv",
        "%2fetc%2fpasswd",
        ".kes-app",
        ".kes-app%2fdraft.json",
        "%00",
        "clinic.csv%00.html",
        "nothing.csv",
        "-rf",
    ],
)
def test_10_no_path_leads_out_of_the_folder(server, secret, name):
    for place in ("/files/", "/view/", "/api/knowledge/", "/api/results/"):
        content = refused(server.send("GET", f"{place}{name}"))
        assert "root:" not in content
    for body in ({"draft": {"file": "../secret.csv"}}, {"draft": {"file": str(secret)}}):
        for question in ("cards", "check", "learn"):
            refused(server.send("POST", f"/api/{question}", body))
    refused(server.send("GET", "/app/page/../../cli/app.py"))
    refused(server.send("GET", "/app/page/..%2f__init__.py"))


def test_11_links_are_not_followed(server, secret):
    link = server.folder / "link.csv"
    link.symlink_to(secret)
    try:
        refused(server.send("GET", "/files/link.csv"))
        refused(server.send("POST", "/api/cards", {"draft": {"file": "link.csv"}}))
        assert "link.csv" not in json.dumps(server.ask("GET", "files"))
    finally:
        link.unlink()


def test_12_a_link_in_the_place_of_the_state_is_refused(tmp_path, start):
    (tmp_path / "elsewhere").mkdir()
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / ".kes-app").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(AssertionError, match="is a link"):
        start(folder=folder)


@pytest.mark.parametrize(
    "name",
    ["../../evil.csv", "..\\evil.csv", "/etc/evil.csv", ".evil.csv", "-evil.csv", "\tevil.csv"],
)
def test_13_names_of_uploads_are_cleaned(server, name):
    before = set(server.folder.parent.rglob("*"))
    status, answer = server.upload(name, b"a,b\n1,2\n")
    assert status == 200
    new = set(server.folder.parent.rglob("*")) - before
    assert new == {server.folder / answer["name"]}
    assert answer["name"][0] not in ".-"
    server.folder.joinpath(answer["name"]).unlink()


def test_14_an_upload_never_replaces_a_file(server, clinic_csv):
    status, answer = server.upload("clinic.csv", b"a\n1\n")
    assert (status, answer["name"]) == (200, "clinic-2.csv")
    assert (server.folder / "clinic.csv").read_bytes() == clinic_csv
    (server.folder / "clinic-2.csv").unlink()


def test_15_oversized_uploads_leave_nothing(server):
    before = sorted(server.folder.rglob("*"))
    status, _, content = server.send("PUT", "/api/files/big.csv", b"x" * 1_100_000)
    assert status == 413
    assert b"--max-upload" in content
    lying = {"Content_Length": None, "Transfer_Encoding": "chunked"}
    chunk = b"186a0\r\n" + b"y" * 100_000 + b"\r\n"
    status, _, _ = server.send("PUT", "/api/files/big.csv", chunk * 12 + b"0\r\n\r\n", **lying)
    assert status == 413
    status, _, _ = server.send("PUT", "/api/draft", b"[" * 5_000_000)
    assert status == 413
    assert sorted(server.folder.rglob("*")) == before


def test_16_a_broken_upload_leaves_nothing(server):
    before = sorted(server.folder.rglob("*"))
    head = (
        f"PUT /api/files/half.csv HTTP/1.1\r\nHost: {server.host}\r\nOrigin: http://{server.host}"
        f"\r\nCookie: {server.cookie}\r\nContent-Length: 1000\r\n\r\nabc"
    )
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(head.encode())
        time.sleep(0.3)
    deadline = time.monotonic() + 10
    while sorted(server.folder.rglob("*")) != before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sorted(server.folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bomb.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 40_000_000, 9)[:900_000]),
        ("garbage.csv", bytes(range(256)) * 50),
        ("garbage.parquet", b"PAR1" + bytes(range(256)) * 9 + b"PAR1"),
        ("empty.csv", b""),
        ("quotes.csv", b'a,"b\n' * 1000),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_17_hostile_tables_are_refused_in_words(server, name, content):
    status, answer = server.upload(name, content)
    assert status == 200
    draft = {"draft": {"file": answer["name"]}}
    status, _, said = server.send("POST", "/api/check", draft)
    found = json.loads(said)
    problem = found.get("error") or found["problem"]
    assert problem is None or problem["message"]
    assert str(server.folder.parent) not in said.decode()
    assert server.ask("GET", "state")  # it still answers
    (server.folder / answer["name"]).unlink()


def test_18_names_cannot_become_options_of_a_command(server):
    table = server.folder / "flags.csv"
    table.write_text("--out=evil,b,c\n" + "".join(f"{i % 2},{i % 3},{i % 2}\n" for i in range(60)))
    draft = {"file": "flags.csv", "options": {"target": "--out=evil", "runs": 2}}
    draft["kinds"] = {"--out=evil": "discrete"}
    job = server.finished(server.ask("POST", "learn", {"draft": draft}))
    assert job["state"] == "done", job["message"]
    assert kes.load(server.folder / job["out"]).target == "--out=evil"
    assert not list(server.folder.glob("evil*"))
    (server.folder / "--help.csv").write_text("a,b\n1,2\n")
    refused(server.send("POST", "/api/learn", {"draft": {"file": "--help.csv"}}))
    for path in server.folder.glob("*help.csv"):
        path.unlink()


def test_19_errors_hold_no_path(server):
    home = str(Path.home())
    (server.folder / "broken.kes.json.gz").write_bytes(b"\x1f\x8bnothing")
    answers = [
        server.send("GET", "/api/results/broken.kes.json.gz"),
        server.send("POST", "/api/results/broken.kes.json.gz/view", {}),
        server.send("POST", "/api/results/broken.kes.json.gz/do/bif", {}),
        server.send("POST", "/api/results/broken.kes.json.gz/do/nothing", {}),
        server.send("POST", "/api/learn", b"no json"),
        server.send("POST", "/api/learn", {"draft": {"file": 7}}),
        server.send("POST", "/api/knowledge", {"knowledge": {"tiers": 3}}),
        server.send("GET", "/api/jobs/../../x"),
        server.send("GET", "/api/jobs/7"),
    ]
    for status, _, content in answers:
        assert 400 <= status < 500, content
        for path in (str(server.folder), str(server.folder.parent), home, "Traceback"):
            assert path not in content.decode()
    (server.folder / "broken.kes.json.gz").unlink()


def test_20_two_tabs_cannot_overwrite_each_other(server):
    version = server.ask("GET", "state")["draft"]["version"]
    first = server.ask("PUT", "draft", {"version": version, "draft": {"example": 100}})
    status, _, _ = server.send("PUT", "/api/draft", {"version": version, "draft": {"example": 200}})
    assert status == 409
    kept = server.ask("GET", "state")["draft"]
    assert (kept["version"], kept["draft"]) == (first["version"], {"example": 100})


# --- processes that die, disks that are full ---


ENDLESS = {"example": 300, "options": {"runs": 1_000_000, "improve": False}}


def begun(server):
    """Start a search that takes hours; return it, and its process, after its first checkpoint."""
    job = server.ask("POST", "learn", {"draft": ENDLESS})
    while not (server.folder / job["out"]).exists():
        time.sleep(0.1)
    [search] = [pid for pid, words in children(server.process.pid).items() if "learn" in words]
    return job, search


def runs(server, job):
    return len(kes.load(server.folder / job["out"]).runs)


def stopped(server, job):
    server.ask("POST", f"jobs/{job['id']}", {"do": "stop"})
    return server.finished(job)


def test_21_a_killed_server_resumes_its_search_and_its_queue(start):
    server = start()
    job, search = begun(server)
    waiting = server.ask("POST", "learn", {"draft": {"example": 60, "options": {"runs": 1}}})
    server.kill()
    os.kill(search, signal.SIGKILL)
    kept = runs(server, job)
    assert kept > 0
    again = start()
    again.reached(job, ("running",))
    while runs(again, job) == kept:
        time.sleep(0.1)
    assert stopped(again, job)["state"] == "stopped"
    assert again.finished(waiting)["state"] == "done"
    found = kes.load(again.folder / job["out"])
    assert len(found.runs) > kept
    # Run i is a function of data, settings, seed and i, however often the search was resumed.
    table = kes.datasets.alarm(rows=300)
    assert found == kes.learn(table, runs=len(found.runs), improve=False)


@pytest.mark.slow
def test_22_a_search_that_outlives_its_server_is_waited_for(start):
    server = start()
    job, search = begun(server)
    server.kill()
    again = start()
    assert again.ask("GET", f"jobs/{job['id']}")["job"]["state"] == "queued"
    os.kill(search, signal.SIGINT)  # it ends and keeps its work
    again.reached(job, ("running",))
    kept = runs(again, job)
    assert stopped(again, job)["state"] == "stopped"
    assert runs(again, job) >= kept > 0


def test_23_a_killed_search_is_a_message_and_goes_on(start):
    server = start()
    job, search = begun(server)
    os.kill(search, signal.SIGKILL)
    found = server.finished(job)
    assert found["state"] == "failed"
    assert "SIGKILL" in found["message"]
    kept = runs(server, job)
    assert kept > 0
    server.ask("POST", f"jobs/{job['id']}", {"do": "again"})
    server.reached(job, ("running",))
    assert stopped(server, job)["state"] == "stopped"
    assert runs(server, job) >= kept


def test_24_a_killed_reader_is_a_message_and_is_replaced(server):
    draft = {"draft": {"file": "clinic.csv"}}
    server.ask("POST", "cards", draft)
    readers = [pid for pid, words in children(server.process.pid).items() if "answers" in words]
    for pid in readers:
        os.kill(pid, signal.SIGKILL)
    time.sleep(0.2)
    assert server.ask("POST", "cards", draft)["rows"] == 150


def test_25_a_full_disk_loses_nothing(start, tmp_path, clinic_csv):
    """No file may grow beyond 20 kB, which the system refuses as it refuses a full disk."""
    (tmp_path / "clinic.csv").write_bytes(clinic_csv)
    limit = (20_000, 20_000)
    server = start(before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    before = sorted(path.name for path in tmp_path.iterdir())
    status, answer = server.upload("large.csv", b"a,b\n" + b"1,2\n" * 30_000)
    assert status == 400
    assert "disk is full" in answer["error"]["message"]
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    large = {"file": "clinic.csv", "knowledge": {"roots": [f"n{i}" for i in range(9000)]}}
    status, _, _ = server.send("PUT", "/api/draft", {"version": 0, "draft": large})
    assert status == 400
    assert server.ask("GET", "state")["draft"] == {"version": 0, "draft": {}}
    assert server.ask("POST", "cards", {"draft": {"file": "clinic.csv"}})["rows"] == 150
