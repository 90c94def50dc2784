"""Every deterministic name and S3 key, in one place.

    runs/<run>/run.json                             the anchor: created once, by whoever comes first
    runs/<run>/submissions/<k>.json                 which tasks the k-th submission holds
    runs/<run>/submissions/<k>/<j>.manifest         array j of it: one line a task
    runs/<run>/submissions/<k>/<j>.index            where each line begins
    runs/<run>/templates/<platform>-<region>.json   what all tasks of a Region share
    runs/<run>/attempts/<task>/<n>.json             training n of a task, written before it is started
    runs/<run>/attempts/<task>/<n>.moved            where the task goes on after training n, decided before it moves
    runs/<run>/results/<task>.json                  how the task stands
    runs/<run>/news/<moment>~...                    that a result has changed, and how, all in the name
    runs/<run>/boards/<platform>-<region>.json      which trainings have ended there lately
    runs/<run>/cancel                               stop everything
    runs/<run>/pause                                begin nothing more: the first tasks have all failed alike
    runs/<run>/measured                             metrics that were read from the logs afterwards
    runs/<run>/limit                                how many may run at once, if that was changed
    runs/<run>/running/<task>~<instances>~<lane>    that a task runs, while there is a limit
    runs/<run>/canaries/<lane>/<k>.json             the task that is k-th to go ahead of its lane
    runs/<run>/fence                                which submission each task belongs to

Whoever knows a run's name can compute them all. Beside them lies

    workloads/<workload>/<digest of the sweep>/<run>    which runs of this very sweep are there?
    workloads/<workload>/promotions/<n>.json            the n-th promotion of a model, put once
    workloads/<workload>/champion.json                  where the newest of them points
    budgets/<workload or owner>/<its name>/<month>.json what its runs of a month hold of its budget
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.wire.task import Lane, Quota

RUN_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
MOVED = ".moved"
"""Ends the keys that lie beside those of attempts, and say where their task went on."""
_PLAIN = re.compile(r"[\w.*/-]+", re.ASCII)
_JOB = re.compile(r"[0-9a-f]{32}")
"""The id of a Batch job, without its hyphens."""
_MANIFEST = re.compile(r"runs/(?P<run>[^/]+)/submissions/(?P<submission>\d+)/(?P<array>\d+)\.manifest")


def valid_run_name(name: str) -> bool:
    """Return whether the name is at most 40 small letters, digits and single hyphens, as in a training's name."""
    return RUN_NAME.fullmatch(name) is not None and "--" not in name


def training_name(run: str, task: int, attempt: int) -> str:
    """Return the name of a training: unique per account and Region, and the same for whoever computes it."""
    return f"{run}-{task}-{attempt}"


def array_name(run: str, submission: int, array: int) -> str:
    """Return the name of a Batch array job, by which it is found again."""
    return f"{run}-s{submission}-a{array}"


def run_of_job(environ: Mapping[str, str]) -> str:
    """Return the name of the run that a Batch job is which nobody has planned; empty where there is no such job.

    It is the same for all children of the job, however often they are started.
    """
    job = environ.get("AWS_BATCH_JOB_ID", "").partition(":")[0]
    plain = job.replace("-", "").lower()
    return job and f"batch-{plain if _JOB.fullmatch(plain) else digest(job, 32)}"


def arrays_prefix(run: str) -> str:
    """Return how the names of all arrays of a run begin. Those of a few other runs begin so too."""
    return f"{run}-s"


def submission_of_array(run: str, name: str) -> int | None:
    """Return the submission of a run that an array of this name belongs to; None for any other job."""
    match = re.fullmatch(rf"{re.escape(run)}-s([1-9][0-9]{{0,8}})-a[1-9][0-9]{{0,8}}", name)
    return int(match[1]) if match else None


def sweep_folder(workload: str, sweep: str) -> str:
    """Return the prefix below which the names of the runs of one sweep lie, by the digest of what its file says."""
    return f"workloads/{workload}/{sweep}/"


@dataclass(frozen=True)
class ModelKeys:
    """The S3 keys of the promotions of one workload."""

    workload: str

    @property
    def promotions(self) -> str:
        return f"workloads/{self.workload}/promotions/"

    @property
    def champion(self) -> str:
        return f"workloads/{self.workload}/champion.json"

    def promotion(self, number: int) -> str:
        return f"{self.promotions}{number:06}.json"

    @property
    def refusals(self) -> str:
        return f"workloads/{self.workload}/refusals/"

    def refusal(self, run: str, task: int, champion: int) -> str:
        return f"{self.refusals}{run}/{task}-{champion}.json"


