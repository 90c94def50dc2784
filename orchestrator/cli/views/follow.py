"""Shows a run while it goes on: a live table on a terminal, elsewhere a line whenever something has changed."""

from __future__ import annotations

import time
from typing import IO, TYPE_CHECKING

from orchestrator.cli import formatting, render
from orchestrator.cli.errors import Interrupted
from orchestrator.cli.views.metric_warning import warn_of_missing_metric
from orchestrator.cli.views.status import REGION_COLUMNS, StatusView, outlook_line, raise_unless_done, region_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Group

    from orchestrator.api import Run, Status


def follow_to_end(run: Run, stream: IO[str], *, as_json: bool = False) -> None:
    """Show a run until it has ended. Raise RunFailed or PartlyFailed if it is not done then.

    Ctrl-C stops the watching only: Interrupted says that the run goes on.
    """
    try:
        last = follow(run.watch(), stream, as_json=as_json)
    except KeyboardInterrupt as error:
        hint = f"`sweep watch {run.name}` looks again, `sweep cancel {run.name}` stops it"
        raise Interrupted(f"{run.name} goes on", hint=hint) from error
    run.conclude()
    if last is not None:
        raise_unless_done(last)
        warn_of_missing_metric(run.plan.sweep.objective, run.results())


def follow(statuses: Iterable[Status], stream: IO[str], *, as_json: bool = False) -> StatusView | None:
    """Show every change, on a terminal also the cost as it grows, and return the last status that there was."""
    views = map(StatusView.of, statuses)
    if as_json:
        return _json_lines(_changes(views))
    if render.is_terminal(stream):
        return _live_table(views, stream)
    return _lines(_changes(views), stream)


def _changes(views: Iterable[StatusView]) -> Iterator[StatusView]:
    last = None
    for view in views:
        if view != last:
            yield view
        last = view


def _json_lines(views: Iterator[StatusView]) -> StatusView | None:
    last = None
    for last in views:
        render.as_json_line(last)
    return last


def _lines(views: Iterator[StatusView], stream: IO[str]) -> StatusView | None:
    last = None
    for last in views:
        render.write(f"{last}\n", stream)
    return last


def _live_table(views: Iterable[StatusView], stream: IO[str]) -> StatusView | None:
    from rich.console import Console
    from rich.live import Live

    last = None
    with Live(console=Console(file=stream), refresh_per_second=4) as live:
        for last in views:
            live.update(_picture(last))
    return last


def _picture(view: StatusView) -> Group:
    from rich.console import Group
    from rich.padding import Padding
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    progress = ProgressBar(total=max(view.tasks, 1), completed=view.ended, width=60)
    bar = Padding(progress, (0, 0, 1, 0))  # by itself it would not end its line
    table = render.rich_table(region_lines(view), REGION_COLUMNS)
    return Group(Text(str(view), style="bold"), Text(_times(view)), bar, table)


def _times(view: StatusView) -> str:
    """Return how long the run has been there, and what is expected of it."""
    elapsed = f"{formatting.duration(max(time.time() - view.created_at, 0))} since it was submitted"
    return f"{elapsed}; {outlook_line(view)}" if view.outlook else elapsed
