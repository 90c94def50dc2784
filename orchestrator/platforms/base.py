"""What a platform is: three parts, and the values that travel through them. `conformance/` holds all to it.

    Runner      runs trainings: all that a launcher needs
    Planning    what the platform refuses, counts and prepares: needed to plan and to submit
    Operating   what the platform needs in an account: needed to set it up and to clean up

Each part is a class that is named in the package's metadata by an entry point of its own (`registry.py`), so that a
launcher loads the first only. The docstrings below, and those of `account/operating.py`, are the whole contract.

Every method raises the errors of `orchestrator.errors`, as `aws.errors.aws_errors` makes them, and no others. Throttled
and Unreachable mean that nothing is known: callers ask again later. AccessError means that we may not ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import BaseModel

    from orchestrator.aws.session import Clients
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.result import Attempt, Outcome
    from orchestrator.wire.shapes import Shape
    from orchestrator.wire.task import Lane, Place, Task
    from orchestrator.wire.template import Template


@dataclass(frozen=True)
class Request:
    """One training, ready to be started: a value, so a dry run is a look at it."""

    lane: Lane
    """The place's lane: its Region is where the request is sent."""
    training: str
    """The training's name, `wire.names.training_name` of its run, task and attempt."""
    body: dict[str, Any]
    """Exactly what is sent to AWS, as plain JSON values."""
    hash: str
    """A digest of the body without itself. The body carries it as a tag: whoever finds the name in use adopts the
    training only if its tag is the same."""
    operation: str = "Request"
    """AWS's name for what the body asks for, such as `CreateTrainingJob`: the dry run shows the body under it."""
    started_by: str = ""
    """Who starts the training's processes, in words, for the dry run; empty where there is nothing to tell."""


