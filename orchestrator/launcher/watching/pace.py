"""The pace of launchers: all of a Region together keep to AWS's rates. Pure numbers.

AWS publishes no rates for DescribeTrainingJob and ListTrainingJobs. An account is taken to be allowed, in a Region and
a second, five of the former and two of the latter. CloudWatch Logs allows 25 DescribeLogStreams and 25 GetLogEvents.

| at once in a Region | a launcher asks after its training | and reads the board |
| --- | --- | --- |
| 100 | every 30 s | never |
| 200 | every 40 s | never |
| 2,000 | every 1,000 s, and when the board names it | every 20 s |
| 10,000 | every 5,000 s, and when the board names it | every 40 s |
"""

from __future__ import annotations

from dataclasses import dataclass

DESCRIBES = 5.0
"""Looks at trainings in a second, by all launchers of a Region together."""
DESCRIBES_BESIDE_BOARD = 2.0
"""The part of these that is made without a hint: the rest is for starts, and for names on the board."""
HINTED = 3.0
"""Looks in a second at trainings that the board names."""
LOG_READS = 5.0
"""Logs that are read in a second: each takes one DescribeLogStreams, and two GetLogEvents or more."""
BOARD_READS = 250.0
"""Reads of the board in a second."""
SOON_ENOUGH_S = 45.0
"""Seconds between two looks up to which nobody needs a board."""
BOARD_S = 20.0
"""Seconds between two listings of the board's holder, and between two looks at the board, at the least."""
STALE_S = 3 * BOARD_S
"""Seconds after which a board that has not changed has lost its holder."""
TELLS_S = 2 * STALE_S
"""Seconds after a listing for which a board is relied on."""
FIRST_LOOK_POLLS = 8
"""Poll intervals after which a training that was just started is looked at, at the latest: most have begun by then."""


@dataclass(frozen=True)
class Pace:
    """The pace of the launchers of a Region, of whose trainings so many may run at once."""

    at_once: int
    poll_s: float

    @property
    def alone_s(self) -> float:
        """Seconds between two looks at a training, where no board tells which have ended."""
        return max(self.poll_s, self.at_once / DESCRIBES)

    @property
    def needs_board(self) -> bool:
        """Looking at each training in turn would be too late."""
        return self.alone_s > max(SOON_ENOUGH_S, self.poll_s)

    @property
    def beside_board_s(self) -> float:
        """Seconds between two looks at a training that the board does not name."""
        return max(self.poll_s, self.at_once / DESCRIBES_BESIDE_BOARD)

    @property
    def first_look_s(self) -> float:
        """Seconds from a start to the first look, at the most."""
        return FIRST_LOOK_POLLS * self.poll_s

    @property
    def board_s(self) -> float:
        """Seconds between two looks at the board."""
        return max(BOARD_S, self.at_once / BOARD_READS)

    @property
    def logs_s(self) -> float:
        """Seconds between two looks at a training's log, while it runs."""
        return max(2 * self.poll_s, self.at_once / LOG_READS)
