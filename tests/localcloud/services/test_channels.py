"""Channels: whole or in shares, by prefix or by manifest, as File or streamed.

Sources: [A] API reference of the data type that is named.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.localcloud import account
from tests.localcloud.conftest import TrainingDesk, training_refused

if TYPE_CHECKING:
    from collections.abc import Mapping

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
