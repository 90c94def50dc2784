"""A local cloud starts, is found and ends, and what a crash leaves is cleaned."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from orchestrator.localcloud import LocalCloud, LocalCloudError, down, environment, status, up
from tests.localcloud.conftest import BatchDesk, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

HANGS = "trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 600' & sleep 600"
"""A command that ignores SIGTERM, and has a child that left its session."""


@contextmanager
def background(home: Path) -> Iterator[dict[str, str]]:
    serving = up(home, regions=["us-east-1"])
    try:
        yield environment(serving)
    finally:
        down(home)


def hang(variables: dict[str, str]) -> None:
    """Start a Batch job that will not end by itself, and wait until the first of its two shells runs."""
    client: Any = boto3.client(
        "batch",
        endpoint_url=variables["AWS_ENDPOINT_URL"],
        region_name="us-east-1",
        aws_access_key_id=variables["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=variables["AWS_SECRET_ACCESS_KEY"],
    )
    desk = BatchDesk(client, "hang")
    desk.in_state(desk.submit(HANGS), "RUNNING")


def living(home: Path) -> list[int]:
    """Return the processes that carry this home's mark."""
    marker = f"LOCALCLOUD_HOME={home.resolve()}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if marker in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


def gone(home: Path) -> bool:
    return not living(home)


def test_up_serves_in_the_background_until_down(tmp_path: Path) -> None:
    serving = up(tmp_path, regions=["eu-west-1"])
    assert status(tmp_path) == serving
    assert serving.regions == ["eu-west-1"]
    assert down(tmp_path)
    assert status(tmp_path) is None
    assert not down(tmp_path)


def test_down_ends_what_ignores_sigterm_and_what_it_started(tmp_path: Path) -> None:
    with background(tmp_path) as variables:
        hang(variables)
        eventually(lambda: len(living(tmp_path)) >= 3)
    assert gone(tmp_path)


@pytest.mark.parametrize("number", [pytest.param(signal.SIGTERM, marks=pytest.mark.long), signal.SIGKILL])
def test_when_the_server_goes_all_it_started_goes(tmp_path: Path, number: signal.Signals) -> None:
    with background(tmp_path) as variables:
        hang(variables)
        serving = status(tmp_path)
        assert serving
        os.kill(serving.pid, number)
        assert eventually(lambda: gone(tmp_path))


def test_after_the_worst_crash_the_next_up_cleans(tmp_path: Path) -> None:
    """Server and keeper killed in the same moment: only the mark in the environment is left."""
    with background(tmp_path) as variables:
        hang(variables)
        serving = status(tmp_path)
        assert serving
        eventually(lambda: len(living(tmp_path)) == 4)
        os.kill(serving.pid, signal.SIGSTOP)
        keeper = Path(f"/proc/{serving.pid}/task/{serving.pid}/children").read_text().split()
        for pid in (*keeper, serving.pid):
            os.kill(int(pid), signal.SIGKILL)
        left = eventually(lambda: living(tmp_path))
        again = eventually(lambda: status(tmp_path) is None and up(tmp_path, regions=["us-east-1"]))
        assert again.pid not in left
        assert gone(tmp_path)


def test_the_cloud_ends_with_the_process_that_opened_it(tmp_path: Path) -> None:
    program = (
        "import sys, time, pathlib\nfrom orchestrator.localcloud import LocalCloud\n"
        "with LocalCloud(pathlib.Path(sys.argv[1])) as c: print(c.endpoint, flush=True); time.sleep(600)"
    )
    owner = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert owner.stdout
    assert owner.stdout.readline().startswith("http://")
    owner.kill()
    owner.communicate()
    assert eventually(lambda: status(tmp_path) is None)


def test_a_second_cloud_in_the_same_home_is_told_of_the_first(cloud: LocalCloud) -> None:
    with pytest.raises(LocalCloudError) as caught:
        up(cloud.home)
    assert "already runs in" in caught.value.message
    assert cloud.home.name in caught.value.message


def test_a_port_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = subprocess.run(
            [sys.executable, "-m", "orchestrator.localcloud", "--home", str(tmp_path), "--port", str(port)],
            capture_output=True,
            text=True,
            check=False,
        )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.splitlines() == [f"port {port} is in use: choose another with --port, or 0 for any free one"]


def test_a_stale_record_is_no_cloud(tmp_path: Path) -> None:
    record = {"pid": os.getpid(), "endpoint": "http://127.0.0.1:1", "regions": ["us-east-1"]}
    (tmp_path / "server.json").write_text(json.dumps(record))
    assert status(tmp_path) is None
    assert not down(tmp_path)
    with LocalCloud(tmp_path, regions=["us-east-1"]) as running:
        assert running.endpoint != record["endpoint"]


def test_a_home_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalCloudError, match="cannot write to"):
        up(tmp_path / "file" / "home")


def test_an_idle_cloud_uses_no_processor(tmp_path: Path) -> None:
    with background(tmp_path):
        serving = status(tmp_path)
        assert serving
        time.sleep(0.5)
        before = cpu_ticks(serving.pid)
        time.sleep(1)
        assert cpu_ticks(serving.pid) - before <= 1


def test_finding_a_cloud_imports_neither_moto_nor_boto3() -> None:
    program = (
        "import sys, orchestrator.localcloud; print([m for m in ('moto', 'boto3', 'botocore') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"


def cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
