"""What a platform bills beside the time that trainings train."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Billing:
    """What a platform bills of an instance, beside the hours that its training trains.

    A Planning may have one as `billing`. Without it, starts are free, there is no minimum, and an instance is paid for
    KEPT_BACK_S of `wire.task` beyond the training's longest run at the most.
    """

    start: bool = False
    """The time to start and to end, `Start.seconds`, is billed."""
    least_s: float = 0.0
    """Seconds that each instance is billed for at the least."""
    allowance_s: int | None = None
    """Seconds that an instance may be paid for beyond `max_runtime_s`, whatever hangs: boot, grace, last uploads. The
    platform sees to it that no instance is paid for longer. `Place.allowance_s` carries it to the runner."""
