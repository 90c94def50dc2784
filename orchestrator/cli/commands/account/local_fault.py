"""`sweep local fault` and `sweep local faults`: a local AWS that misbehaves on command."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli import render
from orchestrator.cli.commands.account.local_home import Home
from orchestrator.cli.options import AsJson

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.localcloud import Steering

Kind = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        help="Of calls: throttle, deny, error, slow, reset, stale, down. Else: capacity, quota, reclaim, rebalance, "
        "crash, kill; of a cluster: evict, forget, admission.",
    ),
]
What = Annotated[
    str,
    typer.Argument(
        metavar="[WHAT]",
        help="Calls, as service:Operation with * for any; or a training's name, a job's or instance's id.",
    ),
]
Percent = Annotated[float, typer.Option(min=0, max=100, help="How many of the calls are struck.")]
Seed = Annotated[int, typer.Option(help="The same one strikes the same calls again.")]
Seconds = Annotated[
    float, typer.Option(min=0, help="How slow, how stale, how long without capacity, or from a spot notice to the end.")
]
Count = Annotated[int | None, typer.Option(min=1, help="How many calls are struck at most.")]


@dataclass(frozen=True)
class Fault:
    """A fault that was asked for, and the calls that it has seen and hit so far."""

    id: int
    kind: str
    what: str
    region: str
    seen: int
    struck: int

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Fault:
        """Return the fault that the local cloud's answer describes."""
        return cls(*(answer[name] for name in cls.__dataclass_fields__))


def fault(
    home: Home,
    kind: Kind,
    what: What = "*",
    region: Annotated[str, typer.Option("--in", metavar="REGION", help="Without it, every Region.")] = "*",
    percent: Percent = 100,
    seed: Seed = 0,
    seconds: Seconds = 0,
    times: Count = None,
    after: Annotated[bool, typer.Option("--after", help="Do what the call asks, and lose the answer.")] = False,
    lasts: Annotated[float | None, typer.Option(min=0, metavar="S", help="End it after so many seconds.")] = None,
    delay: Annotated[float, typer.Option(min=0, metavar="S", help="Begin it so many seconds from now.")] = 0,
    instance_type: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="An instance type.")] = None,
    zone: Annotated[str | None, typer.Option(metavar="ZONE", help="An availability zone of EC2's.")] = None,
    purchase: Annotated[str | None, typer.Option(metavar="PURCHASE", help="spot or on_demand.")] = None,
    value: Annotated[int, typer.Option(min=0, help="Of a quota: how many instances, or vCPUs of EC2.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Let something go wrong in the local AWS that runs. Prints the number by which `faults --clear` takes it back.

    Example: sweep local fault throttle sagemaker:CreateTrainingJob --percent 30 --seed 7
    """
    made = Fault.of(
        steer(home).add(
            kind,
            what,
            region=region,
            percent=percent,
            seed=seed,
            seconds=seconds,
            times=times,
            after=after,
            lasts=lasts,
            delay=delay,
            instance_type=instance_type,
            zone=zone,
            purchase=purchase,
            value=value,
        )
    )
    if as_json:
        render.as_json(made)
    else:
        render.line(str(made.id))


def faults(
    home: Home,
    clear: Annotated[bool, typer.Option("--clear", help="Take them back.")] = False,
    number: Annotated[int | None, typer.Option("--id", metavar="N", help="Only this one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what goes wrong in the local AWS on command, or put an end to it.

    Example: sweep local faults --clear
    """
    steering = steer(home)
    if clear:
        steering.remove(number)
    shown = [Fault.of(answer) for answer in steering.faults() if clear or number in (None, answer["id"])]
    if as_json:
        render.as_json(shown)
    else:
        render.as_table(shown, [render.Column(name, attrgetter(name)) for name in Fault.__dataclass_fields__])


def steer(home: Path) -> Steering:
    """Return what steers the local AWS of this folder. LocalCloudError if none runs."""
    from orchestrator import localcloud

    serving = localcloud.status(home)
    if serving is None:
        raise localcloud.LocalCloudError("no local cloud runs: `sweep local up` starts one")
    return localcloud.Steering(serving.access)
