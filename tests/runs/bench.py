"""A whole team's cloud in memory: a control bucket, Batch, a platform. Launchers run when a test says so.

    desk = Desk(tmp_path)
    anchor = desk.submit(tasks=3)
    desk.launch(anchor, task=0)          # one launcher's life
    desk.cancel(anchor)
    desk.state(anchor, 0)

Each machine of the team has a database of its own: `desk.ledger("theirs")`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from orchestrator.aws.jobs.batch_job import Job
from orchestrator.db import migrate
from orchestrator.db.database import Database
from orchestrator.db.engine import engine
from orchestrator.errors import InvalidRequest
from orchestrator.launcher.child import Child, read_task
from orchestrator.launcher.drive import Driver
from orchestrator.launcher.task_history import TaskHistory
from orchestrator.plan.facts import Lot
from orchestrator.plan.plan import Dataset, Plan, Share
from orchestrator.platforms.source import Package
from orchestrator.runs.cloud import Account, Cloud
from orchestrator.runs.ending.cancel import cancel
from orchestrator.runs.known.ledger import Ledger
from orchestrator.runs.known.sync import sync
from orchestrator.runs.sending.proposal import Proposal
from orchestrator.runs.sending.replan import Moved, replan
from orchestrator.runs.sending.retry import retry
from orchestrator.runs.sending.submit import submit
from orchestrator.runs.sending.unstarted import find_unstarted
from orchestrator.runs.written.anchor import Anchor, create, submissions
from orchestrator.runs.written.planned import Planned, pieces
from orchestrator.wire.names import S3Uri
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.task import Lane, Limits, Place, Purchase
from orchestrator.wire.template import Template
from tests.fixtures.sweeps import make_sweep
from tests.launcher.fakes import Bucket, FakeRunner, Time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from orchestrator.aws.jobs.batch import ArrayJob, Resource, ResourceUse
    from orchestrator.runs.ending.proof import Stopped
    from orchestrator.wire.exits import Exit

HOME = "us-east-1"
ACCOUNT = Account(
    region=HOME,
    bucket="control",
    region_bucket="data-{region}",
    queue="sweep",
    lane_queue="sweep",
    role="arn:aws:iam::123456789012:role/training",
    owner="ada",
    poll_s=30.0,
    id="123456789012",
    definition={"jobDefinitionName": "launcher", "containerProperties": {"image": "launcher@sha256:0"}},
)
LANES = [Lane("fake", region, "ml.g5.xlarge", Purchase.SPOT) for region in ("us-east-1", "eu-west-1")]
PACKAGE = Package("c0de", b"sources", ("train.py",))


@cache
def empty_database() -> bytes:
    """Return a SQLite file with the schema of today: making one takes longer than most tests."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "empty.db"
        migrate.ready(engine(f"sqlite:///{file}")).dispose()
        return file.read_bytes()


def plan(tasks: int = 3, slots: int | None = None, usd: float = 1.0, **sweep: Any) -> Plan:
    """Return a plan whose tasks run on one lane, of which it has so many slots."""
    place = Place(LANES[0], "s3://data-us-east-1/alps/", rate=3.6)
    share = Share(0, tasks, 0, (place,), 0.5, usd, Limits(3600))
    lot = Lot(LANES[0], 3.6, {"own": 1}, used=slots)
    return Plan(make_sweep(**sweep), "market", (Dataset("alps@1", 10),), (share,), lots=(lot,))


@dataclass
class FakeJob:
    """A Batch job: an array with a status for each child, or an ordinary one."""

    id: str
    name: str
    queue: str
    manifest: str
    statuses: list[str]
    reasons: dict[int, str] = field(default_factory=dict)
    created: int = 0
    started: dict[int, float] = field(default_factory=dict)
    """When each child was started that was."""
    starts: dict[int, int] = field(default_factory=dict)
    """How often each child was started of which that matters."""

    @property
    def status(self) -> str:
        if len(self.statuses) == 1:
            return self.statuses[0]
        if not all(status in {"SUCCEEDED", "FAILED"} for status in self.statuses):
            return "PENDING"
        return "FAILED" if "FAILED" in self.statuses else "SUCCEEDED"

    def described(self) -> Job:
        counts = Counter(self.statuses) if len(self.statuses) > 1 else {}
        return Job(self.id, self.name, self.status, size=len(self.statuses), counts=counts)


