"""A real browser, on a page of a stranger, tries to run commands on a cloud that serves.

`make browser` gets what it needs. The same requests, sent by hand, are in `test_guard.py`.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.localcloud.http.test_guard import COMMAND, SCOPE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.localcloud import LocalCloud

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
STRANGER = "evil.example"

pytestmark = pytest.mark.long

ATTACK = """async ([target, commands]) => {
    for (const [path, body] of commands) {
        await fetch(target + path, {method: "POST", mode: "no-cors", body: JSON.stringify(body)}).catch(() => 0)
        const form = document.createElement("form")
        form.method = "POST"; form.enctype = "text/plain"; form.action = target + path; form.target = "frame"
        const field = document.createElement("input")
        const text = JSON.stringify(body)
        field.name = text.slice(0, -1) + ', "x": "'; field.value = '"}'
        form.append(field); document.body.append(form); form.submit()
        await new Promise(done => setTimeout(done, 200))
    }
    const read = []
    for (const path of ["/", "/_local/overview", "/_local/faults", "/sweep-local"])
        await fetch(target + path).then(async answer => read.push(await answer.text())).catch(() => 0)
    await fetch(target + "/_local/faults", {method: "DELETE"}).catch(() => 0)
    return read
}"""
COMMANDS = [
    [f"/v1/registerjobdefinition?{SCOPE}", COMMAND],
    [f"/v1/submitjob?{SCOPE}", {"jobName": "stolen", "jobQueue": "sweep", "jobDefinition": "stolen"}],
    ["/_local/faults", {"kind": "throttle", "what": "sagemaker:*"}],
    ["/_local/clock", {"advance": 1_000_000}],
]


class Site(ThreadingHTTPServer):
    """A web site that shows one empty page, and remembers the requests that it gets."""

    daemon_threads = True

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        super().__init__(("127.0.0.1", 0), _Page)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


class _Page(BaseHTTPRequestHandler):
    server: Site

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.command, self.path))
        body = b'<!doctype html><title>a page</title><body><iframe name="frame"></iframe>'
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[Site]:
    running = Site()
    yield running
    running.shutdown()
    running.server_close()


@pytest.fixture
def tab() -> Iterator[Any]:
    """A tab of a browser, for which a stranger's name leads to this machine, as after DNS rebinding."""
    playwright = pytest.importorskip("playwright.sync_api", reason="`make browser` installs playwright")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"there is no {PROGRAMS[0]}: install it (Debian: apt-get install chromium)")
    arguments = ["--no-sandbox", f"--host-resolver-rules=MAP {STRANGER} 127.0.0.1"]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=arguments)
        yield browser.new_page()
        browser.close()


def attack(tab: Any, site: Site, target: str) -> list[str]:
    """Let a stranger's page do what it can to a server, and return what it could read there."""
    tab.goto(f"http://{STRANGER}:{site.server_port}/")
    found: list[str] = tab.evaluate(ATTACK, [target, COMMANDS])
    time.sleep(0.5)
    return found


def test_a_strangers_page_reaches_a_server_that_does_not_look(tab: Any, site: Site) -> None:
    """The attack is real: a server on this machine that trusts everybody gets each of its requests, twice a post."""
    open_server = Site()
    attack(tab, site, f"http://127.0.0.1:{open_server.server_port}")
    for path, _ in COMMANDS:
        assert open_server.seen.count(("POST", path)) == 2
    assert ("GET", "/_local/faults") in open_server.seen


def test_a_strangers_page_can_do_and_read_nothing(
    cloud: LocalCloud, client: Callable[..., Any], tab: Any, site: Site
) -> None:
    before = time.time()
    assert attack(tab, site, cloud.endpoint) == []
    assert nothing_happened(cloud, client, before)


def test_a_strangers_name_that_leads_here_can_do_and_read_nothing(
    cloud: LocalCloud, client: Callable[..., Any], tab: Any
) -> None:
    """After DNS rebinding the stranger's page has the very origin that it asks, and may read what it is answered."""
    before = time.time()
    here = cloud.endpoint.replace("127.0.0.1", STRANGER)
    shown = tab.goto(here)
    assert shown.status == 403
    answers = tab.evaluate(ATTACK, [here, COMMANDS])
    assert all("AccessDenied" in answer for answer in answers)
    assert nothing_happened(cloud, client, before)


def nothing_happened(cloud: LocalCloud, client: Callable[..., Any], before: float) -> bool:
    batch = client("batch")
    assert batch.describe_job_definitions(jobDefinitionName="stolen")["jobDefinitions"] == []
    assert not [job for job in batch.list_jobs(jobQueue="sweep")["jobSummaryList"] if job["jobName"] == "stolen"]
    assert cloud.steering.faults() == []
    return bool(cloud.steering.now() < before + 3600)


def test_its_owner_sees_the_page_and_nobody_frames_it(cloud: LocalCloud, tab: Any, site: Site) -> None:
    assert tab.goto(cloud.serving.page).status == 200
    assert tab.locator("h1").inner_text() == "The local cloud"
    assert tab.reload().status == 200
    tab.goto(f"http://127.0.0.1:{site.server_port}/")
    frame = f"document.querySelector('iframe').src = {json.dumps(cloud.serving.page)}"
    tab.evaluate(frame)
    tab.wait_for_timeout(500)
    assert "pages of other sites may neither use it" in tab.frames[1].content()
