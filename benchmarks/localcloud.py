"""An array of 10,000 children on the local cloud: how soon submitted, how soon done, in what memory."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.figure import Figure
from orchestrator.localcloud import LocalCloud, status

if TYPE_CHECKING:
    from collections.abc import Iterator

CHILDREN = 10_000
IDLE_S = 5


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder, LocalCloud(Path(folder), regions=["us-east-1"]) as cloud:
        batch, server = client(cloud), server_of(Path(folder))
        array, submitted_s = submit(batch)
        done_s = submitted_s + wait(batch, array)
        yield Figure(f"local cloud, {CHILDREN:,} children submitted", submitted_s, "s", budget=2)
        yield Figure(f"local cloud, {CHILDREN:,} children of `true` done", done_s, "s", budget=60)
        yield Figure(f"local cloud, memory after {CHILDREN:,} children", peak_mb(server), "MB", budget=400)
        before = cpu_s(server)
        time.sleep(IDLE_S)
        yield Figure("local cloud when idle, of a core", (cpu_s(server) - before) / IDLE_S * 100, "%", budget=1)


def client(cloud: LocalCloud) -> Any:
    import boto3

    access = cloud.serving.access
    session = boto3.session.Session(aws_access_key_id=access.key_id, aws_secret_access_key=access.secret)
    return session.client("batch", region_name="us-east-1", endpoint_url=access.endpoint)


def submit(batch: Any) -> tuple[str, float]:
    requirements = [{"type": "VCPU", "value": "0.25"}, {"type": "MEMORY", "value": "512"}]
    container = {"image": "any", "command": ["true"], "resourceRequirements": requirements}
    made = batch.register_job_definition(jobDefinitionName="true", type="container", containerProperties=container)
    definition, start = made["jobDefinitionArn"], time.perf_counter()
    job = batch.submit_job(
        jobName="many", jobQueue="sweep", jobDefinition=definition, arrayProperties={"size": CHILDREN}
    )
    return job["jobId"], time.perf_counter() - start


def wait(batch: Any, array: str) -> float:
    start = time.perf_counter()
    while (job := batch.describe_jobs(jobs=[array])["jobs"][0])["status"] not in ("SUCCEEDED", "FAILED"):
        time.sleep(0.2)
    if job["status"] == "FAILED":
        raise RuntimeError(f"the array failed: {job['arrayProperties']['statusSummary']}")
    return time.perf_counter() - start


def server_of(home: Path) -> int:
    serving = status(home)
    if serving is None:
        raise RuntimeError("the local cloud does not run")
    return serving.pid


def peak_mb(pid: int) -> float:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
