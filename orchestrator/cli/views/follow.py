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


BEST_EVERY_S = 10.0
"""Seconds between two looks for the best task."""
MOST_RANKED = 20_000
"""Tasks of a run that are ranked while it is watched: more take too long, every few seconds."""


def follow_to_end(run: Run, stream: IO[str], *, as_json: bool = False) -> None:
    """Show a run until it has ended. Raise RunFailed or PartlyFailed if it is not done then.

    Ctrl-C stops the watching only: Interrupted says that the run goes on.
    """
    try:
        last = follow(run.watch(), stream, as_json=as_json, best=BestSoFar(run))
    except KeyboardInterrupt as error:
        hint = f"`sweep watch {run.name}` looks again, `sweep cancel {run.name}` stops it"
        raise Interrupted(f"{run.name} goes on", hint=hint) from error
    run.conclude()
    if last is not None:
        raise_unless_done(last)
        warn_of_missing_metric(run.plan.sweep.objective, run.results())
        render.say(
            f"`sweep results {run.name}` ranks its tasks, `sweep artifacts list {run.name}` shows what they left"
        )


class BestSoFar:
    """The best task of a run, in words, looked for now and then while more and more are done."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._done = 0
        self._again_at = 0.0
        self._words = ""

    def words(self, view: StatusView) -> str:
        """Return one line, such as `best so far: loss 0.25 by task 7, of 12 that are done`; empty if none is known."""
        objective, done = self._run.plan.sweep.objective, view.counts["done"]
        if objective and view.tasks <= MOST_RANKED and done != self._done and time.monotonic() >= self._again_at:
            self._again_at = time.monotonic() + BEST_EVERY_S
            best = self._run.best()
            if best and best.score is not None:
                self._done = done
                value = f"{objective.metric} {formatting.number(best.score)}"
                self._words = f"best so far: {value} by task {best.task}, of {done:,} that are done"
        return self._words


def follow(
    statuses: Iterable[Status], stream: IO[str], *, as_json: bool = False, best: BestSoFar | None = None
) -> StatusView | None:
    """Show every change, on a terminal also the cost as it grows, and return the last status that there was."""
    views = map(StatusView.of, statuses)
    if as_json:
        return _json_lines(_changes(views))
    if render.is_terminal(stream):
        return _live_table(views, stream, best)
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


def _live_table(views: Iterable[StatusView], stream: IO[str], best: BestSoFar | None) -> StatusView | None:
    from rich.console import Console
    from rich.live import Live

    last = None
    with Live(console=Console(file=stream), refresh_per_second=4) as live:
        for last in views:
            live.update(_picture(last, best.words(last) if best else ""))
    return last


def _picture(view: StatusView, best: str) -> Group:
    from rich.console import Group
    from rich.padding import Padding
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    progress = ProgressBar(total=max(view.tasks, 1), completed=view.ended, width=60)
    bar = Padding(progress, (0, 0, 1, 0))  # by itself it would not end its line
    table = render.rich_table(region_lines(view), REGION_COLUMNS)
    lines = [Text(line) for line in (_times(view), best) if line]
    return Group(Text(str(view), style="bold"), *lines, bar, table)


def _times(view: StatusView) -> str:
    """Return how long the run has been there, and what is expected of it."""
    elapsed = f"{formatting.duration(max(time.time() - view.created_at, 0))} since it was submitted"
    return f"{elapsed}; {outlook_line(view)}" if view.outlook else elapsed