def budget_key(kind: str, name: str, month: str) -> str:
    """Return the key of what runs hold of a month's budget. An owner's name may have any characters: they are quoted.

    `kind` is workload or owner, `month` is written 2026-11.
    """
    return f"budgets/{kind}/{quote(name, safe='@')}/{month}.json"


def resource_name(quota: Quota) -> str:
    """Return the name of the Batch consumable resource that counts a quota.

    Batch takes letters, digits, hyphens and underscores. A quota with other characters in its name, such as those of a
    training plan's ARN, is named by their digest.
    """
    name = quota.name if _PLAIN.fullmatch(quota.name) else digest(quota.name)
    words = ["sweep", quota.platform, quota.region, *name.replace("*", "all").split("/")]
    return "-".join(words).replace(".", "-")


@dataclass(frozen=True)
class RunKeys:
    """The S3 keys of one run, and the prefixes under which they lie."""

    run: str

    @property
    def prefix(self) -> str:
        return f"runs/{self.run}/"

    @property
    def anchor(self) -> str:
        return f"{self.prefix}run.json"

    @property
    def cancel(self) -> str:
        return f"{self.prefix}cancel"

    @property
    def pause(self) -> str:
        return f"{self.prefix}pause"

    @property
    def measured(self) -> str:
        return f"{self.prefix}measured"

    @property
    def limit(self) -> str:
        return f"{self.prefix}limit"

    @property
    def running(self) -> str:
        return f"{self.prefix}running/"

    @property
    def fence(self) -> str:
        return f"{self.prefix}fence"

    @property
    def submissions(self) -> str:
        return f"{self.prefix}submissions/"

    @property
    def attempts(self) -> str:
        return f"{self.prefix}attempts/"

    @property
    def results(self) -> str:
        return f"{self.prefix}results/"

    @property
    def news(self) -> str:
        return f"{self.prefix}news/"

    def submission(self, number: int) -> str:
        return f"{self.submissions}{number}.json"

    def manifest(self, submission: int, array: int) -> str:
        return f"{self.submissions}{submission}/{array}.manifest"

    def template(self, platform: str, region: str) -> str:
        return f"{self.prefix}templates/{platform}-{region}.json"

    def board(self, platform: str, region: str) -> str:
        return f"{self.prefix}boards/{platform}-{region}.json"

    def canary(self, lane: Lane, number: int) -> str:
        return f"{self.prefix}canaries/{lane}/{number}.json"

    def running_task(self, task: int, instances: int, lane: Lane) -> str:
        return f"{self.running_as(task)}{instances}~{lane}"

    def running_as(self, task: int) -> str:
        """Return the prefix of all keys that say that a task runs, wherever it does."""
        return f"{self.running}{task}~"

    def attempts_of(self, task: int) -> str:
        return f"{self.attempts}{task}/"

    def attempt(self, task: int, number: int) -> str:
        return f"{self.attempts_of(task)}{number:04}.json"

    def moved(self, task: int, number: int) -> str:
        return f"{self.attempts_of(task)}{number:04}{MOVED}"

    def result(self, task: int) -> str:
        return f"{self.results}{task}.json"


def index_key(manifest_key: str) -> str:
    """Return the key of the index that lies beside a manifest."""
    return manifest_key.removesuffix(".manifest") + ".index"


@dataclass(frozen=True)
class S3Uri:
    """An address in S3, taken apart."""

    bucket: str
    key: str

    @classmethod
    def parse(cls, uri: str) -> S3Uri:
        """Return the bucket and the key of `s3://bucket/key`. Raise ValueError when the text is no such address."""
        scheme, _, rest = uri.partition("://")
        bucket, _, key = rest.partition("/")
        if scheme != "s3" or not bucket:
            raise ValueError(f"not an S3 URI: {uri!r}")
        return cls(bucket, key)

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


def submission_of_manifest(key: str) -> tuple[str, int] | None:
    """Return the run and the submission that a manifest's key belongs to; None for a file from elsewhere."""
    match = _MANIFEST.fullmatch(key)
    return (match["run"], int(match["submission"])) if match else None


def canonical(value: Any) -> str:
    """Return the one spelling of a JSON value, so that equal values hash alike on every machine."""
    return _encode(value)


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


def digest(value: Any, length: int = 12) -> str:
    """Return so many hexadecimal digits of the SHA-256 of these bytes, or of this JSON value."""
    data = value if isinstance(value, bytes) else canonical(value).encode()
    return hashlib.sha256(data).hexdigest()[:length]
