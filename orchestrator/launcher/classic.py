"""A child whose manifest is a plain file of two columns: nobody has planned it, so its task is made here.

Batch's own name of the job is the run's, and the line's number is the task's. So whoever starts a child of it again
finds what was recorded. What all lines have in common, the job definition says in its environment: docs/catalog.md has
the variables.
"""

from __future__ import annotations

import json
import logging
import math
import re
from typing import TYPE_CHECKING, Any

from orchestrator.aws.jobs.batch import Batch
from orchestrator.errors import AccessError, Throttled, Unreachable, UsageError
from orchestrator.launcher.task_history import Standing, TaskHistory
from orchestrator.platforms.registry import DEFAULT, make_runner
from orchestrator.platforms.unplanned import MakesTemplates
from orchestrator.wire.manifest import BadLine, ClassicLine, parse
from orchestrator.wire.names import digest
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task
from orchestrator.wire.template import Template
from orchestrator.wire.variables import as_object, number, required

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.aws.control import Control
    from orchestrator.aws.s3 import S3
    from orchestrator.launcher.child import Child
    from orchestrator.launcher.world import World

log = logging.getLogger(__name__)

SUBMISSION = 1
_HEADER = ("region", "s3_uri")
_LONGEST_S = 28 * 86_400
"""Seconds that a training may run at the most, by AWS's own limit."""
_TRIES = 8
"""Times that Batch is asked whether a child was terminated: all children of an array ask at once."""


def make_history(child: Child, environ: Mapping[str, str], control: Control, world: World) -> TaskHistory:
    """Return the history of the child's task, whose template is written down.

    Raise UsageError, naming the line or the variable, when there is no such task.
    """
    task = read_classic_task(child, control.s3, environ)
    _write_template(task, environ, control)
    me = environ["AWS_BATCH_JOB_ID"]
    jobs = list(dict.fromkeys((me, me.partition(":")[0])))
    batch = Batch(control.s3.clients, child.region)
    return ClassicHistory(task, control, world, lambda: any(job.terminated for job in batch.describe(jobs)))


def read_classic_task(child: Child, s3: S3, environ: Mapping[str, str]) -> Task:
    """Return the task of the child's line, with what the environment says of all lines.

    Raise UsageError, naming the line or the variable, when there is none.
    """
    line = _read_line(child, s3)
    purchase = environ.get("SWEEP_PURCHASE", Purchase.ON_DEMAND.value)
    if purchase not in (Purchase.SPOT.value, Purchase.ON_DEMAND.value):
        raise UsageError(f"not a way to buy: {purchase!r}", where="SWEEP_PURCHASE", hint="spot or on_demand")
    lane = Lane(_platform(environ), line.region, required(environ, "SWEEP_INSTANCE_TYPE"), Purchase(purchase))
    place = Place(lane, line.s3_uri, _rate(environ), instances=number(environ, "SWEEP_INSTANCES", 1, (1, 10_000)))
    runtime = number(environ, "SWEEP_MAX_RUNTIME", 86_400, (60, _LONGEST_S))
    limits = Limits(
        runtime,
        max_wait_s=number(environ, "SWEEP_MAX_WAIT", 0, (0, _LONGEST_S)),
        retries=number(environ, "SWEEP_RETRIES", 0, (0, 100)),
    )
    point = as_object(environ, "SWEEP_HYPERPARAMETERS")
    for name, value in point.items():
        if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
            raise UsageError(f"{name} is no text, number, true or false", where="SWEEP_HYPERPARAMETERS")
    key = digest([line.s3_uri, point, environ.get("SWEEP_IMAGE"), environ.get("SWEEP_SOURCE")])
    return Task(child.index, key, line.s3_uri, point, (place,), limits)


