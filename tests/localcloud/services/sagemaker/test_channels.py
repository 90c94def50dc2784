"""Channels: whole or in shares, by prefix or by manifest, as File or streamed.

Sources: [A] API reference of the data type that is named.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.localcloud import LocalCloud
from tests.fixtures.cloud import client_of
from tests.localcloud import account
from tests.localcloud.conftest import TrainingDesk, training_refused

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LOOK = """
import json, os
root = os.path.dirname(os.environ["SM_CHANNEL_TRAIN"])
files = {
    channel: sorted(os.path.join(where, name)[len(root) + len(channel) + 2 :]
                    for where, _, names in os.walk(os.path.join(root, channel)) for name in names)
    for channel in sorted(os.listdir(root))
}
config = os.path.join(os.path.dirname(os.path.dirname(root)), "input", "config", "inputdataconfig.json")
modes = {name: channel["TrainingInputMode"] for name, channel in json.load(open(config)).items()}
print(json.dumps({"files": files, "modes": modes, "channels": os.environ["SM_CHANNELS"]}))
"""


def channel(name: str, uri: str, **more: Any) -> dict[str, Any]:
    further = {key: more.pop(key) for key in ("InputMode", "CompressionType", "RecordWrapperType") if key in more}
    source = {"S3DataType": "S3Prefix", "S3Uri": uri, **more}
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}, **further}


def put(desk: TrainingDesk, files: Mapping[str, str]) -> None:
    for key, text in files.items():
        desk.s3.put_object(Bucket=desk.bucket, Key=f"{desk.name}/{key}", Body=text.encode())


def seen(desk: TrainingDesk, host: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(next(line for line in desk.log(host) if line.startswith('{"files": ')))
    return found


def test_each_host_gets_its_share_or_all_and_a_manifest_says_which(sagemaker: TrainingDesk) -> None:
    """[A] S3DataSource: S3DataDistributionType, S3DataType."""
    here = f"s3://{sagemaker.bucket}/{sagemaker.name}"
    manifest = [{"prefix": f"{here}/all/"}, "a/1.txt", "b.txt"]
    put(sagemaker, {f"train/{n}.txt": str(n) for n in range(5)})
    put(sagemaker, {"all/a/1.txt": "1", "all/b.txt": "2", "all/unlisted.txt": "3", "listed.json": json.dumps(manifest)})
    channels = [
        channel("train", f"{here}/train/", S3DataDistributionType="ShardedByS3Key", InputMode="FastFile"),
        channel("validation", f"{here}/listed.json", S3DataType="ManifestFile"),
    ]
    config = {"InstanceType": "ml.c5.xlarge", "InstanceCount": 2, "VolumeSizeInGB": 10}
    training = sagemaker.run(LOOK, InputDataConfig=channels, ResourceConfig=config)
    assert training["TrainingJobStatus"] == "Completed", training.get("FailureReason")
    assert training["InputDataConfig"] == channels
    first, second = seen(sagemaker, "algo-1"), seen(sagemaker, "algo-2")
    shares = [set(host["files"]["train"]) for host in (first, second)]
    assert shares[0] | shares[1] == {f"{n}.txt" for n in range(5)}
    assert not shares[0] & shares[1]
    assert sorted(map(len, shares)) == [2, 3]
    assert first["files"]["validation"] == second["files"]["validation"] == ["a/1.txt", "b.txt"]
    assert first["modes"] == {"train": "FastFile", "validation": "File"}
    assert json.loads(first["channels"]) == ["train", "validation"]


STREAMED = """
import errno, os
folder = os.environ["SM_CHANNEL_TRAIN"]
print("read", open(f"{folder}/a/1.txt").read(), sorted(os.listdir(folder)))
for change in (lambda: open(f"{folder}/new", "w"), lambda: os.remove(f"{folder}/b.txt")):
    try:
        change()
    except OSError as error:
        print("refused", errno.errorcode[error.errno])
print("mounted", os.path.ismount(folder), os.path.realpath(folder))
"""


def test_a_streamed_channel_can_be_read_and_not_written(sagemaker: TrainingDesk) -> None:
    """[AWS] Using FastFile mode: it "exposes S3 objects as if they were files" of a read-only file system."""
    put(sagemaker, {"train/a/1.txt": "one", "train/b.txt": "two"})
    asked = channel("train", f"s3://{sagemaker.bucket}/{sagemaker.name}/train/", InputMode="FastFile")
    training = sagemaker.run(STREAMED, InputDataConfig=[asked])
    assert training["TrainingJobStatus"] == "Completed", training.get("FailureReason")
    log = sagemaker.log()
    assert "read one ['a', 'b.txt']" in log
    copied = next((line for line in log if "is a copy here" in line), "")
    if copied:
        pytest.skip(f"streams nothing: {copied}")
    assert log.count("refused EROFS") == 2
    assert "mounted True /opt/ml/input/data/train" in log


@pytest.mark.parametrize("mode", [pytest.param("File", marks=pytest.mark.long), "FastFile"])
def test_under_mpi_each_host_has_its_own_share(sagemaker: TrainingDesk, mode: str) -> None:
    """[A] S3DataDistributionType: each host gets a subset, whoever starts its processes."""
    put(sagemaker, {f"train/{n}.txt": str(n) for n in range(5)})
    uri = f"s3://{sagemaker.bucket}/{sagemaker.name}/train/"
    training = sagemaker.run(
        """
