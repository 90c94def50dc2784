"""`sweep catalog`: the data, prices, quotas and transfers that a plan is made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.commands.account.catalog_snapshots import compact, pull, push, snapshot
from orchestrator.cli.options import AsJson
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session
from orchestrator.cli.views.discover import FOUND_COLUMNS, USUAL_PATTERN, FoundRow, tell_changes, tell_unnamed_buckets
from orchestrator.cli.views.refresh import (
    BROUGHT_COLUMNS,
    FEED_COLUMNS,
    Brought,
    ListedFeed,
    check_failures,
    show_progress,
    tell_failures,
)
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.api import Problem

app = typer.Typer(help="What data, machines and prices there are.", rich_markup_mode=None)

COMMON_KINDS = ("campaigns", "datasets", "replicas", "prices", "quotas", "transfer_prices")
KINDS = (
    *COMMON_KINDS,
    "storage_prices",
    "placement_scores",
    "quota_use",
    "instance_types",
    "interruptions",
    "commitments",
)


def _kinds(incomplete: str) -> list[str]:
    """Return the kinds of rows that begin so, for a shell that completes a word."""
    return [kind for kind in KINDS if kind.startswith(incomplete)]


@dataclass(frozen=True)
class Loaded:
    """What became of the rows of one table."""

    table: str
    inserted: int
    updated: int
    unchanged: int
    removed: int


@app.command()
def load(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="CSV or Parquet files, or folders of them.")],
    kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="What the files hold, if their names do not say so.", autocompletion=_kinds),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Load files into the catalog: all or nothing.

    A file is called like what it holds: campaigns.csv, prices.parquet. Loading it twice changes nothing.

    Example: sweep catalog load data/
    """
    report = Session.of(context).orchestrator.catalog.load(paths, kind)
    show_loaded(report.counts, as_json=as_json)
    for line in report.to_come:
        render.say(f"warning: {line}")


def show_loaded(counts: Mapping[str, Any], *, as_json: bool) -> None:
    """Show what became of the rows of each table."""
    rows = [
        Loaded(table, count.inserted, count.updated, count.unchanged, count.removed) for table, count in counts.items()
    ]
    if as_json:
        render.as_json(rows)
    else:
        render.as_table(rows, LOADED_COLUMNS)


LOADED_COLUMNS: tuple[Column[Loaded], ...] = (
    Column("table", lambda row: row.table),
    Column("inserted", lambda row: row.inserted, "{:,}".format, right=True),
    Column("updated", lambda row: row.updated, "{:,}".format, right=True),
    Column("unchanged", lambda row: row.unchanged, "{:,}".format, right=True),
    Column("removed", lambda row: row.removed, "{:,}".format, right=True),
)


