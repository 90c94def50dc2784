"""`sweep plan`: what would run where, for how much, by when. Needs no network and no credentials."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import fsum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from orchestrator import files
from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson, AsOf, Force, moment, time_limit_seconds
from orchestrator.cli.placing import placing
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session
from orchestrator.cli.views.refresh import show_progress, tell_failures
from orchestrator.errors import AccessError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orchestrator.api import Lane, Orchestrator, Plan, Share, Sweep

SweepFile = Annotated[Path, typer.Argument(metavar="SWEEP.yaml", help="What to run.")]
Classic = Annotated[
    Path | None,
    typer.Option(
        "--manifest", metavar="FILE", help="A classic JOBARRAY: lines of `region,s3_uri`, and more below a header."
    ),
]


@dataclass(frozen=True)
class Line:
    """The tasks that go to one lane on one number of instances. They may differ in size, so there is a least and a most
    of each."""

    platform: str
    region: str
    instance_type: str
    purchase: str
    instances: int
    tasks: int
    hours_each: tuple[float, float]
    usd_each: tuple[float, float]
    usd: float
    finished_h: float
    """Hours from now until all have ended, if the first start now."""

    @classmethod
    def of(cls, lane: Lane, shares: Sequence[Share]) -> Line:
        """Return the line of the shares whose choice is this lane, on equally many instances."""
        hours = [share.hours for share in shares]
        usd = [share.usd for share in shares]
        return cls(
            platform=lane.platform,
            region=lane.region,
            instance_type=lane.instance_type,
            purchase=lane.purchase.value,
            instances=shares[0].instances,
            tasks=sum(share.count for share in shares),
            hours_each=(min(hours), max(hours)),
            usd_each=(min(usd), max(usd)),
            usd=fsum(share.usd * share.count for share in shares),
            finished_h=max(share.finish or share.hours for share in shares),
        )


@dataclass(frozen=True)
class Copy:
    """A dataset that is brought to another Region first."""

    dataset: str
    from_region: str
    to_region: str
    usd: float


@dataclass(frozen=True)
class Summary:
    """A plan, as it is shown before it is agreed to."""

    id: str
    sweep: str
    tasks: int
    hours: float
    usd: float
    worst_usd: float
    """The most that it can cost."""
    gap: float | None
    """The distance to the proven bound: 0.001 is a tenth of a percent. None if the plan has no bound."""
    finished_h: float
    in_any_order: bool | None
    """True if any order of starts keeps the deadline or horizon, False if longest first does. None if unknown."""
    copies: tuple[Copy, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def plan(
    context: typer.Context,
    sweep: SweepFile,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the plan here, for `sweep submit`.")
    ] = None,
    manifest: Classic = None,
    why: Annotated[
        str | None, typer.Option("--explain", metavar="DATASET|TASK", help="Say why these tasks go where they go.")
    ] = None,
    since: Annotated[
        Path | None, typer.Option("--diff", metavar="FILE", help="Say what changed since this plan was written.")
    ] = None,
    frontier: Annotated[
        bool,
        typer.Option("--frontier", help="Show plans from the cheapest to the fastest; with -o, drawn as .svg or .png."),
    ] = False,
    limit: Annotated[
        str | None,
        typer.Option("--time-limit", metavar="TIME", help="Take the best plan found in so long, such as 30s."),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask AWS first for prices and quotas that are older than `max_age`.")
    ] = False,
    as_of: AsOf = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show what would run where, for how much, by when.

    Reads the catalog only: without --refresh no network, no credentials. The same sweep and catalog give the same plan,
    unless a time limit cut it short: then it says so.

    Example: sweep plan sweep.yaml -o plan.json
    """
    from orchestrator.api import read_plan, write_plan

    seconds, then = time_limit_seconds(limit), moment(as_of)
    if refresh and then is not None:
        raise UsageError("--refresh asks what AWS says now, not then", hint="leave it or --as-of out")
    session = Session.of(context)
    orchestrator = context.with_resource(session.orchestrator.as_of(then))
    if then is not None and (thinned := session.orchestrator.catalog.tell_thinned(then)):
        render.say(f"warning: {thinned}")
    if frontier:
        from orchestrator.cli.views.frontier import check_picture, show_frontier

        check_picture(output, "--output", "frontier.svg", force=force)
        if seconds is not None:
            raise UsageError("--frontier takes no time limit", hint="it makes several plans: leave --time-limit out")
        with placing(sweep):
            points = orchestrator.frontier(session.read_sweep(sweep), manifest)
        show_frontier(points, output, as_json=as_json)
        return
    if output is not None:
        files.check_replaceable(output, files.is_plan, "plan", force=force)
    asked = session.warmed(session.read_sweep(sweep))
    if refresh:
        _refresh(orchestrator, asked)
    with placing(sweep):
        made = orchestrator.plan(asked, manifest, time_limit_s=seconds)
    if output is not None:
        write_plan(made, output, force=force)
    lines = orchestrator.explain(made, why, manifest) if why is not None else []
    lines += orchestrator.difference(read_plan(since), made, manifest) if since is not None else []
    if as_json:
        render.as_json(summary(made) if why is None and since is None else lines)
    elif why is not None or since is not None:
        render.write("".join(f"{line}\n" for line in lines), sys.stdout)
    else:
        show_plan(made, sys.stdout)
    for line in orchestrator.catalog.tell_ages({share.places[0].lane for share in made.shares}, then):
        render.say(f"warning: {line}")
    if output is not None:
        render.say(f"wrote {output}: `sweep submit {output}` runs exactly this")


