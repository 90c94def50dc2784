"""When is a launcher to look at its training? Now and then by itself, and soon when the board of its Region names it.

Where many trainings run at once, each is looked at rarely, for AWS answers few calls a second. There one launcher of
the Region lists what has ended, and writes it on a board that all others read. Whoever finds the board left alone takes
it. Two who write it, or nobody, do no harm: a name on it is looked up in its Region, and that alone is proof.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from orchestrator.errors import AlreadyExists, NotFound, SweepError
from orchestrator.launcher.watching.pace import BOARD_S, HINTED, STALE_S, TELLS_S
from orchestrator.wire.beside.board import Board

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.aws.control import Control
    from orchestrator.launcher.watching.pace import Pace
    from orchestrator.launcher.world import World
    from orchestrator.platforms.base import Runner
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.task import Lane

log = logging.getLogger(__name__)

PAGES = 20
"""Calls that one listing takes at the most. What they do not show is found by the slow looks at each training."""
PAGE_S = 1.0
"""Seconds from one call of a listing to the next."""
OVERLAP_MS = 30_000
"""Milliseconds that are listed again: clocks differ a little, and a listing shows an end a moment late."""
FIRST_LISTING_MS = 300_000
"""Milliseconds that the first listing of a run looks back."""


class Lookout:
    """Waits until a training is to be looked at, one training after the other."""

    def __init__(
        self,
        control: Control,
        runners: Callable[[str], Runner],
        world: World,
        pace: Callable[[Lane], Pace],
    ) -> None:
        """`pace` returns how often trainings of a lane's Region may be looked at."""
        self.control = control
        self.runners = runners
        self.world = world
        self.pace = pace
        self._watched: Attempt | None = None
        self._looked_at = 0.0
        """When the training was looked at last, or first watched."""
        self._looks = 0
        """Looks at the watched training so far."""
        self._jitter = 1.0
        self._spread = 0.0
        """Our turn among all launchers that begin to look by themselves at one moment: from 0 to 1."""
        self._alone_since: float | None = None
        """Since when nobody has told us of ends; None while somebody does."""
        self._hinted_at: float | None = None
        """When the training is to be looked at, because the board has named it; None if it has not."""
        self._hint_taken: tuple[str, int] | None = None
        """The training that we have looked at because of the board, and since when it stood there."""
        self._logs_at = 0.0
        """When the training's log is to be read again."""
        self._board = Board()
        self._etag: str | None = None
        self._moment = 0
        """When we saw the board last, or wrote it: by S3's clock."""
        self._seen_at = 0.0
        """When that was, by our own clock."""
        self._fresh_at: float | None = None
        """When the board was first seen as it is now, or we failed to keep it; None before that."""
        self._board_at = 0.0
        """When the board is to be seen to again."""
        self.holds_board = False
        """We are the one who lists and writes."""
        self._pages: Iterator[frozenset[str]] | None = None
        self._listed: frozenset[str] = frozenset()

    def wait(self, attempt: Attempt) -> None:
        """Return when the training is to be looked at, or when a SIGTERM has come."""
        while (pause := self.step(attempt)) > 0:
            self.world.sleep(pause)
            if self.world.terminated():
                return

    def step(self, attempt: Attempt) -> float:
        """Do what is due, and return the seconds until this should be called again; 0 to look at the training now."""
        now, pace = self.world.now(), self.pace(attempt.lane)
        if self._watched is None or self._watched.training != attempt.training:
            self._begin(attempt, now)
            self._board_at = now + self.world.uniform(0, pace.board_s)
        if pace.needs_board and now >= self._board_at and now < self._due(pace):
            self._see_to_board(attempt, pace)
        due = self._due(pace)
        if now >= due:
            self._looks += 1
            self._draw(now)
            return 0.0
        return (min(due, self._board_at) if pace.needs_board else due) - now

    def reads_logs(self, attempt: Attempt) -> bool:
        """Return whether the training's log is to be read at this look. Reading it is rarer than looking."""
        now = self.world.now()
        if now < self._logs_at:
            return False
        self._logs_at = now + self.pace(attempt.lane).logs_s
        return True

    def leave(self) -> None:
        """Leave the board to somebody else, if we hold it. If that cannot be said, others will see it in a minute."""
        if self.holds_board:
            self._quietly(lambda: self._write(replace(self._board, holder="")))
            self.holds_board = False

    def _begin(self, attempt: Attempt, now: float) -> None:
        self._watched = attempt
        self._looks = 0
        self._logs_at = 0.0
        self._draw(now)

    def _draw(self, now: float) -> None:
        """Begin to wait for the next look."""
        self._looked_at = now
        self._jitter = self.world.uniform(0.75, 1.25)
        self._spread = self.world.uniform(0, 1)
        self._hinted_at = None

    def _due(self, pace: Pace) -> float:
        """Return when the training is to be looked at."""
        due = self._due_alone(pace) if pace.needs_board else self._looked_at + pace.alone_s * self._jitter
        if self._looks == 0:
            due = min(due, self._looked_at + pace.first_look_s * self._jitter)
        return due if self._hinted_at is None else min(due, self._hinted_at)

    def _due_alone(self, pace: Pace) -> float:
        """Return when the training is looked at if no board names it.

        When a board loses its holder, all launchers begin to look at their trainings more often, but in turn.
        """
        slow = self._looked_at + pace.beside_board_s * self._jitter
        if self._board_tells():
            self._alone_since = None
            return slow
        if self._alone_since is None:
            self._alone_since = self.world.now()
        turn = self._alone_since + pace.alone_s * self._spread
        return min(slow, max(turn, self._looked_at + pace.alone_s * self._jitter))

    def _board_tells(self) -> bool:
        """Return whether somebody has listed lately what has ended, and told it."""
        since_listing = (self._moment - self._board.listed_to) / 1000 + self.world.now() - self._seen_at
        return self._board.listed_to > 0 and since_listing <= TELLS_S

    def _see_to_board(self, attempt: Attempt, pace: Pace) -> None:
        """Write the board if it is ours, else read it; take it if nobody holds it."""
        self._board_at = self.world.now() + pace.board_s * self.world.uniform(0.75, 1.25)
        if self.holds_board:
            self._quietly(lambda: self._list(attempt))
        else:
            self._quietly(lambda: self._read(attempt))
        self._take_hint(attempt, pace)

    def _quietly(self, act: Callable[[], None]) -> None:
        """Do it. If it fails, we leave the board alone for a while."""
        try:
            act()
        except SweepError as error:
            log.warning("no board: %s", error)
            # Somebody else may try, or we, but not at once.
            self.holds_board, self._pages, self._fresh_at = False, None, self.world.now()

    def _read(self, attempt: Attempt) -> None:
        now = self.world.now()
        found = self.control.board(attempt.lane.platform, attempt.lane.region)
        etag = found.etag if found else None
        if etag != self._etag or self._fresh_at is None:
            self._etag, self._fresh_at = etag, now
        self._board = found.board if found else Board()
        self._moment, self._seen_at = found.moment if found else 0, now
        if not self._board.holder or now - self._fresh_at > STALE_S:
            self._take(attempt)

    def _take(self, attempt: Attempt) -> None:
        """Take the board that nobody holds. If others want it too, one of us gets it."""
        log.info("%s: taking the board of %s", attempt.training, attempt.lane.region)
        self._write(replace(self._board, holder=attempt.training))
        if self.holds_board:
            self._board_at = self.world.now() + PAGE_S

    def _list(self, attempt: Attempt) -> None:
        """Take the next page of a listing; after the last, write what was found on the board."""
        if self._pages is None:
            since = (self._board.listed_to or self._moment - FIRST_LISTING_MS) - OVERLAP_MS
            runner = self.runners(attempt.lane.platform)
            self._pages = islice(runner.ended(attempt.lane.region, self.control.run, since / 1000), PAGES)
            self._listed = frozenset()
        page = next(self._pages, None)
        if page is not None:
            self._listed |= page
            self._board_at = self.world.now() + PAGE_S
            return
        self._pages = None
        self._board_at = self.world.now() + BOARD_S
        # The board was seen or written last before this listing began: what ends later is listed next time.
        ended = self._board.with_ended(self._listed, self._moment)
        self._write(Board(attempt.training, self._moment, ended))

    def _write(self, board: Board) -> None:
        """Write the board, unless somebody else has meanwhile: then it is theirs."""
        watched = self._watched
        if watched is None:
            return
        try:
            written = self.control.write_board(watched.lane.platform, watched.lane.region, board, self._etag)
        except (AlreadyExists, NotFound):
            self.holds_board = False
            return
        self.holds_board = True
        self._board, self._etag, self._moment = board, written.etag, written.moment
        self._fresh_at = self._seen_at = self.world.now()

    def _take_hint(self, attempt: Attempt, pace: Pace) -> None:
        """Look at the training soon, once, if the board names it. Many that were named at once take their turns."""
        since = self._board.ended.get(attempt.training)
        if since is None or self._hinted_at is not None or self._hint_taken == (attempt.training, since):
            return
        self._hint_taken = (attempt.training, since)
        turns_s = max(self._board.newest / HINTED - pace.board_s, 0.0)
        self._hinted_at = self.world.now() + self.world.uniform(0, turns_s)