class Runner(Protocol):
    """Runs trainings: the part of a platform that a launcher imports. It is made from the AWS clients alone.

    A runner keeps no state: two processes with the same attempt see the same training, and a runner may be thrown away
    and made anew between any two calls. What it has seen may make its next answers more exact: a launcher keeps one. A
    training is known by its Region and its name. What a platform has to remember of it by itself, such as its outcome
    once its machines are gone, belongs into S3 below `Attempt.output`.
    Several launchers may call the same method for the same training at the same time.
    """

    def request(self, template: Template, task: Task, place: Place, attempt: int, max_runtime_s: int) -> Request:
        """Return the training as this platform's API takes it.

        The launcher calls it before it records an attempt, and again whenever it starts that attempt: the same
        arguments must make the same bytes, on every machine and at any time. So nothing is sent, and no time, chance or
        environment goes into the request. The dry run calls it too, and prints the body.

        The body carries tags for the bill: `sweep:run`, `sweep:task`, `sweep:attempt` and `sweep:owner`, and the
        template's own. Whatever changes the training changes the hash. The training is ended after `max_runtime_s`
        seconds at the latest.

        Raise InvalidRequest when the place or the template cannot be made into a request.
        """
        ...

    def start(self, request: Request) -> None:
        """Start the training, or adopt the one that has its name and our request hash. Return once it is accepted.

        The launcher calls it after it has recorded the attempt. It calls it again with the same request whenever the
        answer was lost or the launcher was restarted, so a training that runs or has ended under this name with our
        hash is no error. No second training may come of it: the name is used once per account and Region.

        Send it once, by a client with `once`: the caller repeats it, and has asked before whether it still should.

        Raise AlreadyExists when the name belongs to a training with another hash. Raise QuotaExceeded, Throttled or
        Unreachable when the same request may pass later. Raise NoCapacity when there are no machines now; the attempt
        then counts as ended. Raise InvalidRequest or AccessDenied when the request will never pass: the task fails.
        When it is not known whether the training was started, raise Unreachable or CloudError, never one of these two.
        """
        ...

    def poll(self, attempt: Attempt) -> Outcome | None:
        """Return how the training stands; None only when its own Region says that there is no such training.

        The launcher calls it every `Template.poll_s` seconds or slower until the outcome's state is terminal; `sync`
        calls it for tasks whose launcher is gone. None makes the caller start the same attempt again, or give it up as
        never begun. So None is no answer for a Region that cannot be reached or may not be asked: that is an error to
        raise. A training that has ended must be found for as long as its run may be looked at.

        In the outcome:

        - `number`, `lane`, `training` and `instances` are the attempt's; of an attempt with `others`, `lane` and
          `instances` are those of the place that was taken, once that is known;
        - `state` is STARTING until there are machines, then RUNNING, then DONE, FAILED or CANCELLED for ever;
        - `cause` is NONE unless it failed or was stopped: TASK for the training's own fault, TIMEOUT when it ran out of
          `max_runtime_s`, CAPACITY for want of machines, INTERRUPTED when machines were taken away or the service
          failed, STOPPED when somebody stopped it;
        - `reason` is one line for people, and is not empty where there is a cause;
        - `started_at` and `ended_at` are seconds since the epoch, and an ended training that ran has both;
        - `usd` is what was really paid so far for all instances: never more than the attempt's `rate` times `instances`
          times `billable_s`, the seconds that each instance is billed for. Both are 0 until the platform knows: what
          runs is estimated by the plan's price;
        - `metrics` has the last values that the platform itself has measured, finite numbers only, or is empty;
        - `lost_at`, of a training on spot that goes on by itself with other machines, is when the last ones were taken
          away, while it waits for these: a launcher may then move it. It is also when machines went of which it
          cannot be read just now how they ended, such as while S3 is away: nothing is billed from then on;
        - `waits_for` is one line for people where it has not begun for longer than its patience, which does not count
          then, such as in a queue: what it waits for. It does not change from look to look while that is the same. Of
          machines that are gone it says that nobody can read how they ended;
        - `note` is one line for people where it runs on something else than was asked for: `lane` and `instances` say
          on what, and `usd` what that costs. It is empty where all is as it should be.
        """
        ...

    def stop(self, attempt: Attempt) -> None:
        """Ask the training to stop, and return at once. `poll` says when it has ended.

        The launcher calls it when its run is cancelled, and so does `sweep cancel`, each as often as it likes. A
        training that has ended keeps its outcome, and stopping it is no error; nor is stopping one that never was. A
        training that was running ends with the state CANCELLED and the cause STOPPED.
        """
        ...

    def logs(
        self, attempt: Attempt, template: Template, after: dict[str, str], *, first_instance: bool = False
    ) -> Iterator[tuple[str, str]]:
        """Yield a (stream, line) pair for each line of the log that the caller has not seen yet, as far as it goes now.

        `after` remembers what was seen: a token per stream, whose meaning is the platform's own. It is empty the first
        time, and is brought up to date as lines are taken. With the same dict the next call goes on there: every line
        of the log is given once to a caller that takes all of them.

        With `first_instance`, yield the log of the first instance only, where rank 0 is, its streams in the order in
        which they were begun. The launcher reads metrics from it while the training runs; `sweep logs` shows all. A
        training that has no log yet, or never was, has no lines, and that is no error.
        """
        ...

    def ended(self, region: str, run: str, since: float) -> Iterator[frozenset[str]]:
        """Yield names of this run's trainings in this Region that have ended since a moment: a set for each call.

        A call is sent when its set is taken, so that whoever takes them keeps to AWS's rates. It is a hint, never
        proof: whoever finds a name here still polls. A platform that cannot tell cheaply yields nothing.
        """
        ...


@dataclass(frozen=True)
class Complaint:
    """Something in a sweep that the platform cannot do, in words."""

    message: str
    hint: str
    at: tuple[str | int, ...] = ()
    """The path to it in the sweep file, such as ("train", "environment")."""


