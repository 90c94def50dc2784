"""`sweep notify`: tell others what becomes of a run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import render
from orchestrator.cli.options import AsJson, RunName
from orchestrator.cli.session import Session, open_run
from orchestrator.errors import PartlyFailed, UsageError

if TYPE_CHECKING:
    from orchestrator.api import Delivery, Notice, Run


@dataclass(frozen=True)
class Told:
    """What was told, and what became of it at each address."""

    id: str
    text: str
    deliveries: list[Delivery]


def notify(
    context: typer.Context,
    run: RunName = None,
    test: Annotated[bool, typer.Option("--test", help="Send a test instead, to every address.")] = False,
    as_json: AsJson = False,
) -> None:
    """Tell that a run has ended, or what holds it up, to whom its `notify` and the settings name.

    Each event is told once, however often this is called. `sweep watch` tells of the end by itself.

    Example: sweep notify --test
    """
    from orchestrator.api import BEFORE, channels_of
    from orchestrator.api import notify as send

    cloud = Session.of(context).orchestrator.cloud
    opened = None if test and run is None else open_run(context, run)
    notice = _test(opened) if test or opened is None else _news(opened)
    if notice is None:
        render.say("it goes on, and nothing holds it up: nobody is told")
        return
    groups = channels_of(opened.plan.sweep, opened.cloud) if opened else [cloud.account.channels]
    if not any(group.to for group in groups):
        hint = 'write `notify = ["https://…"]` in sweep.toml, or `notify: {to: [...]}` in the sweep file'
        raise UsageError("there is nobody to tell", hint=hint)
    told = Told(notice.id, notice.text, send(notice, groups, cloud.s3, cloud.clients))
    if as_json:
        render.as_json(told)
    else:
        render.line(told.text)
        for one in told.deliveries:
            render.line(f"{one.address}: {'told' if one.sent else one.why}")
    missed = [one for one in told.deliveries if not one.sent and one.why != BEFORE]
    if missed:
        raise PartlyFailed(f"{len(missed)} of {len(told.deliveries)} addresses were not told")


def _news(run: Run) -> Notice | None:
    from orchestrator.api import notice_of_end, notice_of_stuck

    return notice_of_end(run.anchor, run.status(), run.ledger) or notice_of_stuck(run.anchor, run.why())


def _test(run: Run | None) -> Notice:
    from orchestrator.api import Notice

    whose = f" for run {run.name}" if run else ""
    return Notice("test", (), f"a test of sweep{whose}: notices arrive here", time.time())