def _refresh(orchestrator: Orchestrator, sweep: Sweep) -> None:
    """Ask AWS for the facts that the sweep needs. What cannot be asked is told; the plan is made by the old ones."""
    try:
        brought = list(show_progress(orchestrator.feeds.refresh(regions=sweep.where.regions, only_old=True)))
        if not brought:
            render.say("note: nothing is older than max_age; `sweep catalog refresh` asks AWS all the same")
        tell_failures(brought)
    except AccessError as error:
        render.say(f"warning: nothing was refreshed: {error}")


def summary(made: Plan) -> Summary:
    """Return how a plan is shown: a line for each lane and number of instances, the dearest first."""
    lanes: dict[tuple[Lane, int], list[Share]] = defaultdict(list)
    for share in made.shares:
        lanes[share.places[0].lane, share.instances].append(share)
    lines = sorted((Line.of(lane, shares) for (lane, _), shares in lanes.items()), key=lambda line: -line.usd)
    return Summary(
        id=made.id,
        sweep=made.sweep.name,
        tasks=made.tasks,
        hours=made.hours,
        usd=made.usd,
        worst_usd=made.worst_usd,
        gap=made.gap if made.bound or not made.usd else None,
        finished_h=made.finish,
        in_any_order=made.in_any_order,
        copies=tuple(Copy(made.datasets[c.dataset].name, c.from_region, c.to_region, c.usd) for c in made.copies),
        lines=tuple(lines),
        notes=made.notes,
    )


def _from_to(text: Callable[[float], str]) -> Callable[[tuple[float, float]], str]:
    """Return a function that writes the least and the most: `15m-2h`, or `15m` where they read alike."""
    return lambda ends: "-".join(dict.fromkeys(map(text, ends)))


def _by_when(hours: float) -> str:
    now = datetime.now()
    return formatting.future_time(now + timedelta(hours=hours), now)


def _deadline(made: Plan) -> str:
    """Return in words how sure it is that the deadline is kept; nothing if there is none."""
    if made.sweep.plan.deadline is None or made.in_any_order is None:
        return ""
    kept = "kept in whatever order tasks start" if made.in_any_order else "expected to be kept: longest tasks first"
    return f"the deadline of {made.sweep.plan.deadline} is {kept}\n"


def _canary(made: Plan) -> str:
    """Return in words what goes ahead, and what that costs; nothing if nothing does."""
    lanes: Counter[Lane] = Counter()
    longest: dict[Lane, float] = {}
    for share in made.shares:
        lane = share.places[0].lane
        lanes[lane] += share.count
        longest[lane] = max(longest.get(lane, 0.0), share.longest or share.hours)
    ahead, crowds = made.sweep.canary, [lane for lane, count in lanes.items() if count > made.sweep.canary]
    if not ahead or not crowds:
        return ""
    late = formatting.hours(max(longest[lane] for lane in crowds))
    first = formatting.plural(ahead, "task")
    return f"{first} of each lane must be done before its others begin: they end up to {late} later than said above\n"


def _bound(gap: float | None) -> str:
    if gap is None:
        return ""
    return "no plan is cheaper; " if gap <= 1e-4 else f"no plan is more than {gap:.2%} cheaper; "


INSTANCES: Column[Line] = Column("instances", lambda line: line.instances, right=True)
"""The column of plans that could choose how many."""
COLUMNS: tuple[Column[Line], ...] = (
    Column("platform", lambda line: line.platform, if_varied=True),
    Column("region", lambda line: line.region, title="Region"),
    Column("instance_type", lambda line: line.instance_type),
    Column("purchase", lambda line: line.purchase),
    Column("tasks", lambda line: line.tasks, "{:,}".format, right=True),
    Column("hours_each", lambda line: line.hours_each, _from_to(formatting.hours), title="each", right=True),
    Column("usd_each", lambda line: line.usd_each, _from_to(formatting.money), title="$ each", right=True),
    Column("usd", lambda line: line.usd, formatting.money, title="$ total", right=True),
    Column("finished_h", lambda line: line.finished_h, _by_when, title="by when", right=True),
)


def show_plan(made: Plan, stream: IO[str]) -> None:
    """Print a plan as a table, with its cost, copies and notes: to stderr if stdout is for something else."""
    plan = summary(made)
    columns = list(COLUMNS)
    if len(made.sweep.train.instance_counts) > 1:
        columns.insert([column.key for column in columns].index("tasks"), INSTANCES)
    render.as_table(plan.lines, columns, stream)
    tasks, hours = formatting.plural(plan.tasks, "task"), formatting.hours(plan.hours)
    total = f"{tasks}, {hours} of machine time, {formatting.money(plan.usd)}"
    render.write(f"\nplan {plan.id} of {plan.sweep}: {total}\n", stream)
    most = f"at most {formatting.money(plan.worst_usd)}, if every task runs until its limits"
    render.write(f"{_bound(plan.gap)}{most}\n", stream)
    render.write(_deadline(made), stream)
    for copy in plan.copies:
        way = f"{copy.dataset} from {copy.from_region} to {copy.to_region}"
        render.write(f"copy: {way}, {formatting.money(copy.usd)}\n", stream)
    for note in plan.notes:
        render.write(f"note: {note}\n", stream)
    if 0 < made.sweep.pause_after < plan.tasks:
        first = formatting.plural(made.sweep.pause_after, "task")
        render.write(f"pauses if the first {first} to fail do so alike and none is done\n", stream)
    render.write(_canary(made), stream)
