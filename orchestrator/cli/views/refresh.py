"""What `sweep catalog refresh` shows: each feed as it comes, a table of all, and what to do about those that failed."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.cli import formatting, render
from orchestrator.cli.render import Column
from orchestrator.errors import PartlyFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orchestrator.api import Refreshed


@dataclass(frozen=True)
class ListedFeed:
    """A feed, as JSON lists it."""

    feed: str
    kind: str
    about: str
    actions: tuple[str, ...]


@dataclass(frozen=True)
class Brought:
    """What became of a feed in a Region, as JSON shows it."""

    feed: str
    region: str
    added: int
    unchanged: int
    removed: int
    left_out: tuple[str, ...]
    error: str | None

    @classmethod
    def of(cls, one: Refreshed) -> Brought:
        """Return what JSON shows of it."""
        error = str(one.error) if one.error else None
        return cls(one.feed, one.region, one.added, one.unchanged, one.removed, one.left_out, error)


FEED_COLUMNS: tuple[Column[ListedFeed], ...] = (
    Column("feed", lambda row: row.feed),
    Column("kind", lambda row: row.kind),
    Column("about", lambda row: row.about),
    Column("needs", lambda row: ", ".join(row.actions), optional=True),
)
BROUGHT_COLUMNS: tuple[Column[Refreshed], ...] = (
    Column("feed", lambda row: row.feed),
    Column("region", lambda row: row.region),
    Column("new", lambda row: None if row.error else row.added, "{:,}".format, right=True),
    Column("unchanged", lambda row: None if row.error else row.unchanged, "{:,}".format, right=True),
    Column("gone", lambda row: None if row.error else row.removed, "{:,}".format, right=True, optional=True),
    Column("left_out", lambda row: None if row.error else len(row.left_out), "{:,}".format, right=True),
    Column("state", lambda row: "failed" if row.error else "ok"),
)
_MOST = 3
"""Lines of what was left out that are told of a feed; JSON has all."""


def show_progress(brought: Iterable[Refreshed]) -> Iterator[Refreshed]:
    """Yield what becomes of each feed. On a terminal, each is named as it comes."""
    seen = render.is_terminal(sys.stderr)
    for one in brought:
        if seen:
            outcome = "failed" if one.error else f"{one.added:,} new"
            render.say(f"{one.feed} {one.region}: {outcome}")
        yield one


def tell_failures(brought: Sequence[Refreshed]) -> None:
    """Say what was left out, why feeds failed, and which statement a policy lacks."""
    for one in brought:
        for line in one.left_out[:_MOST]:
            render.say(f"warning: {one.feed} {one.region}: left out: {line}")
        if more := one.left_out[_MOST:]:
            render.say(f"warning: {one.feed} {one.region}: {len(more)} more were left out (--json has them)")
    failed = [one for one in brought if one.error]
    for one in failed:
        said = str(one.error)
        place = "" if said.startswith(one.region) else f" {one.region}"
        render.say(f"warning: {one.feed}{place}: {said}")
    if missing := sorted({action for one in failed for action in one.missing_actions}):
        statement = {"Effect": "Allow", "Action": missing, "Resource": "*"}
        render.say(f"a policy of whoever refreshes lacks this statement: {json.dumps(statement)}")


def check_failures(brought: Sequence[Refreshed]) -> None:
    """Raise PartlyFailed if some feeds failed, or all of them: what was known before stays."""
    errors = [one.error for one in brought if one.error]
    if errors:
        how_many = formatting.plural(len(errors), "feed")
        raise PartlyFailed(f"{how_many} of {len(brought)} could not be read", hint="what was known before stays")
