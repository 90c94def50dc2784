"""An Orchestrator that has one run and no cloud. `python -m tests.cli.fake status` is `sweep status` of it."""

from __future__ import annotations

import os
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from orchestrator.cli import app
from orchestrator.cli.session import Session
from orchestrator.errors import UsageError
from orchestrator.runs.artifacts import Fetched
from orchestrator.runs.ending.proof import Stopped
from orchestrator.runs.views.costs import CostRow
from orchestrator.runs.views.logs import LogLine
from orchestrator.runs.views.status import RunRow, Status
from orchestrator.runs.views.tasks import TaskRow
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from orchestrator.runs.sending.replan import Moved
    from orchestrator.runs.views.beside import Beside

PENDING, RUNNING, DONE = TaskState.PENDING, TaskState.RUNNING, TaskState.DONE
FAILED, CANCELLED = TaskState.FAILED, TaskState.CANCELLED
NOVEMBER = 1_795_000_000.0
OBJECTIVE = SimpleNamespace(minimize="loss", maximize=None, of="last", metric="loss")
"""As `spec.sweep.Objective`, whose import would take each program of these tests as long as all else."""
PLAN = SimpleNamespace(sweep=SimpleNamespace(objective=OBJECTIVE))


def status(**counts: int) -> Status:
    """`status(done=3, failed=1)`, all of it in Ireland, at a dollar a task that ended."""
    every = {state: counts.get(state.value, 0) for state in TaskState}
    ended = sum(count for state, count in every.items() if state.terminal)
    return Status("nightly", NOVEMBER, sum(every.values()), every, {"eu-west-1": every}, float(ended), cancelled=False)


def row(task: int, loss: float | None = None, **changes: Any) -> TaskRow:
    made = TaskRow(
        task=task,
        dataset="oslo@1",
        point={"lr": 0.1, "batch": 32},
        state=DONE if loss is not None else PENDING,
        attempt=1,
        platform="sagemaker",
        region="eu-west-1",
        instance_type="ml.m5.xlarge",
        purchase="spot",
        training=f"nightly-{task}-1",
        seconds=75.0,
        usd=0.0042,
        metrics={} if loss is None else {"loss": loss},
        score=loss,
        reason="",
    )
    return replace(made, **changes)


@dataclass
class FakeRun:
    name: str = "nightly"
    plan: Any = field(default_factory=lambda: PLAN)
    statuses: list[Status] = field(default_factory=lambda: [status(done=2)])
    rows: list[TaskRow] = field(default_factory=lambda: [row(1, 0.25), row(0, 0.5)])
    lines: list[LogLine] = field(default_factory=lambda: [LogLine(3, "algo-1", "loss=0.5")])
    calls: list[Any] = field(default_factory=list)
    endless: bool = False

    def sync(self, *, documents: bool = True) -> int:  # noqa: ARG002
        self.calls.append("sync")
        return 2

    sync_as_far_as_possible = sync

    def status(self) -> Status:
        return self.statuses[-1]

    def conclude(self) -> None:
        self.calls.append("conclude")

    def watch(self) -> Iterator[Status]:
        yield from self.statuses
        while self.endless:
            time.sleep(0.02)
            yield self.statuses[-1]

    def results(self, tasks: Ranges | None = None) -> list[TaskRow]:
        return [row for row in self.rows if tasks is None or row.task in tasks]

    def best(self) -> TaskRow | None:
        return self.rows[0] if self.rows and self.rows[0].score is not None else None

    def fetch_artifacts(self, rows: Iterable[TaskRow], folder: Path, *, force: bool = False) -> Iterator[Fetched]:
        self.calls.append(("fetch", force))
        for row in rows:
            path = folder / str(row.task) / "model.tar.gz"
            path.parent.mkdir(parents=True)
            path.write_bytes(b"12345")
            yield Fetched(row.task, row.artifact, path)

    def measure(self, rows: list[TaskRow], regexes: dict[str, Any], *, keep: bool) -> list[TaskRow]:
        self.calls.append(("measure", {name: regex.pattern for name, regex in regexes.items()}, keep))
        return [replace(row, metrics={**row.metrics, **dict.fromkeys(regexes, 0.9)}) for row in rows]

    def with_curves(self, rows: list[TaskRow]) -> list[TaskRow]:
        self.calls.append("curves")
        return rows

    def cost(self) -> list[CostRow]:
        return [CostRow("sagemaker", "eu-west-1", "ml.m5.xlarge", "spot", 2, 1.5, 0.25)]

    def beside(self, *, stored: bool = True) -> Beside:
        from orchestrator.runs.views.beside import Beside, Stored

        kept = Stored(objects=9, bytes=3 * 10**9, usd_per_month=0.07, is_whole=True)
        return Beside(1.5, 0.0186, copies=2, copies_usd=0.04, stored=kept if stored else None)

    def logs(self, tasks: Ranges | None = None, *, follow: bool = False) -> Iterator[LogLine]:
        self.calls.append(("logs", str(tasks), follow))
        yield from self.lines
        while self.endless:
            time.sleep(0.02)
            yield self.lines[-1]

    def cancel(self) -> list[Stopped]:
        self.calls.append("cancel")
        self.statuses.append(status(cancelled=2))
        return [Stopped("us-east-1", arrays=1, asked=1, ended=2, never_begun=0)]

    def limit(self, slots: dict[str, int]) -> None:
        self.calls.append(("limit", slots))
        self.statuses.append(replace(self.statuses[-1], limit=slots))

    most_slots = 24

    def retry(self, tasks: Ranges | None = None, *, again: bool = False) -> Ranges:
        self.calls.append(("retry", str(tasks), again))
        return Ranges.of([3, 7, 8]) if tasks is None else tasks

    def replan(self, proposal: Any) -> Moved:
        from orchestrator.runs.sending.replan import Moved

        self.calls.append("replan")
        started = Ranges.of([0])
        return Moved(2, proposal.planned.tasks.minus(started), started)