import os
from mpi4py import MPI
shares = MPI.COMM_WORLD.gather(sorted(os.listdir("/opt/ml/input/data/train")))
if shares:
    print("shares", shares)
""",
        InputDataConfig=[channel("train", uri, S3DataDistributionType="ShardedByS3Key", InputMode=mode)],
        ResourceConfig={"InstanceType": "ml.c5.xlarge", "InstanceCount": 2, "VolumeSizeInGB": 10},
        hyperparameters={"sagemaker_mpi_enabled": "true", "sagemaker_mpi_num_of_processes_per_host": "2"},
    )
    if "No such file" in training.get("FailureReason", ""):
        pytest.skip("this machine gives trainings no /opt/ml")
    assert training["TrainingJobStatus"] == "Completed", training.get("FailureReason")
    printed = next(line for line in sagemaker.log() if "shares " in line)
    one, two = ["0.txt", "2.txt", "4.txt"], ["1.txt", "3.txt"]
    assert printed.endswith(f"shares {[one, one, two, two]}")


def test_a_machine_that_mounts_nothing_copies_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that make namespaces are hidden from the cloud: its trainings have folders in the place of /opt/ml."""
    here = tmp_path / "programs"
    here.mkdir()
    for name in ("sh", "cat", "env"):
        (here / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(here))
    with LocalCloud(tmp_path / "home") as cloud:
        desk = TrainingDesk(client_of(cloud), "copied")
        put(desk, {"train/a/1.txt": "one", "train/b.txt": "two"})
        asked = channel("train", f"s3://{desk.bucket}/copied/train/", InputMode="FastFile")
        training = desk.run(STREAMED, InputDataConfig=[asked])
        assert training["TrainingJobStatus"] == "Completed", training.get("FailureReason")
        lines = desk.log()
        told = "there is no `unshare` on this machine"
        assert f"The channel train is a copy here, and not streamed (FastFile): {told}" in lines
        assert "read one ['a', 'b.txt']" in lines
        assert any(line.startswith("mounted False") for line in lines)
        assert cloud.serving.trainings.endswith(f"for this machine gives no namespaces: {told}")


@pytest.mark.parametrize("text", ["", "[]", '["a"]', '[{"prefix": 3}]', '[{"prefix": "s3://no-such-bucket/"}, "x"]'])
def test_a_manifest_that_cannot_be_read_fails_the_training(sagemaker: TrainingDesk, text: str) -> None:
    put(sagemaker, {"listed.json": text})
    listed = channel("training", f"s3://{sagemaker.bucket}/{sagemaker.name}/listed.json", S3DataType="ManifestFile")
    training = sagemaker.run("raise SystemExit(3)", InputDataConfig=[listed])
    assert training["TrainingJobStatus"] == "Failed"
    assert training["FailureReason"].startswith("ClientError: Data download failed")


DATA = "s3://sweep-local-us-east-1/"
FILE_SYSTEM = {
    "FileSystemId": "fs-0123456789abcdef0",
    "FileSystemType": "FSxLustre",
    "FileSystemAccessMode": "ro",
    "DirectoryPath": "/fsx",
}


@pytest.mark.skipif(account.IS_REAL, reason="AWS can do what the local cloud says that it cannot")
@pytest.mark.parametrize(
    ("channels", "code", "text"),
    [
        (
            [channel("x", DATA, InputMode="Pipe")],
            "UnsupportedOperation",
            "S3Prefix and ManifestFile, by File and FastFile",
        ),
        (
            [channel("x", DATA, S3DataType="AugmentedManifestFile", AttributeNames=["a"])],
            "ValidationException",
            "can only be used with the input mode Pipe",
        ),
        ([channel("x", DATA, CompressionType="Gzip")], "ValidationException", "CompressionType can only be used"),
        ([channel("x", DATA), channel("x", DATA)], "ValidationException", "Channel names must be unique"),
        (
            [{"ChannelName": "x", "DataSource": {"FileSystemDataSource": FILE_SYSTEM}}],
            "UnsupportedOperation",
            "reads channels from S3 only",
        ),
    ],
)
def test_what_cannot_be_played_is_refused_and_not_pretended(
    sagemaker: TrainingDesk, channels: list[dict[str, Any]], code: str, text: str
) -> None:
    refusal = training_refused(sagemaker, InputDataConfig=channels)
    assert refusal[0] == code
    assert text in refusal[1]
