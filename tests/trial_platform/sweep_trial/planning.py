"""Knows what can be planned on the platform: its types, what they count as, and what a sweep may not ask for."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from orchestrator.errors import SettingsError, did_you_mean
from orchestrator.platforms.base import Complaint
from orchestrator.spec.model import Model
from orchestrator.spec.reading.mistakes import find_mistakes
from orchestrator.spec.train.arguments import Arguments
from orchestrator.spec.train.environment import plain_variables, secrets
from orchestrator.training.starter.words import names_in
from orchestrator.wire.shapes import Shape
from orchestrator.wire.task import Purchase
from orchestrator.wire.template import Template
from pydantic import Field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.base import Staging
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.task import Lane, Place

CORES = {"trial.small": 1, "trial.large": 2}
"""The instance types, and the cores of each. All of a Region together have one quota, which counts cores."""
GIB_PER_CORE = 2


class Asks(Model):
    """What a sweep may say that only this platform can do."""

    nice: int = Field(default=0, ge=0, le=19, description="how far processes stand back for others")


class TrialPlanning:
    """Plans trainings on this machine: see `platforms.base.Planning` for what each method promises.

    Its table of the settings may hold `nice`, which sweeps may change: how far processes stand back for others.
    """

    asks = Asks
    proxies = ()
    shapes: Mapping[str, Shape] = MappingProxyType(
        {name: Shape(vcpus=cores, memory_gib=cores * GIB_PER_CORE) for name, cores in CORES.items()}
    )

    def __init__(self, settings: Mapping[str, object]) -> None:
        for name in settings:
            if name != "nice":
                raise SettingsError(
                    f"unknown setting {name!r}", where="platforms.trial", hint=did_you_mean(name, ["nice"])
                )
        nice = settings.get("nice", 0)
        if not _is_nice(nice):
            raise SettingsError("nice is no number from 0 to 19", where="platforms.trial", hint="write `nice = 10`")
        self._nice = nice

    def check(self, sweep: Sweep) -> Iterator[Complaint]:
        if sweep.train.parallel != "single":
            yield Complaint(
                f"the trial platform cannot start {sweep.train.parallel}", "set it to single", ("train", "parallel")
            )
        if sweep.train.framework:
            yield Complaint(
                "the trial platform has no AWS images",
                "leave it out: trainings run under its own Python",
                ("train", "framework"),
            )
        if sweep.train.arguments != Arguments():
            yield Complaint("the trial platform writes --name value only", "leave them out", ("train", "arguments"))
        if sweep.train.script is None:
            at = ("train", "command" if sweep.train.command else "entry_point")
            yield Complaint("the trial platform starts scripts only", "name one as the entry point", at)
        for name, text in sweep.train.environment.items():
            if names_in(text):
                at = ("train", "environment", name)
                yield Complaint("the trial platform fills in no names in braces", "write the value itself", at)
        if sweep.train.checkpoints:
            yield Complaint("the trial platform keeps no checkpoints", "leave them out", ("train", "checkpoints"))
        if sweep.train.channels or sweep.train.data_channel != "training":
            at = "channels" if sweep.train.channels else "data_channel"
            yield Complaint("the trial platform has the channel `training` alone", "leave it out", ("train", at))
        for name in secrets(sweep.train.environment):
            at = ("train", "environment", name)
            yield Complaint("the trial platform fetches no secrets", "fetch it in the script", at)
        for mistake in find_mistakes(Asks, sweep.platforms.get("trial", {}), ("platforms", "trial")):
            yield Complaint(mistake.message, mistake.hint, mistake.at)

    def cautions(self, sweep: Sweep) -> tuple[str, ...]:
        return ("the trial platform has no images: trainings run under its own Python",)

    def needs_starter(self, sweep: Sweep) -> bool:
        return False

    def refuses(self, lane: Lane) -> str:
        if lane.instance_type not in CORES:
            return f"the trial platform has no type {lane.instance_type}: it has {' and '.join(CORES)}"
        return "the trial platform sells no reservations" if lane.purchase is Purchase.COMMITTED else ""

    def excludes(self, sweep: Sweep, lane: Lane) -> str:
        return ""

    def joins(self, sweep: Sweep, place: Place, next_place: Place) -> bool:
        return False

    def proxy(self, lane: Lane) -> Lane | None:
        return None

    def uses(self, lane: Lane, site: str = "") -> Mapping[str, int]:
        return {"cores": CORES.get(lane.instance_type, 1)}

    def stage(self, staging: Staging, clients: Clients) -> Template:
        train = staging.sweep.train
        return Template(
            platform="trial",
            region=staging.region,
            run=staging.run,
            owner=staging.owner,
            body={
                "source": staging.source,
                "entry_point": train.entry_point,
                "hyperparameters": dict(train.hyperparameters),
                "environment": plain_variables(train.environment),
                "nice": staging.sweep.platforms.get("trial", {}).get("nice", self._nice),
            },
            output=staging.output,
            checkpoints=train.checkpoints is not None,
            poll_s=staging.poll_s,
            metrics=dict(train.metrics),
            tags=dict(staging.sweep.tags),
        )


def _is_nice(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 19
