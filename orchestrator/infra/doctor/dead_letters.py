"""Is there a queue for what EventBridge Scheduler cannot deliver?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.messages.sqs import Queue
from orchestrator.platforms.account.finding import DEPLOY, Finding, ok, warning, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.infra.doctor.subject import Subject

_ABOUT = "dead letters"


def dead_letters(subject: Subject) -> Iterator[Finding]:
    """Yield whether the queue of schedules is there; nothing where there are no nights.

    Schedules start conductors without one, and nobody learns of those that could not be started.
    """
    if not subject.has_nights:
        return
    name = "schedule_dead_letters"
    arn = subject.settings.schedule_dead_letters
    if not arn:
        message = "is not set: nobody learns of a night whose conductor EventBridge Scheduler cannot start"
        yield warning(_ABOUT, name, message, DEPLOY)
    elif Queue(subject.clients, arn).is_there():
        yield ok(_ABOUT, arn, "there")
    else:
        given = f"name one that is there as `{name}` in sweep.toml"
        yield wrong(_ABOUT, arn, "not there", given if name in subject.names.theirs else DEPLOY)
