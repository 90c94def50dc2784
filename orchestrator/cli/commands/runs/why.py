"""`sweep why`: why a run is slow or stuck, or what became of one task."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson, RunName, task_numbers
from orchestrator.cli.render import Column
from orchestrator.cli.session import open_run
from orchestrator.errors import AccessError, PartlyFailed, Throttled, Unreachable, UsageError

if TYPE_CHECKING:
    from orchestrator.api import Hindrance, Run, Story, TaskRow, TimePart

LAST_LINES = 10


@dataclass(frozen=True)
class Causes:
    """What holds a run up, as JSON shows it."""

    run: str
    findings: list[Hindrance]


@dataclass(frozen=True)
class TaskCauses:
    """What became of one task, as JSON shows it."""

    run: str
    task: TaskRow
    story: Story | None
    """The parts of its time; None if no submission of it is known."""
    last_words: list[str]
    """The last lines of its log, if it has failed or runs."""
    unseen: dict[str, str]
    """Regions that could not be asked, each with the reason."""


def why(
    context: typer.Context,
    run: RunName = None,
    task: Annotated[str | None, typer.Option("--task", metavar="N", help="What became of this one task.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say why a run is slow or stuck, and what to do.

    It tells what tasks wait for and who holds it, what places refuse, which launchers and trainings are silent, and why
    tasks have failed. With --task, it tells where the time of that task has gone, and ends with 5 if a Region could not
    be asked.

    Example: sweep why nightly --task 7
    """
    wanted = task_numbers(task)
    if wanted is not None and len(wanted) != 1:
        raise UsageError(f"{task!r} is not one task", where="--task", hint="write one number")
    opened = open_run(context, run)
    told = Causes(opened.name, opened.why()) if wanted is None else _of_task(opened, wanted[0])
    if as_json:
        render.as_json(told)
    elif isinstance(told, Causes):
        _show_run(opened, told)
    else:
        _show_task(told)
    if isinstance(told, TaskCauses) and told.unseen:
        whys = "; ".join(f"{region}: {reason}" for region, reason in sorted(told.unseen.items()))
        raise PartlyFailed(f"not looked at: {whys}", hint="the same command again looks there, too")


def _of_task(opened: Run, task: int) -> TaskCauses:
    from orchestrator.api import Ranges, TaskState

    row = opened.results(Ranges.of([task]))[0]
    story = opened.story(task)
    unseen = dict(story.unseen) if story else {}
    lines: deque[str] = deque(maxlen=LAST_LINES)
    if row.state in (TaskState.FAILED, TaskState.RUNNING):
        try:
            lines.extend(line.text for line in opened.logs(Ranges.of([task])))
        except (Throttled, Unreachable, AccessError) as error:
            unseen.setdefault(error.where or row.region, error.message)
    return TaskCauses(opened.name, row, story, list(lines), unseen)


def _show_run(opened: Run, causes: Causes) -> None:
    render.line(f"{opened.name}: {opened.status().state}")
    if not causes.findings:
        render.line("nothing holds it up")
    for one in causes.findings:
        tasks = f"{formatting.plural(one.tasks, 'task')}: " if one.tasks else ""
        which = f" [{one.examples}]" if one.examples else ""
        render.line(render.printable(f"{tasks}{one.what}{which}"))
        render.line(render.printable(f"    {one.hint}"))


def _show_task(told: TaskCauses) -> None:
    row = told.task
    reason = f": {row.reason}" if row.reason else ""
    where = (
        f" in {row.site.rpartition('/')[2] or row.region} on {row.instance_type} ({row.purchase})"
        if row.attempt
        else ""
    )
    attempts = f", attempt {row.attempt}" if row.attempt else ""
    render.line(render.printable(f"{told.run} task {row.task}: {row.state.value}{where}{attempts}{reason}"))
    if told.story is None:
        render.line("no submission of it is known")
    else:
        for one in told.story.held_up:
            render.line(render.printable(one.what))
            render.line(render.printable(f"    {one.hint}"))
        _show_story(told.story)
    for text in told.last_words:
        render.line(f"    {render.printable(text)}")


def _show_story(story: Story) -> None:
    render.line()
    render.as_table([*story.parts], COLUMNS)
    render.line(
        f"\n{formatting.duration(story.total)} since it was submitted, "
        f"{formatting.duration(abs(story.unaccounted))} of it unaccounted"
    )
    if story.launcher:
        render.line(render.printable(f"its launcher in Batch: {story.launcher}"))


COLUMNS: tuple[Column[TimePart], ...] = (
    Column("part", lambda part: part.name),
    Column("seconds", lambda part: part.seconds, formatting.duration, title="time", right=True),
)