class FakeBatch:
    """AWS Batch in memory; nothing starts by itself. `before` is called at every operation, `after` when it is done."""

    def __init__(self, region: str = HOME, queues: Sequence[str] = ("sweep",)) -> None:
        self.region = region
        self.queues = set(queues)
        self.jobs: list[FakeJob] = []
        self.calls: Counter[str] = Counter()
        self.used: dict[str, ResourceUse] = {}
        """What is held of each consumable resource."""
        self.before: Callable[[str], None] = lambda _: None
        self.after: Callable[[str], None] = lambda _: None
        self.on_terminate: Callable[[FakeJob], None] = lambda _: None
        """Called for a job that is terminated, before its children end: what their launchers do with a SIGTERM."""

    def ensure_definition(self, rendered: Mapping[str, Any]) -> str:  # noqa: ARG002
        return "arn:definition"

    def ensure_resource(self, resource: Resource, *, change: bool) -> None:
        pass

    def submit(self, array: ArrayJob) -> str:
        self._called("submit")
        number = len(self.jobs) + 1
        manifest = array.environment["SWEEP_MANIFEST"]
        self.jobs.append(
            FakeJob(f"job-{number}", array.name, array.queue, manifest, ["RUNNABLE"] * array.size, created=number)
        )
        self.after("submit")
        return self.jobs[-1].id

    def named(self, prefix: str, queue: str) -> list[Job]:
        self._called("list")
        if queue not in self.queues:
            raise InvalidRequest(f"no queue {queue}")
        return [job.described() for job in self.jobs if job.queue == queue and job.name.startswith(prefix)]

    def find(self, name: str, queue: str) -> str | None:
        return next((job.id for job in self.named(name, queue) if job.name == name), None)

    def describe(self, ids: Sequence[str]) -> list[Job]:
        self._called("describe")
        arrays = [
            replace(job.described(), environment={"SWEEP_MANIFEST": job.manifest}) for job in self.jobs if job.id in ids
        ]
        children = [(job, index) for job in self.jobs for index in job.starts if f"{job.id}:{index}" in ids]
        return arrays + [
            Job(f"{job.id}:{index}", job.name, job.statuses[index], index=index, starts=job.starts[index])
            for job, index in children
        ]

    def children(self, job_id: str, status: str) -> Iterator[Job]:
        self._called("list")
        job = self.job(job_id)
        for index, its in enumerate(job.statuses):
            if its == status:
                yield Job(f"{job_id}:{index}", job.name, its, index=index, started_at=job.started.get(index))

    def child(self, job_id: str, index: int, size: int) -> Job | None:  # noqa: ARG002
        self._called("describe")
        job = self.job(job_id)
        return Job(f"{job_id}:{index}", job.name, job.statuses[index], started_at=job.started.get(index))

    def resource_use(self, name: str) -> ResourceUse | None:
        self._called("describe")
        return self.used.get(name)

    def failed_children(self, job_id: str) -> Iterator[Job]:
        self._called("list")
        job = self.job(job_id)
        for index, status in enumerate(job.statuses):
            if status == "FAILED":
                yield Job(f"{job_id}:{index}", job.name, status, index=index, reason=job.reasons.get(index, "gone"))

    def terminate(self, job_id: str, reason: str) -> None:
        self._called("terminate")
        job = self.job(job_id)
        if any(status in {"RUNNABLE", "RUNNING"} for status in job.statuses):
            self.on_terminate(job)
            self.end_children(job, reason)
        self.after("terminate")

    def cancel(self, ids: Sequence[str], reason: str) -> None:
        self._called("cancel")
        for each in ids:
            job_id, _, index = each.partition(":")
            job = self.job(job_id)
            if job.statuses[int(index or 0)] == "RUNNABLE":
                job.statuses[int(index or 0)] = "FAILED"
                job.reasons[int(index or 0)] = reason

    def end_children(self, job: FakeJob, reason: str) -> None:
        for index, status in enumerate(job.statuses):
            if status not in {"SUCCEEDED", "FAILED"}:
                job.statuses[index] = "FAILED"
                job.reasons[index] = reason

    def job(self, job_id: str) -> FakeJob:
        return next(job for job in self.jobs if job.id == job_id)

    def _called(self, what: str) -> None:
        self.calls[what] += 1
        self.before(what)