@dataclass
class FakeOrchestrator:
    opened: FakeRun = field(default_factory=FakeRun)
    catalog: Any = None
    made: Any = None
    calls: list[Any] = field(default_factory=list)
    interrupted: bool = False
    stale_because: str = ""
    running: FakeRun | None = None
    proposal: Any = None

    def runs(self, *, sync: bool = True) -> list[RunRow]:  # noqa: ARG002
        return [RunRow("nightly", NOVEMBER, 24, "running", 1.5)]

    def run(self, name: str | None = None) -> FakeRun:
        if name not in (None, self.opened.name):
            raise UsageError(f"no run {name!r}", hint="`sweep runs` lists them")
        return self.opened

    def plan(self, sweep: Any, classic: Any = None, *, time_limit_s: float | None = None) -> Any:  # noqa: ARG002
        self.calls.append(("plan", sweep.name, classic))
        return self.made

    def as_of(self, moment: Any) -> Any:
        assert moment is None
        return nullcontext(self)

    def replan(self, plan: Any) -> Any:
        self.calls.append(("replan", plan.id))
        return plan

    def propose(self, run: FakeRun) -> Any:
        self.calls.append(("propose", run.name))
        return self.proposal

    def stale(self, plan: Any) -> str:  # noqa: ARG002
        return self.stale_because

    def run_of(self, sweep: Any, name: str | None = None) -> FakeRun | None:  # noqa: ARG002
        return self.running

    def requests(self, plan: Any, *, name: str | None = None, again: bool = False) -> dict[str, Any]:  # noqa: ARG002
        return {"run": name or plan.id, "requests": [{"operation": "SubmitJob"}], "left_out": ["a million more"]}

    def submit(self, plan: Any, *, name: str | None = None, again: bool = False) -> FakeRun:
        self.calls.append(("submit", plan.id, name, again))
        if self.interrupted:
            raise KeyboardInterrupt
        return self.opened


def main() -> int:
    """Run `sweep` with the fake, as a program of its own: signals, pipes and terminals need one."""
    run = FakeRun(endless="endless" in os.environ.get("FAKE", ""))
    if "many" in os.environ.get("FAKE", ""):
        run.rows = [row(task, 0.5) for task in range(50_000)]
    if run.endless:
        run.statuses = [status(running=2)]
    Session.orchestrator = FakeOrchestrator(run)  # type: ignore[assignment]
    try:
        return app.main()
    finally:
        if "unwinding" in os.environ.get("FAKE", ""):
            sys.stderr.write("stopped what was started\n")


if __name__ == "__main__":
    sys.exit(main())
