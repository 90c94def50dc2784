"""A world for nights: data in Regions, a control bucket in memory, runs that end after an hour, and a movable time.

The catalog, the planner, the goal and the conductor are the real ones. Who submits is not: what would have been trained
is written down here, task by task, so that it can be counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from orchestrator.aws.s3 import Listed
from orchestrator.catalog import snapshot as snapshot_module
from orchestrator.db.database import Database
from orchestrator.db.engine import engine as open_engine
from orchestrator.errors import NotFound, Unreachable, UsageError
from orchestrator.nightly import aftermath
from orchestrator.nightly import conduct as conduct_module
from orchestrator.nightly.conduct import Conducted, Conductor
from orchestrator.nightly.freeze import freeze
from orchestrator.nightly.goal import write_goal
from orchestrator.nightly.picking import marks as marks_module
from orchestrator.nightly.picking import pick as pick_module
from orchestrator.nightly.shelf import Entry, Shelf
from orchestrator.orchestrator import Orchestrator
from orchestrator.settings.settings import Settings
from orchestrator.snapshots import Snapshots
from orchestrator.spec.schedule.schedule import Schedule
from orchestrator.spec.sweep import Sweep
from orchestrator.wire.result import TaskState
from tests.launcher.fakes import Bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

    from orchestrator.errors import SweepError
    from orchestrator.nightly.goal import Goal
    from orchestrator.plan.plan import Plan

HOUR = 3600.0
ROLE = "arn:aws:iam::123456789012:role/sweep"
REGIONS = ("eu-central-1", "eu-west-1")
SWEEP: dict[str, Any] = {
    "name": "steering",
    "train": {
        "source": "training",
        "entry_point": "train.py",
        "image": "123456789012.dkr.ecr.{region}.amazonaws.com/steering:1",
        "metrics": {"loss": "loss=([0-9.]+)"},
    },
    "space": {"lr": [0.1, 0.01]},
    "objective": {"minimize": "loss"},
    "where": {"instance_types": ["ml.c5.xlarge"]},
    "runtime": 0.5,
}
PRICES = [
    "region,instance_type,purchase,usd_per_hour,observed_at",
    *(f"{region},ml.c5.xlarge,on_demand,0.2,2026-01-01" for region in REGIONS),
]


class Killed(BaseException):
    """The conductor's process is gone."""


@dataclass(frozen=True)
class Training:
    """A training that ended, by what it trained."""

    night: str
    campaign: str
    content: str
    lr: float
    code: str
    image: str
    done: bool


