"""What a launcher's exit code means to Batch and to us."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """A launcher's exit code. The job definition lets Batch start a child again after RESTART only."""

    DONE = 0
    TASK_WRONG = 65  # the task itself fails: never again
    UNAVAILABLE = 69  # nowhere to run, or not allowed to: mend the surroundings, then `sweep retry`
    RESTART = 75  # this launcher was unlucky: the only code Batch restarts
    CANCELLED = 76