class ClassicHistory(TaskHistory):
    """A task's history, of a run that only Batch can cancel: a child that it has terminated is not wanted any more."""

    def __init__(self, task: Task, control: Control, world: World, is_terminated: Callable[[], bool]) -> None:
        super().__init__(task, SUBMISSION, control)
        self._world = world
        self._is_terminated = is_terminated
        self._cancelled = False

    def standing(self) -> Standing:
        """Ask the bucket whether we may go on; after a SIGTERM ask Batch, too, whether it was meant for good."""
        standing = super().standing()
        if standing is not Standing.WANTED or not self._world.terminated():
            return standing
        self._cancelled = self._cancelled or self._ask()
        return Standing.CANCELLED if self._cancelled else Standing.WANTED

    def _ask(self) -> bool:
        for _ in range(_TRIES):
            try:
                return self._is_terminated()
            except (Throttled, Unreachable):
                self._world.sleep(1.0)
            except AccessError as error:
                log.warning("whether this job was terminated cannot be asked, so its training runs on: %s", error)
                break
        return False


def _write_template(task: Task, environ: Mapping[str, str], control: Control) -> None:
    """Write down, once, what all lines of a Region have in common. The first child to come does it.

    Raise UsageError, naming the variable, for what cannot be.
    """
    lane = task.places[0].lane
    runner = make_runner(lane.platform, control.s3.clients)
    if not isinstance(runner, MakesTemplates):
        hint = "`sweep submit --manifest` runs such a file on every platform"
        raise UsageError(f"{lane.platform} makes no trainings of variables", where="SWEEP_PLATFORM", hint=hint)
    output = required(environ, "SWEEP_OUTPUT").replace("{region}", lane.region).rstrip("/")
    if not output.startswith("s3://"):
        raise UsageError(f"not an S3 URI: {output!r}", where="SWEEP_OUTPUT", hint="s3://<bucket>-{region}/<prefix>")
    template = Template(
        platform=lane.platform,
        region=lane.region,
        run=control.run,
        owner=environ.get("SWEEP_OWNER", "batch"),
        body=runner.make_body(environ, lane),
        output=f"{output}/{control.run}",
        poll_s=float(number(environ, "SWEEP_POLL", 30, (1, 3_600))),
        metrics=_metrics(environ),
    )
    body = json.dumps(template.to_json(), separators=(",", ":")).encode()
    control.s3.put_once(control.keys.template(lane.platform, lane.region), body)


def _read_line(child: Child, s3: S3) -> ClassicLine:
    """Return the child's line. Lines that are empty do not count, and neither does a header `region,s3_uri`."""
    text = s3.get(child.manifest.key).body.decode("utf-8", "replace")
    lines = [(line, n) for n, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1) if line.strip()]
    if lines and tuple(cell.strip() for cell in lines[0][0].split(",")) == _HEADER:
        lines = lines[1:]
    hint = "`sweep submit --manifest` runs files with further columns"
    if child.index >= len(lines):
        size = "an array of so many children fits the file"
        raise UsageError(f"{len(lines)} lines, and this is child {child.index}", where=str(child.manifest), hint=size)
    line, at = lines[child.index]
    where = f"{child.manifest}:{at}"
    try:
        found = parse(line)
    except BadLine as error:
        raise UsageError(str(error), where=where, hint=hint) from error
    if isinstance(found, Task):
        raise UsageError("this line holds a task of another run", where=where, hint="`sweep retry` runs tasks again")
    return found


def _platform(environ: Mapping[str, str]) -> str:
    return environ.get("SWEEP_PLATFORM", DEFAULT)


def _rate(environ: Mapping[str, str]) -> float:
    """Return the dollars of an instance-hour: 0, if nobody says, and then no costs are known."""
    text = environ.get("SWEEP_RATE", "0")
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not 0 <= rate < math.inf:
        raise UsageError(f"no dollars: {text!r}", where="SWEEP_RATE", hint="what an instance costs in an hour")
    return rate


def _metrics(environ: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, Any] = as_object(environ, "SWEEP_METRICS")
    for name, regex in found.items():
        try:
            groups = re.compile(regex).groups
        except (re.error, TypeError) as error:
            raise UsageError(f"{name} is no regex: {error}", where="SWEEP_METRICS") from error
        if groups != 1:
            raise UsageError(f"the regex of {name} has {groups} groups", where="SWEEP_METRICS", hint="it needs one")
    return found
