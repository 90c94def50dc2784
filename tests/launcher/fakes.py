"""A control bucket in memory, a platform that does what its test says, and a world in which waiting takes no time."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from orchestrator.aws.control import Control
from orchestrator.aws.s3 import Listed, Stored, Written
from orchestrator.errors import AlreadyExists, NotFound, SweepError
from orchestrator.launcher.drive import Driver
from orchestrator.launcher.task_history import TaskHistory
from orchestrator.launcher.world import World
from orchestrator.platforms.base import Request
from orchestrator.wire.names import digest, training_name
from orchestrator.wire.result import Attempt, Cause, Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.wire.exits import Exit

RUN = "nightly"
REGIONS = ("us-west-2", "eu-west-1", "us-east-1")
PLACES = tuple(
    Place(Lane("fake", region, "ml.g5.xlarge", Purchase.SPOT), f"s3://data-{region}/", rate=3.6) for region in REGIONS
)


def task(**changes: Any) -> Task:
    body = {
        "number": 7,
        "key": "key",
        "dataset": "paris@1",
        "point": {"lr": 0.1},
        "places": PLACES,
        "limits": Limits(3600),
    }
    return Task(**body | changes)


class Bucket:
    """A bucket in memory, with what `Control` needs of S3; `before` is called at every operation."""

    bucket = "control"

    def __init__(self) -> None:
        self.objects: dict[str, Stored] = {}
        self.writes = 0
        self.before: Callable[[str], None] = lambda _: None
        self.clock: Callable[[], float] = time.time
        """S3's own clock."""
        self.regions: dict[str, str | SweepError] = {f"data-{region}": region for region in REGIONS}
        """The Regions of other buckets, or why they are not told."""
        self.regions_asked: list[str] = []
        self.others: dict[tuple[str, str], Bucket] = {}
        """Other buckets, by Region and name."""
        self.modified: dict[str, float] = {}

    def put_once(self, key: str, body: bytes) -> bool:
        try:
            self.put_if(key, body, None)
        except AlreadyExists:
            return False
        return True

    def put_if(self, key: str, body: bytes, etag: str | None) -> str:
        return self.write(key, body, etag).etag

    def write(self, key: str, body: bytes, etag: str | None) -> Written:
        self.before("put")
        there = self.objects.get(key)
        if (there.etag if there else None) != etag:
            raise AlreadyExists("lost", where=key)
        self.writes += 1
        self.objects[key] = Stored(body, f'"{self.bucket}-{self.writes}"')
        self.modified[key] = self.clock()
        return Written(self.objects[key].etag, int(self.clock() * 1000))

    def delete(self, key: str) -> None:
        self.before("delete")
        self.objects.pop(key, None)

    def get(self, key: str) -> Stored:
        self.before("get")
        if key not in self.objects:
            raise NotFound("no such key", where=key)
        return replace(self.objects[key], moment=int(self.clock() * 1000))

    def list(self, prefix: str, after: str = "") -> Iterator[Listed]:
        self.before("list")
        for key, stored in sorted(self.objects.items()):
            if key.startswith(prefix) and key > after:
                yield Listed(key, stored.etag, len(stored.body), self.modified.get(key, 0.0))

    def level(self, prefix: str) -> Iterator[Listed]:
        return (item for item in self.list(prefix) if "/" not in item.key.removeprefix(prefix))

    def exists(self, key: str) -> bool:
        self.before("head")
        return key in self.objects

    def folders(self, prefix: str) -> Iterator[str]:
        names = {key.removeprefix(prefix).partition("/")[0] for key in self.objects if key.startswith(prefix)}
        return iter(f"{prefix}{name}/" for name in sorted(names))

    def get_range(self, key: str, first: int, stop: int) -> bytes:
        return self.get(key).body[first:stop]

    def region_of(self, bucket: str) -> str:
        """Return where another bucket lies. That is no operation on this one, so `before` does not hear of it."""
        self.regions_asked.append(bucket)
        told = self.regions.get(bucket, NotFound("no such bucket", where=bucket))
        if isinstance(told, SweepError):
            raise told
        return told

    def elsewhere(self, region: str, bucket: str) -> Bucket:
        if (region, bucket) not in self.others:
            self.others[region, bucket] = made = Bucket()
            made.bucket, made.clock = bucket, self.clock
        return self.others[region, bucket]

    def uri(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"


def copy_in_memory(source: Any, item: Listed, target: Any, uploads: object, go_on: Callable[[], bool]) -> bool:
    """Copy as `aws.copies.copy_object` does, from one bucket in memory to another."""
    del uploads, go_on
    there = target.s3.objects.get(target.key)
    if source.objects[item.key].etag != item.etag or (there.etag if there else None) != target.over:
        raise AlreadyExists("it has changed", where=source.uri(item.key))
    target.s3.objects[target.key] = source.objects[item.key]
    target.s3.modified[target.key] = target.s3.clock()
    return True


def control(metrics: dict[str, str]) -> Control:
    made = Control(Bucket(), RUN)  # type: ignore[arg-type]
    for place in PLACES:
        template = Template("fake", place.lane.region, RUN, "ada", {}, "s3://out", poll_s=30, metrics=metrics)
        made.s3.put_once(made.keys.template("fake", place.lane.region), _json(template))
    return made


def _json(template: Template) -> bytes:
    return json.dumps(template.to_json()).encode()


@dataclass
class Life:
    """The life of one attempt: refusals of its start, then what each look at it shows; the last one stays."""

    refusals: list[SweepError] = field(default_factory=list)
    looks: list[tuple[TaskState, Cause]] = field(default_factory=lambda: [DONE])


DONE = (TaskState.DONE, Cause.NONE)
RUNNING = (TaskState.RUNNING, Cause.NONE)
STOPPED = (TaskState.CANCELLED, Cause.STOPPED)


def failed(cause: Cause) -> tuple[TaskState, Cause]:
    return TaskState.FAILED, cause


@dataclass
class Training:
    request: Request
    looks: list[tuple[TaskState, Cause]]
    stopped: bool = False

    @property
    def alive(self) -> bool:
        return not self.looks[0][0].terminal


class FakeRunner:
    """A runner under which attempt n lives `lives[n-1]`; an attempt beyond them is done at the first look."""

    def __init__(self, *lives: Life, hours: float = 0.5) -> None:
        self.lives = list(lives)
        self.hours = hours
        self.trainings: dict[tuple[str, str], Training] = {}
        self.created: list[str] = []
        self.start_calls: list[str] = []
        self.written: dict[str, list[str]] = {}
        """Lines of each training's log."""
        self.started_at: float | None = None
        """When every training began, if that matters."""
        self.before: Callable[[str], None] = lambda _: None

    def request(self, template: Template, task: Task, place: Place, attempt: int, max_runtime_s: int) -> Request:
        body = {"data": place.s3_uri, "point": task.point, "seconds": max_runtime_s, "attempt": attempt}
        return Request(place.lane, training_name(template.run, task.number, attempt), body, digest(body))

    def start(self, request: Request) -> None:
        self.before("start")
        self.start_calls.append(request.training)
        life = self._life(request.body["attempt"])
        there = self.trainings.get((request.lane.region, request.training))
        if there:
            if there.request.hash != request.hash:
                raise AlreadyExists("the name belongs to another training")
            return
        if life.refusals:
            raise life.refusals.pop(0)
        self.trainings[request.lane.region, request.training] = Training(request, list(life.looks))
        self.created.append(f"{request.training} in {request.lane.region}")

    def poll(self, attempt: Attempt) -> Outcome | None:
        self.before("poll")
        training = self.trainings.get((attempt.lane.region, attempt.training))
        if training is None:
            return None
        if len(training.looks) > 1:
            training.looks.pop(0)
        state, cause = training.looks[0]
        hours = self.hours if state.terminal else 0
        return Outcome(
            number=attempt.number,
            lane=attempt.lane,
            training=attempt.training,
            state=state,
            cause=cause,
            reason=cause.value,
            seconds=hours * 3600,
            billable_s=hours * 3600,
            usd=hours * attempt.rate * attempt.instances,
            instances=attempt.instances,
            started_at=self.started_at,
        )

    def stop(self, attempt: Attempt) -> None:
        self.before("stop")
        training = self.trainings.get((attempt.lane.region, attempt.training))
        if training and training.alive:
            training.stopped = True
            training.looks = [RUNNING, STOPPED]

    def logs(
        self,
        attempt: Attempt,
        template: Template,  # noqa: ARG002
        after: dict[str, str],
        *,
        first_instance: bool = False,
    ) -> Iterator[tuple[str, str]]:
        self.before("logs")
        stream = f"{attempt.training}/algo-{1 if first_instance else 2}-1"
        lines = self.written.get(attempt.training, [])
        for number in range(int(after.get(stream, 0)), len(lines)):
            after[stream] = str(number + 1)
            yield stream, lines[number]

    def ended(self, region: str, run: str, since: float) -> Iterator[frozenset[str]]:  # noqa: ARG002
        return iter(())

    @property
    def alive(self) -> list[str]:
        return [training.request.training for training in self.trainings.values() if training.alive]

    def _life(self, attempt: int) -> Life:
        return self.lives[attempt - 1] if attempt <= len(self.lives) else Life()


@dataclass
class Time:
    """The time, which sleeping moves."""

    now: float = 1_000_000.0
    slept: list[float] = field(default_factory=list)
    on_sleep: Callable[[], None] = lambda: None
    term: bool = False

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        self.on_sleep()

    def world(self, siblings: int = 1, uniform: Callable[[float, float], float] = lambda _, high: high) -> World:
        return World(lambda: self.now, self.sleep, lambda: self.term, uniform, siblings)


class Bench:
    """One task and all that a launcher of it meets. `launch` is one launcher's life."""

    def __init__(
        self, *lives: Life, submission: int = 1, metrics: dict[str, str] | None = None, **changes: Any
    ) -> None:
        self.task = task(**changes)
        self.control = control(metrics or {})
        self.platform = FakeRunner(*lives)
        self.time = Time()
        self.submission = submission

    def driver(self, world: World | None = None) -> Driver:
        history = TaskHistory(self.task, self.submission, self.control)
        driver = Driver(history, lambda _: self.platform, world or self.time.world())
        driver.moves.copy_object = copy_in_memory
        return driver

    def launch(self) -> Exit:
        return self.driver().drive()

    @property
    def result(self) -> Result:
        found = self.control.result(self.task.number)
        assert found
        return found[0]

    @property
    def attempts(self) -> list[str]:
        return [f"{one.number} in {one.lane.region}" for one in self.control.attempts(self.task.number)]
