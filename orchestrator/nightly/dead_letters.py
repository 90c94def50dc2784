"""Ticks that EventBridge Scheduler could not deliver: a conductor that never started is told by these.

They lie in a queue until somebody was told of them, or SQS lets them go, after two weeks.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.aws.messages.sqs import Queue
from orchestrator.errors import Damaged, NewerVersion, SweepError, UsageError
from orchestrator.nightly.aftermath import raise_alarm
from orchestrator.nightly.goal import read_goal
from orchestrator.nightly.shelf import Shelf
from orchestrator.notices.send import BEFORE

if TYPE_CHECKING:
    from orchestrator.aws.messages.sqs import Message
    from orchestrator.aws.s3 import S3
    from orchestrator.aws.session import Clients
    from orchestrator.nightly.goal import Goal

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DeadLetter:
    """A tick of a schedule that reached nobody."""

    schedule: str
    at: str
    """The moment that it was for, as EventBridge Scheduler writes it; empty if it does not say."""
    why: str

    @property
    def words(self) -> str:
        """What is wrong, as an alarm says it."""
        return f"EventBridge Scheduler could not start the conductor of {self.at or 'some night'}: {self.why}"


def look_at_dead_letters(arn: str | None, clients: Clients) -> list[DeadLetter]:
    """Return what lies in the queue, and leave it there; nothing, and a warning, if it cannot be looked at."""
    if not arn:
        return []
    queue, found = Queue(clients, arn), []
    try:
        for message in queue.take():
            found.append(_read(message))
            queue.give_back(message)
    except SweepError as error:
        log.warning("what EventBridge Scheduler could not deliver is not known: %s", error)
    return sorted(found, key=lambda letter: letter.at)


def tell_dead_letters(goal: Goal, s3: S3) -> None:
    """Raise an alarm for each letter of the schedules of this bucket. Delete those that somebody was told of.

    A queue that is away holds up nothing: who ticks next looks again.
    """
    arn = goal.settings("sqlite://").schedule_dead_letters
    if not arn:
        return
    queue = Queue(s3.clients, arn)
    try:
        for message in queue.take():
            if _tell(_read(message), goal, s3):
                queue.delete(message)
            else:
                queue.give_back(message)
    except SweepError as error:
        log.warning("what EventBridge Scheduler could not deliver is told later: %s", error)


def _tell(letter: DeadLetter, ours: Goal, s3: S3) -> bool:
    """Return whether all who want alarms of the letter's schedule know of it, and there is somebody who does."""
    try:
        goal = ours if letter.schedule == ours.schedule else read_goal(s3, Shelf(s3).entry(letter.schedule).goal)
    except UsageError:
        return False  # it is of another team's schedule, or of one that was deleted
    except (Damaged, NewerVersion) as error:
        log.warning("who is to be told of %s is not known: %s", letter.schedule, error)
        return False
    log.warning("%s: %s", letter.schedule, letter.words)
    deliveries = raise_alarm(goal, letter.at, f"EventBridge Scheduler could not start its conductor: {letter.why}")
    return bool(deliveries) and all(each.sent or each.why == BEFORE for each in deliveries)


def _read(message: Message) -> DeadLetter:
    said = message.attributes
    code, text = said.get("ERROR_CODE", ""), said.get("ERROR_MESSAGE", "")
    why = ": ".join(part for part in (code, text) if part) or "it does not say why"
    return DeadLetter(_schedule(message), said.get("SCHEDULED_TIME", ""), why)


def _schedule(message: Message) -> str:
    """Return which schedule a letter is of: its job says so; where that was cut off, the timer's name does."""
    try:
        return str(json.loads(message.body)["Parameters"]["schedule"])
    except (ValueError, KeyError, TypeError):
        return message.attributes.get("SCHEDULE_ARN", "").rpartition("/")[2].removesuffix("-utc")
