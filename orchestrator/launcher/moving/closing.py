"""Closes the move of a task whose launcher is gone: what has arrived of its checkpoint is paid, and no more."""

from __future__ import annotations

import logging
import random
import time
from typing import TYPE_CHECKING

from orchestrator.launcher.moving.checkpoint import UNREADABLE, find_checkpoint
from orchestrator.launcher.moving.moves import Moves
from orchestrator.launcher.task_history import TaskHistory
from orchestrator.launcher.trainings import Trainings
from orchestrator.launcher.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orchestrator.aws.control import Control
    from orchestrator.platforms.base import Runner
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.task import Task

log = logging.getLogger(__name__)


def close_move(
    task: Task, attempts: Sequence[Attempt], control: Control, runners: Callable[[str], Runner]
) -> float | None:
    """Return what the move after the newest of a task's attempts has cost; None if it was not to move.

    Call it when nobody drives the task any more. What cannot be looked at counts as brought.
    """
    history = TaskHistory(task, attempts[-1].submission, control)
    history.attempts = list(attempts)
    world = World(time.time, time.sleep, lambda: False, random.uniform)
    moves = Moves(history, Trainings(task, control, runners, world), world)
    move = moves.written()
    if move and move.paid_from:
        try:
            found = find_checkpoint(history.attempts, moves.trainings)
            if found:
                moves.give_back(found, move.lane)
        except UNREADABLE as error:
            log.warning("task %d: what has arrived of its checkpoint cannot be looked at: %s", task.number, error)
        move = moves.written()
    return move.usd if move else None
