"""`schedule`: when a workload is trained again by itself, and on what."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, Field, ValidationError

from orchestrator.errors import UsageError, did_you_mean
from orchestrator.spec.model import Model, wrong
from orchestrator.spec.schedule.cron import Cron, NotCron


def _cron(text: str) -> str:
    try:
        Cron.parse(text)
    except NotCron as error:
        raise wrong(str(error), hint=error.hint) from error
    return text


_OF_A_MACHINE = {"localtime", "posixrules", "Factory"}
"""Zones that mean another time on every machine."""


@cache
def _zones() -> frozenset[str]:
    """Return the zones that mean the same everywhere. A thousand files are looked at: once is enough."""
    return frozenset(available_timezones() - _OF_A_MACHINE)


def _zone(name: str) -> str:
    zones = _zones()
    if name not in zones:
        alike = [zone for zone in zones if zone.lower() == name.lower()]
        hint = did_you_mean(alike[0] if alike else name, sorted(zones)) if name else "such as Europe/Berlin"
        raise wrong(f"there is no time zone {name!r}", hint=hint)
    return name


class Query(Model):
    """Datasets that a query of the catalog names."""

    query: str = Field(min_length=1, description="a file with a SELECT whose column `dataset` names what to train on")


class Schedule(Model):
    """When a workload is trained again by itself, and on what."""

    cron: Annotated[str, AfterValidator(_cron)] = Field(
        description="minute, hour, day, month and weekday, such as `0 2 * * *`: once a day at the most"
    )
    timezone: Annotated[str, AfterValidator(_zone)] = Field(
        default="UTC", description="the zone of that time, such as Europe/Berlin"
    )
    overlap: Literal["skip", "queue", "replace"] = Field(
        default="skip", description="what a night does while an earlier one still runs"
    )
    retrain: Literal["changed", "all"] | Query = Field(
        default="changed",
        description="`changed`: what this workload has not trained yet; `all`; or {query: FILE}: these datasets",
    )

    @property
    def time(self) -> Cron:
        """The time of day, and the days."""
        return Cron.parse(self.cron)

    @property
    def zone(self) -> ZoneInfo:
        """The zone of that time."""
        return ZoneInfo(self.timezone)


def read_schedule(said: dict[str, Any]) -> Schedule:
    """Return the schedule that these values make. UsageError, with its name, for the first value that is wrong."""
    try:
        return Schedule.model_validate(said)
    except ValidationError as error:
        first = error.errors()[0]
        context: dict[str, Any] = first.get("ctx", {})
        name = str(first["loc"][0]) if first["loc"] else ""
        raise UsageError(context.get("message") or first["msg"], where=name, hint=context.get("hint", "")) from error
