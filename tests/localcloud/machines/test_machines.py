"""Hosts that are containers: a machine must be able to make them, and nothing is left of them."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.localcloud import LocalCloud, LocalCloudError, down, status, up
from orchestrator.localcloud.machines import prerequisites
from tests.fixtures.cloud import client_of
from tests.localcloud.conftest import TrainingDesk, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

TWO_HOSTS = {"InstanceType": "ml.c5.xlarge", "InstanceCount": 2, "VolumeSizeInGB": 10}
FOR_EVER = "import os, time\nprint('ready', os.getpid(), flush=True)\ntime.sleep(600)"


def test_who_has_not_made_the_toolkit_is_told_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path / ".venv"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LocalCloudError, match="`make toolkit`"):
        prerequisites.toolkit()


def test_a_missing_program_is_named_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert prerequisites.refusal(tmp_path) == "there is no `unshare` on this machine; install util-linux"


def test_a_first_host_that_cannot_be_laid_out_says_why(tmp_path: Path) -> None:
    """An environment that is not there cannot be laid over."""
    assert "No such file or directory" in prerequisites.refusal(tmp_path / "nowhere") or not shutil.which("unshare")


@pytest.fixture
def poor(toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalCloud]:  # noqa: ARG001
    """A machine without namespaces: without the program that makes them."""
    for program in ("sh", "which"):
        (tmp_path / program).symlink_to(shutil.which(program) or program)
    monkeypatch.setenv("PATH", str(tmp_path))
    with LocalCloud(tmp_path / "home", regions=["us-east-1"], toolkit=True) as running:
        yield running


def test_without_namespaces_one_host_is_a_plain_process(poor: LocalCloud) -> None:
    serving = status(poor.home)
    assert serving
    assert "MPI and several hosts do not, for there is no `unshare`" in serving.trainings
    desk = TrainingDesk(client_of(poor), "plain")
    script = "import os\nopen(os.environ['SM_MODEL_DIR'] + '/where', 'w').write(os.environ['SAGEMAKER_BASE_DIR'])"
    assert desk.run(script)["TrainingJobStatus"] == "Completed"
    assert desk.files_in("out/plain/output/model.tar.gz")["where"].startswith(os.fsencode(poor.home))
    several = TrainingDesk(client_of(poor), "several")
    assert "namespaces of their own under the toolkit: there is no `unshare`" in str(
        several.run("pass", ResourceConfig=TWO_HOSTS)["FailureReason"]
    )


@pytest.mark.usefixtures("containers")
def test_nothing_is_left_of_hosts_when_the_cloud_is_killed(tmp_path: Path) -> None:
    """Neither processes nor namespaces nor mounts; the next `up` or `down` finds nothing to do."""
    serving = up(tmp_path, regions=["us-east-1"], toolkit=True)
    try:
        cloud = LocalCloud(tmp_path)
        cloud._serving = serving
        desk = TrainingDesk(client_of(cloud), "left")
        desk.start(FOR_EVER, ResourceConfig=TWO_HOSTS)
        eventually(lambda: desk.says("ready"))
        networks = set(theirs(tmp_path).values())
        assert len(networks) == 3  # a switch, two hosts
        os.kill(serving.pid, signal.SIGKILL)
        eventually(lambda: not theirs(tmp_path))
    finally:
        down(tmp_path)
    assert str(tmp_path) not in Path("/proc/mounts").read_text()


def theirs(home: Path) -> dict[str, str]:
    """Return the processes that the cloud of a home has started, and the network that each is in."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(f"LOCALCLOUD_HOME={home}") in (process / "environ").read_bytes().split(b"\0"):
                found[process.name] = str((process / "ns" / "net").readlink())
        except OSError:  # another user's, or just gone
            continue
    return found