@dataclass(frozen=True)
class Staging:
    """What a platform is given to prepare one Region for one run."""

    sweep: Sweep
    region: str
    run: str
    owner: str
    source: str
    """The S3 address of the packed sources in this Region: `submit` puts them there, not the platform."""
    output: str
    """The S3 prefix in this Region for what the run's trainings leave behind."""
    role: str
    """The ARN of the role that the settings give to trainings; empty if they give none."""
    poll_s: float
    sites: tuple[str, ...] = ()  # of the plan's places in this Region
    lanes: tuple[Lane, ...] = ()  # of these places
    images: tuple[str, ...] = ()
    """Images of some tasks' own, by `Task.image`: only a platform whose Planning says `line_images` is given any."""


class Planning(Protocol):
    """Knows what can be planned on the platform. It is made from its own table of the settings, and it is pure.

    It may have a `start` and a `billing`, of `start.py` and `billing.py`: what trainings take beside their own hours.
    Only `stage` asks AWS. Everything else answers at once, offline, the same for the same arguments.
    """

    asks: type[BaseModel]
    """What may stand under `platforms.NAME` of a sweep file: the file's JSON Schema is made from it."""
    proxies: tuple[str, ...]
    """Platforms whose prices stand in for missing ones of ours (see `proxy`): they need not be installed."""
    shapes: Mapping[str, Shape]
    """What instances of the platform's own types are made of, by the type's name: `where.resources` selects by it, and
    nothing else does. Types of EC2 are known without it, with `ml.` before their names or not (`wire.shapes`). A type
    that is left out can be used by its name. It may come from the settings."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        """Take `[platforms.NAME]` of the settings. Raise SettingsError for what cannot be in it."""
        ...

    def check(self, sweep: Sweep) -> Iterator[Complaint]:
        """Yield what this platform cannot do of a sweep. Called when a sweep file is read, and before submit."""
        ...

    def cautions(self, sweep: Sweep) -> tuple[str, ...]:
        """Return what a plan should warn of, a line each: what starts, but perhaps not as it was meant to."""
        ...

    def needs_starter(self, sweep: Sweep) -> bool:
        """Return whether our starter (`training/start.py`) starts the trainings: it is packed with the sources then.
        A platform whose machines are bare says `bare = True` besides, and has all of `training/bare` packed too."""
        ...

    def refuses(self, lane: Lane) -> str:
        """Return in words why there is no such lane, such as a type that the platform does not have; else nothing."""
        ...

    def excludes(self, sweep: Sweep, lane: Lane) -> str:
        """Return in words why a sweep's trainings cannot run on a lane that there is, such as for want of a network in
        its Region that the sweep asks for; else nothing. It is asked about sweeps that `check` has no complaint of."""
        ...

    def joins(self, sweep: Sweep, place: Place, next_place: Place) -> bool:
        """Return whether one request of this platform asks for both places, for whichever has machines first.

        It is asked of places of one platform and Region that a plan has in this order: of every two that may come into
        one request. Where it returns True for all, `request` gets tasks in which `Task.together` of the first has them.
        """
        ...

    def proxy(self, lane: Lane) -> Lane | None:
        """Return the lane whose spot price beside its on-demand price, and interruptions, stand in for this one's.

        It is asked for spot lanes only. None if there is nothing to compare with.
        """
        ...

    def uses(self, lane: Lane, site: str = "") -> Mapping[str, int]:
        """Return the quotas that one instance of a lane counts under, by name, with its units under each.

        The names are those of `Quota.name` in the lane's Region. A site that is counted by itself, such as a training
        plan, is a quota of its own.
        """
        ...

    def stage(self, staging: Staging, clients: Clients) -> Template:
        """Return what all tasks of the run share in a Region, after checking what AWS would refuse later.

        Nothing is written. It reads from AWS what must be pinned, such as an image's digest, and raises when something
        is missing: SettingsError, NotFound, AccessDenied. `submit` and the dry run call it, once a Region.
        """
        ...
