"""Says how much slack a task needs to begin on spot, and to stay there. Launchers and plans go by it alike. Pure.

*Slack* is the time left beyond the work left, if that went on on demand. A task begins on spot if a stretch there is
worth its start. It then goes from stretch to stretch. Each is as long as the slack allows, and each start costs some of
it. Where too little is left the task goes on on demand. So a plan counts on spot only where the slack is expected to
last until all the work is done there.
"""

from __future__ import annotations

from math import sqrt

START_HOURS = 0.1
"""A prior: hours from a start until the training is back at work."""
LOOK_HOURS = 0.25
"""Hours for which spot is worth starting at the least."""


def slack_to_begin(start_hours: float = START_HOURS) -> float:
    """Return the hours of slack from which a task begins on spot: enough for a stretch, and a start on demand."""
    return start_hours + 2 * LOOK_HOURS


def slack_to_stay(hours: float, saved_every_hours: float) -> float:
    """Return the hours of slack with which a task is expected to do so many hours of work on spot, all of them.

    Each stretch takes up the slack but for one start on demand, and the next one has less: by a start, and by what was
    not saved. So n stretches do s₁ + … + sₙ hours, where s falls by the same each time, until it is worth no start.
    """
    lost = saved_every_hours + START_HOURS
    least = slack_to_begin() - 2 * START_HOURS
    square = lost * lost + 4 * least * (least + lost) + 8 * lost * hours
    return 2 * START_HOURS + (sqrt(square) - lost) / 2