@app.command()
def refresh(
    context: typer.Context,
    feeds: Annotated[list[str] | None, typer.Argument(metavar="[FEED]...", help="Only these; see --list.")] = None,
    region: Annotated[
        list[str] | None, typer.Option(metavar="REGION", help="Only this Region. Repeatable.", show_default=False)
    ] = None,
    list_feeds: Annotated[bool, typer.Option("--list", help="Say which feeds there are, and ask nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring AWS's prices and quotas into the catalog.

    Without --region, it asks about the Regions of the catalog's data and prices, and of [infra]. Each feed of a Region
    lands whole or not at all, and what has not changed adds nothing. Ends with 5 if one could not be read: its old
    facts stay.

    Example: sweep catalog refresh ec2-spot-prices --region eu-west-1
    """
    orchestrator = Session.of(context).orchestrator
    if list_feeds:
        shown = [ListedFeed(feed.name, feed.kind, feed.about, feed.actions) for feed in orchestrator.feeds.all()]
        if as_json:
            render.as_json(shown)
        else:
            render.as_table(shown, FEED_COLUMNS)
        return
    brought = list(show_progress(orchestrator.feeds.refresh(feeds or (), region or ())))
    if as_json:
        render.as_json([Brought.of(one) for one in brought])
    else:
        render.as_table(brought, BROUGHT_COLUMNS)
    tell_failures(brought)
    check_failures(brought)


@app.command()
def discover(
    context: typer.Context,
    places: Annotated[list[str], typer.Argument(metavar="S3-URI...", help="Such as s3://team-eu/campaigns/.")],
    pattern: Annotated[
        str, typer.Option(metavar="PATTERN", help="What the folders of datasets are called below that.")
    ] = USUAL_PATTERN,
    inventory: Annotated[
        list[str] | None,
        typer.Option(metavar="S3-URI", help="An S3 Inventory of a bucket, which then is not listed. Repeatable."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what is there, and load nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find datasets and their replicas in S3, and load them into the catalog.

    A folder that lacks objects of another replica, or has other ones, is no replica: it is told and left out.

    Example: sweep catalog discover s3://team-eu/campaigns/ s3://team-us/campaigns/
    """
    found = Session.of(context).orchestrator.feeds.discover(
        places, pattern, keep=not dry_run, inventories=inventory or ()
    )
    rows = [FoundRow.of(one, found) for one in found.findings]
    if as_json:
        render.as_json(rows)
    else:
        render.as_table(rows, FOUND_COLUMNS)
    tell_changes(found, kept=not dry_run)
    tell_unnamed_buckets(found, Session.of(context).settings)


@app.command("import")
def import_campaigns(
    context: typer.Context,
    url: Annotated[
        str | None, typer.Option("--from", metavar="URL", help="The database; by default `campaign_database`.")
    ] = None,
    query: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A SELECT; by default the file that `campaign_query` names.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Load campaigns, datasets and replicas from a team's own database, which is only read.

    Example: sweep catalog import --from postgresql://host/campaigns --query campaigns.sql
    """
    settings = Session.of(context).settings
    wanted = {"campaign_database": url, "campaign_query": query}
    settings.require(*(name for name, given in wanted.items() if given is None))
    file = query or Path(settings.campaign_query or "")
    report = Session.of(context).orchestrator.feeds.import_campaigns(url or settings.campaign_database or "", file)
    show_loaded(report.counts, as_json=as_json)


app.command()(compact)
app.command()(snapshot)
app.command()(push)
app.command()(pull)


@app.command()
def show(
    context: typer.Context,
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help=f"One of {', '.join(KINDS)}.", autocompletion=_kinds)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the rows of one kind, or how many there are of each.

    Example: sweep catalog show replicas
    """
    catalog = Session.of(context).orchestrator.catalog
    if kind is not None:
        rows = catalog.show(kind)
        columns = [_column(name) for name in rows[0]] if rows else []
    else:
        rows = [{"kind": name, "rows": count} for name, count in catalog.totals().items()]
        columns = [_column("kind"), _column("rows")]
    if as_json:
        render.as_json(rows)
    elif rows:
        render.as_table(rows, columns)
    else:
        render.say(f"no {kind} yet: `sweep catalog load` brings them")


def _column(name: str) -> Column[dict[str, Any]]:
    return Column(name, lambda row: row[name], right=name in NUMBERS)


NUMBERS = (
    "rows",
    "bytes",
    "slots",
    "units",
    "used",
    "vcpus",
    "memory_gib",
    "chips",
    "chip_memory_gib",
    "gbps",
    "usd_per_hour",
    "usd_per_gb",
    "per_hour",
    "discount",
)


@app.command()
def check(context: typer.Context, as_json: AsJson = False) -> None:
    """Find what is missing or looks wrong. Ends with 2 if something is.

    Example: sweep catalog check
    """
    problems = Session.of(context).orchestrator.catalog.check()
    if as_json:
        render.as_json(problems)
    elif problems:
        render.as_table(problems, PROBLEM_COLUMNS)
    else:
        render.say("nothing is missing")
    if problems:
        raise CatalogError(f"{formatting.plural(len(problems), 'problem')} in the catalog")


PROBLEM_COLUMNS: tuple[Column[Problem], ...] = (
    Column("kind", lambda problem: problem.kind),
    Column("message", lambda problem: problem.message),
)


@dataclass(frozen=True)
class Upgraded:
    """What JSON says of an upgrade."""

    schema: str


@app.command()
def upgrade(context: typer.Context, as_json: AsJson = False) -> None:
    """Bring a team's PostgreSQL up to this version's schema.

    SQLite files are brought up to date when they are opened.

    Example: sweep --database postgresql://host/sweep catalog upgrade
    """
    Session.of(context).orchestrator.catalog.upgrade()
    if as_json:
        render.as_json(Upgraded("current"))
    else:
        render.say("the schema is up to date")
