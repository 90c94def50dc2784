"""What a night is to reach, frozen: whoever has its digest does exactly this, whatever the sweep file says by now.

conductor/<goal>/goal.json           all but the sources
conductor/sources/<digest>.tar.gz    the packed sources
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_code
from orchestrator.errors import Damaged, NotFound
from orchestrator.platforms.source import Package
from orchestrator.settings.settings import Settings
from orchestrator.spec.schedule.schedule import Schedule
from orchestrator.spec.sweep import Sweep
from orchestrator.wire.names import canonical, digest
from orchestrator.wire.stored import VERSION, check_version, damage_named, restore

if TYPE_CHECKING:
    from orchestrator.aws.s3 import S3

_OF_A_MACHINE = ("database", "profile", "campaign_database", "campaign_query", "infra_table")
"""Settings that mean something on one machine only, or that may hold a password."""


_MEND = "`sweep schedule update sweep.yaml` freezes it anew; `sweep schedule delete` gives it up"


@dataclass(frozen=True)
class Goal:
    """Everything that decides what a night does, but the data, the catalog and the time."""

    schedule: str
    sweep_body: dict[str, Any]
    when_body: dict[str, Any]
    code: str
    """Digest of the packed sources."""
    names: tuple[str, ...] = ()
    """The files in them."""
    query: str = ""
    """The text of the query that names the datasets; empty without one."""
    settings_body: dict[str, Any] = field(default_factory=dict)
    database: str = ""
    """The shared database that it plans on; empty for the newest snapshot of the control bucket."""

    @cached_property
    def sweep(self) -> Sweep:
        """The sweep, without its schedule."""
        return Sweep.model_validate(self.sweep_body, extra="ignore")

    @cached_property
    def when(self) -> Schedule:
        """When it is due, and what is trained."""
        return Schedule.model_validate(self.when_body, extra="ignore")

    def settings(self, database: str) -> Settings:
        """Return the settings that it was made with, with this database."""
        known = {each.name for each in fields(Settings)}
        kept = {name: value for name, value in self.settings_body.items() if name in known}
        return Settings(**{**kept, "database": database})

    @cached_property
    def digest(self) -> str:
        """The hash of all of it, which is also its name."""
        return digest(self.to_json(), 16)

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, **asdict(self), "names": list(self.names)}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Goal:
        """Return a stored goal. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "goal of a conductor")
        return restore(cls, body, names=tuple)


def settings_body(settings: Settings) -> dict[str, Any]:
    """Return the settings that a night is frozen with: those that mean the same on every machine."""
    made = {each.name: getattr(settings, each.name) for each in fields(settings) if each.name[0] != "_"}
    kept = {name: value for name, value in made.items() if name not in _OF_A_MACHINE}
    plain: dict[str, Any] = json.loads(canonical(kept))
    return plain


def write_goal(s3: S3, goal: Goal, package: Package) -> None:
    """Write the goal and its sources, each once."""
    s3.put_once(_sources(goal.code), package.body)
    s3.put_once(f"conductor/{goal.digest}/goal.json", canonical(goal.to_json()).encode())


def read_goal(s3: S3, name: str) -> Goal:
    """Return the goal of this digest. Damaged if it is gone, or cannot be understood."""
    key = f"conductor/{name}/goal.json"
    try:
        stored = s3.get(key)
        with damage_named(s3.uri(key)):
            body = stored.json()
            if digest(body, 16) != name:  # what was written, for a newer version may know more fields than it has
                raise ValueError("it is not what its name says")
            return Goal.from_json(body)
    except NotFound as error:
        if aws_code(error) == "NoSuchBucket":
            raise
        raise Damaged("is gone", where=s3.uri(key), hint=_MEND) from error
    except Damaged as error:
        raise Damaged(error.message, where=error.where, hint=_MEND) from error


def read_package(s3: S3, goal: Goal) -> Package:
    """Return the sources that the goal was frozen with."""
    return Package(goal.code, s3.get(_sources(goal.code)).body, goal.names)


def _sources(code: str) -> str:
    return f"conductor/sources/{code}.tar.gz"
