"""A launcher from its start to the moment its CreateTrainingJob is sent, beside the classic recipe's on the SDK."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import sdk
from benchmarks.figure import Figure
from benchmarks.launching.stub import Stub, Taken, stub

if TYPE_CHECKING:
    from collections.abc import Iterator

BUCKET = "bench"
CLASSIC = Path(__file__).parent / "classic.py"
SWEEP = Path(__file__).parents[2] / "orchestrator" / "demo" / "sweep.yaml"
TIMES = 3


def measure() -> Iterator[Figure]:
    with stub() as aws:
        client(aws).create_bucket(Bucket=BUCKET)
        ours = least([ours_once(aws, f"bench-{k}") for k in range(TIMES)])
        theirs = least([theirs_once(aws) for _ in range(TIMES)])
    cpu, memory = f"SDK {theirs.cpu_s:.2f} s", f"SDK {theirs.peak_mb:.0f} MB"
    yield Figure("launcher to CreateTrainingJob, CPU", ours.cpu_s, "s", theirs.cpu_s / 5, rival=cpu)
    yield Figure("launcher to CreateTrainingJob, memory", ours.peak_mb, "MB", theirs.peak_mb / 2, rival=memory)


def ours_once(aws: Stub, run: str) -> Taken:
    manifest = staged(aws, run)
    environment = {"SWEEP_MANIFEST": f"s3://{BUCKET}/{manifest}", "AWS_BATCH_JOB_ARRAY_INDEX": "0"}
    return aws.launch([sys.executable, "-m", "orchestrator.launcher"], environment)


def theirs_once(aws: Stub) -> Taken:
    client(aws).put_object(
        Bucket=BUCKET, Key="jobs.csv", Body=b"us-east-1,s3://bench/data/\nus-west-2,s3://bench/data/\n"
    )
    environment = {"S3_ARRAY_FILE": f"s3://{BUCKET}/jobs.csv", "AWS_BATCH_JOB_ARRAY_INDEX": "0"}
    return aws.launch([sdk.python(), CLASSIC], environment | {"SOURCE": str(SWEEP.parent / "training")})


def staged(aws: Stub, run: str) -> str:
    """Put into S3 what `submit` would have, and return the manifest's key."""
    from orchestrator.platforms.base import Staging
    from orchestrator.platforms.sagemaker.stage import make_template
    from orchestrator.spec.reading.reader import read
    from orchestrator.wire import manifest
    from orchestrator.wire.names import RunKeys, index_key
    from orchestrator.wire.task import Lane, Limits, Place, Purchase, Scalar, Task

    place = Place(Lane("sagemaker", "us-east-1", "ml.c5.4xlarge", Purchase.SPOT), f"s3://{BUCKET}/data/", 0.816)
    point: dict[str, Scalar] = {"learning_rate": 0.01, "batch_size": 32}
    tasks = [Task(n, f"key-{n}", "berlin@v1", point, (place,), Limits(3600, 7200)) for n in range(2)]
    keys, role = RunKeys(run), "arn:aws:iam::123456789012:role/training"
    source, output = f"s3://{BUCKET}/sources/digest/sourcedir.tar.gz", f"s3://{BUCKET}/runs/{run}"
    shared = make_template(Staging(read(SWEEP), "us-east-1", run, "bench", source, output, role, poll_s=30))
    lines, records = zip(*manifest.write(tasks), strict=True)
    key = keys.manifest(1, 0)
    objects = {
        key: b"".join(lines),
        index_key(key): b"".join(records),
        keys.template("sagemaker", "us-east-1"): json.dumps(shared.to_json()).encode(),
    }
    for name, body in objects.items():
        client(aws).put_object(Bucket=BUCKET, Key=name, Body=body)
    return key


def client(aws: Stub) -> Any:
    import boto3

    return boto3.client(
        "s3",
        region_name="us-east-1",
        endpoint_url=aws.environment["AWS_ENDPOINT_URL"],
        aws_access_key_id="bench",
        aws_secret_access_key="bench",
    )


def least(all_: list[Taken]) -> Taken:
    return min(all_, key=lambda one: one.cpu_s)