class FakeStaging:
    """The planning part of the platform: it has every lane, and prepares nothing."""

    def stage(self, staging: Any, clients: Any) -> Template:  # noqa: ARG002
        return Template("fake", staging.region, staging.run, staging.owner, {}, staging.output, poll_s=staging.poll_s)

    def check(self, sweep: Any) -> Iterator[Any]:  # noqa: ARG002
        return iter(())

    def refuses(self, lane: Any) -> str:  # noqa: ARG002
        return ""

    def excludes(self, sweep: Any, lane: Any) -> str:  # noqa: ARG002
        return ""


class FakeCloud(Cloud):
    """The cloud as one machine with its settings sees it."""

    def __init__(self, desk: Desk, account: Account) -> None:
        super().__init__(clients=None, account=account, planning=lambda _: FakeStaging())  # type: ignore[arg-type,return-value]
        self.desk = desk

    @cached_property
    def s3(self) -> Any:
        return self.desk.bucket

    @cached_property
    def batch(self) -> Any:
        return self.desk.batches.setdefault(self.account.region, FakeBatch(self.account.region))

    @cached_property
    def rendered(self) -> dict[str, Any]:
        return self.account.definition

    @cached_property
    def signed_in(self) -> str:
        return self.desk.signed_in

    def bucket(self, region: str) -> Any:
        return self.desk.buckets.setdefault(region, Bucket())

    def runner(self, platform: str) -> Any:  # noqa: ARG002
        return self.desk.platform


