"""What `sweep catalog discover` shows: each folder that was found, what it is, and how that is known."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.cli import formatting, render
from orchestrator.cli.render import Column

if TYPE_CHECKING:
    from orchestrator.api import Discovered, Finding, Settings

USUAL_PATTERN = "{campaign}/{version}/"


@dataclass(frozen=True)
class FoundRow:
    """A folder of a dataset, as JSON shows it."""

    dataset: str
    region: str
    s3_uri: str
    objects: int
    bytes: int
    replica: bool
    changed: bool
    why: str
    """Why it is taken for a replica, or for none."""

    @classmethod
    def of(cls, one: Finding, found: Discovered) -> FoundRow:
        """Return the row of a folder."""
        folder = one.folder
        return cls(
            dataset=f"{folder.campaign}@{folder.version}",
            region=folder.region,
            s3_uri=folder.uri,
            objects=len(folder.objects),
            bytes=folder.bytes,
            replica=one.is_replica,
            changed=folder.uri in found.changed,
            why=one.why,
        )


FOUND_COLUMNS: tuple[Column[FoundRow], ...] = (
    Column("dataset", lambda row: row.dataset),
    Column("region", lambda row: row.region, title="Region"),
    Column("s3_uri", lambda row: row.s3_uri, optional=True),
    Column("objects", lambda row: row.objects, "{:,}".format, right=True),
    Column("bytes", lambda row: row.bytes, formatting.size, title="size", right=True),
    Column("replica", lambda row: row.replica, lambda value: "yes" if value else "no"),
    Column("why", lambda row: row.why),
)


def tell_changes(found: Discovered, *, kept: bool) -> None:
    """Say which replicas changed, which are none, and which of the catalog's are not there any more."""
    for bucket, made_at in found.inventories:
        render.say(f"{bucket} is told as it was when its inventory was made: {made_at:%Y-%m-%d %H:%M} UTC")
    for one in found.findings:
        if one.folder.uri in found.changed:
            render.say(f"{one.folder.uri}: its objects are not what they were")
        if not one.is_replica:
            render.say(f"warning: {one.folder.uri} is left out: {one.why}")
    for uri in found.removed:
        gone = "was removed from the catalog" if kept else "would be removed from the catalog"
        render.say(f"warning: the replica at {uri} {gone}: it is none any more")
    for uri in found.unseen:
        render.say(f"warning: {uri} was not looked at, and may be what has changed elsewhere: discover it, too")
    if found.odd:
        belongs = "belongs" if len(found.odd) == 1 else "belong"
        render.say(f"{formatting.plural(len(found.odd), 'object')} {belongs} to no dataset, such as {found.odd[0]}")


def tell_unnamed_buckets(found: Discovered, settings: Settings) -> None:
    """Say which buckets the settings of [infra] do not let trainings read, and what does."""
    from orchestrator.infra.data_buckets import unnamed_buckets

    buckets = {one.folder.bucket: one.folder.region for one in found.findings if one.is_replica}
    if patterns := unnamed_buckets(settings, buckets):
        wanted = json.dumps([*settings.infra.data_buckets, *patterns])
        render.say(
            f"warning: the role that `sweep infra deploy` makes may not read {', '.join(patterns)}: "
            f"write `data_buckets = {wanted}` below [infra] in sweep.toml, and deploy again"
        )
