"""A run as it goes on: a live table on a terminal, elsewhere a line whenever something has changed."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from orchestrator.cli import render
from orchestrator.cli.problems import Interrupted
from orchestrator.cli.standing import REGION_COLUMNS, Standing, region_lines, verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Group

    from orchestrator.api import Run, Status


def to_the_end(run: Run, stream: IO[str], *, as_json: bool = False) -> None:
    """Watch until the run has ended; an error tells of what failed. Ctrl-C stops the watching only."""
    try:
        last = follow(run.watch(), stream, as_json=as_json)
    except KeyboardInterrupt as error:
        hint = f"`sweep watch {run.name}` looks again, `sweep cancel {run.name}` stops it"
        raise Interrupted(f"{run.name} goes on", hint=hint) from error
    if last is not None:
        verdict(last)


def follow(statuses: Iterable[Status], stream: IO[str], *, as_json: bool = False) -> Standing | None:
    """Show every change, and on a terminal the cost as it grows; how the run stood at last."""
    standings = map(Standing.of, statuses)
    if as_json:
        return _json_lines(_changes(standings))
    return _live(standings, stream) if render.is_terminal(stream) else _lines(_changes(standings), stream)


def _changes(standings: Iterable[Standing]) -> Iterator[Standing]:
    last = None
    for standing in standings:
        if standing != last:
            yield standing
        last = standing


def _json_lines(standings: Iterator[Standing]) -> Standing | None:
    last = None
    for last in standings:
        render.as_json_line(last)
    return last


def _lines(standings: Iterator[Standing], stream: IO[str]) -> Standing | None:
    last = None
    for last in standings:
        render.write(f"{last}\n", stream)
    return last


def _live(standings: Iterable[Standing], stream: IO[str]) -> Standing | None:
    from rich.console import Console
    from rich.live import Live

    last = None
    with Live(console=Console(file=stream), refresh_per_second=4) as live:
        for last in standings:
            live.update(_view(last))
    return last


def _view(standing: Standing) -> Group:
    from rich.console import Group
    from rich.padding import Padding
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    progress = ProgressBar(total=max(standing.tasks, 1), completed=standing.ended, width=60)
    bar = Padding(progress, (0, 0, 1, 0))  # by itself it would not end its line
    return Group(Text(str(standing), style="bold"), bar, render.rich_table(region_lines(standing), REGION_COLUMNS))
