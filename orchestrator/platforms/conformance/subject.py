"""What the conformance suite tests a platform on: a sweep that is staged, a place, and how to start and watch there."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orchestrator.errors import QuotaExceeded, Throttled, Unreachable
from orchestrator.wire.names import training_name
from orchestrator.wire.result import Attempt
from orchestrator.wire.task import Limits, Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Planning, Request, Runner, Staging
    from orchestrator.wire.result import Outcome, TaskState
    from orchestrator.wire.task import Place
    from orchestrator.wire.template import Template

TRAINING = """
import argparse
import time

from orchestrator.training.process import rank, write_line

options = argparse.ArgumentParser()
options.add_argument("--then", default="end")
options.add_argument("-n", default="nothing")
given = options.parse_known_args()[0]
then = given.then
write_line(f"rank {rank()} begins, loss=0.25")
if then == "tell":
    write_line(f"n is {given.n}")
if then == "hang":
    time.sleep(3600)
if then == "fail":
    raise ValueError("the loss is not a number")
write_line(f"rank {rank()} ends")
"""
"""The code of the suite's trainings, to be packed as the sweep's entry point by `platforms.source.pack`.

It takes the parameters `then`, which is end, tell, fail or hang, and `n`, which it tells."""

_START = """
import json, os, signal, sys
from orchestrator.aws.session import Clients
from orchestrator.platforms.base import Request
from orchestrator.platforms.registry import make_runner
from orchestrator.wire.task import Lane

lane, *request = json.load(sys.stdin)
lane = Lane.parse(lane)
make_runner(lane.platform, Clients()).start(Request(lane, *request))
os.killpg(0, signal.SIGKILL)
"""
"""A process that starts a training, and is killed with all that it has left in its process group."""

_LOG = """
import json, sys
from orchestrator.aws.session import Clients
from orchestrator.platforms.registry import make_runner
from orchestrator.wire.result import Attempt
from orchestrator.wire.template import Template

attempt, template = json.load(sys.stdin)
attempt = Attempt.from_json(attempt)
runner = make_runner(attempt.lane.platform, Clients())
json.dump(list(runner.logs(attempt, Template.from_json(template), {})), sys.stdout)
"""
"""A process that knows nothing of a training but what is stored of it, and writes its log down."""


@dataclass(frozen=True)
class Subject:
    """A platform, installed, and a sweep that it is to run. All tests may share a subject, or have one each."""

    planning: Planning
    """The platform's planning part, made from settings that a team would have."""
    connect: Callable[[], Runner]
    """Makes a runner, as another process would make its own."""
    staging: Staging
    """The sweep and the Region of the place. The sweep's code is TRAINING, and `staging.source` is where it lies."""
    clients: Clients
    place: Place
    """The place where trainings run, one instance each."""
    elsewhere: Place
    """A place in another Region."""
    wait: Callable[[], None]
    """Waits a moment; called between two looks at a training."""
    spot: Place | None = None
    """A place of spot instances; None if the platform has none."""
    pair: Place | None = None
    """A place of two instances, each of which runs the code under a rank of its own; None if the platform has none."""
    looks: int = 600
    """Looks at a training after which it is given up."""
    short_s: int = 3
    """Seconds after which a training is to run into its time-out."""

    @cached_property
    def template(self) -> Template:
        """The template of the place's Region."""
        return self.planning.stage(self.staging, self.clients)

    def task(self, number: int, then: str = "end") -> Task:
        """Return a task whose training ends so."""
        return Task(number, f"key-{number}", "data@1", {"then": then}, (self.place,), Limits(3600))

    def request(self, task: Task, place: Place | None = None, number: int = 1, max_runtime_s: int = 3600) -> Request:
        """Return the request of this attempt, at the task's place unless another is given."""
        return self.connect().request(self.template, task, place or task.places[0], number, max_runtime_s)

    def attempt(self, task: Task, place: Place | None = None, number: int = 1, max_runtime_s: int = 3600) -> Attempt:
        """Return the attempt as a launcher would have recorded it, whether it was started or not."""
        at = place or task.places[0]
        return Attempt(
            task=task.number,
            number=number,
            place=0,
            lane=at.lane,
            training=training_name(self.template.run, task.number, number),
            request_hash=self.request(task, at, number, max_runtime_s).hash,
            max_runtime_s=max_runtime_s,
            recorded_at=0.0,
            rate=at.rate,
            site=at.site,
            instances=at.instances,
            output=self.template.output,
        )

    def start(self, task: Task, place: Place | None = None, max_runtime_s: int = 3600) -> Attempt:
        """Start the task's first attempt, and return it."""
        self.send(self.request(task, place, 1, max_runtime_s))
        return self.attempt(task, place, 1, max_runtime_s)

    def send(self, request: Request) -> None:
        """Start the training by a runner of its own, as often as it takes."""
        for _ in range(self.looks):
            try:
                return self.connect().start(request)
            except (QuotaExceeded, Throttled, Unreachable):
                self.wait()
        raise TimeoutError(f"{request.training} cannot be started")

    def send_and_die(self, request: Request) -> None:
        """Start the training in another process, which is killed at once, with its process group."""
        given = [str(request.lane), request.training, request.body, request.hash]
        done = _in_another_process(_START, given)
        if done.returncode != -9:
            raise RuntimeError(f"{request.training} was not started: {done.stderr}")

    def outcome(self, attempt: Attempt, state: TaskState | None = None) -> Outcome:
        """Return the outcome once the training is in this state, or has ended. Raise TimeoutError when it never is."""
        for _ in range(self.looks):
            outcome = self.connect().poll(attempt)
            if outcome and (outcome.state.terminal or outcome.state is state):
                return outcome
            self.wait()
        raise TimeoutError(f"{attempt.training} is neither {state} nor ended after {self.looks} looks")

    def log(self, attempt: Attempt, *, first_instance: bool = False) -> list[tuple[str, str]]:
        """Return the whole log as it is now."""
        return list(self.connect().logs(attempt, self.template, {}, first_instance=first_instance))

    def log_elsewhere(self, attempt: Attempt) -> list[tuple[str, str]]:
        """Return the whole log as another process sees it, which has nothing but what is stored."""
        done = _in_another_process(_LOG, [attempt.to_json(), self.template.to_json()])
        if done.returncode:
            raise RuntimeError(f"the log of {attempt.training} cannot be read: {done.stderr}")
        return [(stream, line) for stream, line in json.loads(done.stdout)]


def _in_another_process(code: str, given: Any) -> subprocess.CompletedProcess[str]:
    """Run Python code in an empty folder and a process group of its own, with this on its standard input as JSON."""
    with tempfile.TemporaryDirectory(prefix="sweep-conformance-") as folder:
        return subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(given),
            cwd=folder,
            start_new_session=True,
            capture_output=True,
            text=True,
            check=False,
        )