class Desk:
    """One team with one control bucket."""

    def __init__(self, folder: Path, *, batch: FakeBatch | None = None) -> None:
        self.folder = folder
        self.bucket: Any = Bucket()
        self.buckets: dict[str, Bucket] = {}
        self.batches: dict[str, FakeBatch] = {HOME: batch or FakeBatch()}
        self.platform = FakeRunner()
        self.time = Time()
        self.signed_in = ACCOUNT.id
        """The account that everybody's credentials belong to."""
        self._ledgers: dict[str, Ledger] = {}

    @property
    def batch(self) -> FakeBatch:
        return self.batches[HOME]

    def cloud(self, **changes: Any) -> FakeCloud:
        return FakeCloud(self, replace(ACCOUNT, **changes))

    def ledger(self, machine: str = "ours") -> Ledger:
        if machine not in self._ledgers:
            file = self.folder / f"{machine}.db"
            file.write_bytes(empty_database())
            self._ledgers[machine] = Ledger(Database(f"sqlite:///{file}"))
        return self._ledgers[machine]

    def forget(self, machine: str) -> None:
        """Throw a machine's database away."""
        self._ledgers.pop(machine).engine.dispose()
        for file in self.folder.glob(f"{machine}.db*"):
            file.unlink()

    def anchor(self, made: Plan | None = None, name: str = "nightly", **changes: Any) -> Anchor:
        return replace(Anchor(name, made or plan(), PACKAGE.digest, "ada", self.time.now, ACCOUNT.home), **changes)

    def submit(self, anchor: Anchor | None = None, machine: str = "ours", **account: Any) -> Anchor:
        anchor = anchor or self.anchor()
        create(self.bucket, anchor)
        submit(anchor, PACKAGE, self.ledger(machine), self.cloud(**account))
        return anchor

    def launcher(self, anchor: Anchor, task: int, job: FakeJob | None = None) -> Driver:
        """Return a launcher of this task, as Batch starts it: of the newest array that holds it."""
        found = (job and [job]) or [job for job in self.batch.jobs if task in self._tasks(anchor, job)]
        manifest = S3Uri.parse(found[-1].manifest)
        submission = int(manifest.key.split("/")[3])
        index = self._tasks(anchor, found[-1]).index(task)
        child = Child(manifest, anchor.name, submission, index, len(found[-1].statuses), HOME)
        found[-1].statuses[index] = "RUNNING"
        control = self.cloud().control(anchor.name)
        history = TaskHistory(read_task(child, self.bucket), submission, control)
        return Driver(history, lambda _: self.platform, self.time.world())  # type: ignore[arg-type,return-value]

    def launch(self, anchor: Anchor, task: int, job: FakeJob | None = None) -> Exit:
        """Live one launcher's life, and tell Batch how it ended."""
        exit_code = self.launcher(anchor, task, job).drive()
        found = job or [one for one in self.batch.jobs if task in self._tasks(anchor, one)][-1]
        found.statuses[self._tasks(anchor, found).index(task)] = "SUCCEEDED" if exit_code == 0 else "FAILED"
        return exit_code

    def sync(self, anchor: Anchor, machine: str = "ours", **account: Any) -> int:
        self.ledger(machine).remember(anchor, ACCOUNT)
        return sync(anchor, self.ledger(machine), self.cloud(**account))

    def cancel(self, anchor: Anchor, machine: str = "ours", **account: Any) -> list[Stopped]:
        self.ledger(machine).remember(anchor, ACCOUNT)
        return cancel(anchor, self.ledger(machine), self.cloud(**account), self.time.sleep)

    def retry(self, anchor: Anchor, tasks: str = "", machine: str = "ours", *, again: bool = False) -> Ranges:
        self.ledger(machine).remember(anchor, ACCOUNT)
        wanted = Ranges.parse(tasks) if tasks else None
        return retry(anchor, wanted, self.ledger(machine), self.cloud(), again=again)

    def proposal(self, anchor: Anchor, tasks: str = "", machine: str = "ours") -> Proposal:
        """Return a plan by which these of the tasks that have not been started, or all, go to the other Region."""
        self.ledger(machine).remember(anchor, ACCOUNT)
        found = find_unstarted(anchor, self.ledger(machine), self.cloud())
        wanted = Ranges.parse(tasks) if tasks else found.tasks
        place = Place(LANES[1], "s3://data-eu-west-1/alps/", rate=1.8)
        shares = tuple(replace(share, places=(place,), usd=0.5) for share in pieces(found.plan.shares, wanted))
        lots = (Lot(LANES[1], 1.8, {"other": 1}),)
        waiting = float(len(found.tasks))
        return Proposal(found, Planned(shares, (), lots), waiting, waiting / 2, 1.0, 1.0, None, 0, fastest=False)

    def replan(self, anchor: Anchor, proposal: Proposal, machine: str = "ours") -> Moved:
        self.ledger(machine).remember(anchor, ACCOUNT)
        return replan(anchor, proposal, self.ledger(machine), self.cloud())

    def states(self, anchor: Anchor, machine: str = "ours") -> dict[int, str]:
        """Return the state of every task that the database has seen something of."""
        return {one.result.task: one.state.value for one in self.ledger(machine).known(anchor.name)}

    def _tasks(self, anchor: Anchor, job: FakeJob) -> list[int]:
        arrays = (array for made in submissions(self.bucket, anchor.name) for array in made.arrays(anchor.name))
        return next((list(array.tasks) for array in arrays if array.name == job.name), [])