@dataclass
class World:
    """All that is there besides the conductor."""

    folder: Path
    bucket: Bucket = field(default_factory=Bucket)
    moment: float = 0.0
    data: dict[str, dict[str, str]] = field(default_factory=dict)
    """The content of each campaign in each Region where it lies."""
    image: str = "sha256:1"
    down: set[str] = field(default_factory=set)
    fails: Callable[[str, float], bool] = lambda *_: False
    """Whether the training of a campaign with a learning rate fails."""
    runs: dict[str, Any] = field(default_factory=dict)
    trained: list[Training] = field(default_factory=list)
    submits: int = 0
    cancelled: list[str] = field(default_factory=list)
    before: Callable[[str], None] = lambda _: None
    pushed: bool = False
    unmeasured: bool = False
    """True if challengers lack their metric."""
    closed: list[str] = field(default_factory=list)
    """Runs that were settled and told of."""
    refusal: SweepError | None = None
    """What every submit is refused with."""
    judged: list[tuple[str, str]] = field(default_factory=list)
    synced: set[str] = field(default_factory=set)
    """Runs whose results the conductor's process of this moment knows."""
    looked_at: list[str] = field(default_factory=list)
    """Runs of earlier nights that a tick has looked at, for what holds them up."""
    alarms: list[tuple[str, ...]] = field(default_factory=list)

    @classmethod
    def make(cls, folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
        world = cls(folder)
        world.bucket.clients = None  # type: ignore[attr-defined]
        world.bucket.clock = lambda: world.moment
        monkeypatch.setattr(snapshot_module, "open_engine", lambda url: open_engine(_prepared(url)))
        monkeypatch.setattr(marks_module, "S3", world._listing)
        monkeypatch.setattr(pick_module, "pin_image", lambda uri, *_: f"{uri.partition(':')[0]}@{world.image}")
        monkeypatch.setattr(aftermath, "close_run", lambda _, run: world.close(run.name))
        monkeypatch.setattr(aftermath, "judge_run", lambda _, run, who: world.judge(run.name, who))
        monkeypatch.setattr(aftermath, "tell_if_stuck", lambda _, run: world.looked_at.append(run))
        monkeypatch.setattr(conduct_module, "raise_alarm", lambda _goal, *said: world.alarms.append(said))
        (folder / "training").mkdir()
        world.write_code("print('loss=1')\n")
        return world

    def now(self) -> float:
        return self.moment

    def sleep(self, seconds: float) -> None:
        self.before("sleep")
        self.moment += seconds

    def close(self, run: str) -> None:
        """Settle a run and tell of it: once, however often it is asked for."""
        if run not in self.closed:
            self.closed.append(run)

    def judge(self, run: str, who: str) -> str:
        """Hold a run against the champion; its evaluation may be missing."""
        self.before("judge")
        assert run in self.synced, "none of its tasks is done, as far as this process knows"
        if self.unmeasured:
            raise UsageError("task 0 has no val_loss, so it cannot be held against the champion")
        self.judged.append((run, who))
        return f"promoted: task 0 of {run}"

    def write_code(self, text: str) -> None:
        (self.folder / "training" / "train.py").write_text(text)

    def lies(self, campaign: str, content: str, *regions: str) -> None:
        """From now on a campaign has this content in these Regions, and the pushed catalog knows it."""
        self.data[campaign] = dict.fromkeys(regions or REGIONS[:1], content)
        self.pushed = False

    def push(self) -> None:
        """What somebody does whose catalog has changed."""
        self.pushed = True
        folder = self.folder / "catalog"
        folder.mkdir(exist_ok=True)
        lines = {
            "campaigns": ["campaign", *self.data],
            "datasets": ["campaign,version,bytes,created_at", *(f"{name},1,1000,2026-01-01" for name in self.data)],
            "replicas": [
                "dataset,region,s3_uri",
                *(f"{name}@1,{region},s3://data-{region}/{name}/" for name in self.data for region in self.data[name]),
            ],
            "prices": PRICES,
        }
        for kind, rows in lines.items():
            (folder / f"{kind}.csv").write_text("\n".join(rows) + "\n")
        catalog = self.team(self.settings()).catalog
        catalog.load([folder])
        Snapshots(self.bucket).push(catalog, "ada")  # type: ignore[arg-type]

    def settings(self) -> Settings:
        return Settings(
            database=_prepared(f"sqlite:///{self.folder / 'sweep.db'}"),
            region="eu-central-1",
            bucket="control",
            region_bucket="team-{region}",
            role=ROLE,
            launcher_image="launcher",
            owner="ada",
        )

    def team(self, settings: Settings) -> Team:
        return Team(settings, self)

    def schedule(self, name: str = "nightly", **when: Any) -> Entry:
        """Freeze the sweep as it is now, as a schedule."""
        changes = when.pop("sweep", {})
        sweep = Sweep.model_validate({**SWEEP, **changes, "folder": self.folder})
        asked = Schedule.model_validate({"cron": "0 2 * * *", "timezone": "Europe/Berlin", **when})
        frozen = freeze(self.team(self.settings()), sweep, asked, name)
        write_goal(self.bucket, frozen.goal, frozen.package)  # type: ignore[arg-type]
        shelf = Shelf(self.bucket)  # type: ignore[arg-type]
        entry = Entry(name, frozen.goal.digest, self.moment, self.moment, "ada")
        if not shelf.create(entry):
            entry = shelf.change(name, goal=frozen.goal.digest)
        return entry

    def conductor(self, name: str = "nightly") -> Conductor:
        """A conductor's process as it begins: what it opens is its own."""
        return Conductor(self.bucket, name, self, lambda goal, _: self._open(goal))  # type: ignore[arg-type]

    def tick(self, by: str = "job 1", name: str = "nightly") -> list[Conducted]:
        if not self.pushed:
            self.push()
        self.synced.clear()
        return list(self.conductor(name).tick(by))

    def _open(self, goal: Goal) -> Team:
        file = self.folder / "pulled.db"
        file.unlink(missing_ok=True)
        Snapshots(self.bucket).pull(file)  # type: ignore[arg-type]
        return self.team(goal.settings(f"sqlite:///{file}"))

    def _listing(self, _: Any, region: str, bucket: str) -> SimpleNamespace:
        """What S3 lists in a Region's bucket."""

        def listed(prefix: str) -> Iterator[Listed]:
            if region in self.down:
                raise Unreachable("no answer", where=region)
            campaign = prefix.strip("/")
            if campaign not in self.data or region not in self.data[campaign]:
                raise NotFound("no such bucket", where=bucket)
            yield Listed(f"{prefix}rows.csv", f'"{self.data[campaign][region]} in {region}"', 1000)

        return SimpleNamespace(list=listed)


@cache
def _empty_database() -> bytes:
    """A database without rows, whose tables are made once for all tests of a process."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "empty.db"
        engine = Database(f"sqlite:///{file}").engine
        engine.dispose()  # the last one out writes all of it into the file
        return file.read_bytes()


def _prepared(url: str) -> str:
    """Return the URL, with a database at it."""
    file = Path(url.removeprefix("sqlite:///"))
    if not file.exists():
        file.write_bytes(_empty_database())
    return url


class Team(Orchestrator):
    """The real Orchestrator, but for who submits and who runs."""

    def __init__(self, settings: Settings, world: World) -> None:
        super().__init__(settings)
        self.__dict__["control"] = world.bucket
        account = SimpleNamespace(region_bucket="team-{region}")
        self.__dict__["cloud"] = SimpleNamespace(located=lambda uri, _: uri, s3=world.bucket, account=account)
        self._world = world

    def submit(self, plan: Plan, *, name: str | None = None, again: bool = False, package: Any = None) -> Any:  # noqa: ARG002
        world = self._world
        world.before("submit")
        if world.refusal:
            raise world.refusal
        there = world.runs.get(name or "")
        if there is not None and there.plan.id != plan.id:
            raise UsageError("another plan")
        if there is None:
            world.submits += 1
            assert not any(lane.region in world.down for share in plan.shares for lane in (share.places[0].lane,))
            world.runs[name or ""] = _Run(name or "", plan, package.digest, world)
        world.before("submitted")
        return world.runs[name or ""]

    def run(self, name: str | None = None) -> Any:
        if name not in self._world.runs:
            raise UsageError(f"no run {name!r}")
        return self._world.runs[name]


class _Run:
    """A run that ends an hour after it began."""

    def __init__(self, name: str, plan: Plan, code: str, world: World) -> None:
        self.name, self.plan, self.world, self.cancelled = name, plan, world, False
        self.ends_at = world.moment + HOUR
        self.states = {}
        for task in range(plan.tasks):
            place = plan.share(task).places[0]
            campaign = plan.datasets[plan.share(task).dataset].name.partition("@")[0]
            lr = float(plan.point(task)["lr"])
            done = not world.fails(campaign, lr)
            self.states[task] = TaskState.DONE if done else TaskState.FAILED
            content = world.data[campaign][place.lane.region]
            world.trained.append(Training(name, campaign, content, lr, code[:6], world.image, done))

    def sync_as_far_as_possible(self, *, documents: bool = True) -> int:  # noqa: ARG002
        self.world.synced.add(self.name)
        return 0

    def status(self) -> Any:
        finished = self.cancelled or self.world.moment >= self.ends_at
        counts = dict.fromkeys(TaskState, 0)
        for state in self.states.values():
            counts[state if finished else TaskState.RUNNING] += 1
        return SimpleNamespace(tasks=self.plan.tasks, counts=counts, finished=finished, paused="", usd=0.1)

    def results(self) -> list[Any]:
        return [SimpleNamespace(task=task, state=state) for task, state in self.states.items()]

    def cancel(self) -> list[Any]:
        self.world.cancelled.append(self.name)
        self.cancelled = True
        return []
