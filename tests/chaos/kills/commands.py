"""What people type, as actors on paper, such as `submit` and `retry`, each on a machine with a database."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.errors import SweepError
from orchestrator.runs.ending.cancel import cancel
from orchestrator.runs.sending.proposal import Proposal
from orchestrator.runs.sending.unstarted import find_unstarted
from orchestrator.runs.written.planned import Planned, pieces
from tests.chaos.paper.hub import Actor

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator import Orchestrator, Plan
    from orchestrator.runs.views.status import Status
    from orchestrator.wire.result import Outcome
    from tests.chaos.kills.fork import Forks
    from tests.chaos.kills.team import Team
    from tests.chaos.paper.hub import Hub

LINES = 400
"""About so many lines are run from one kill at a line to the next, where lines are boundaries."""


@dataclass
class Played:
    """What came of a command."""

    words: str
    said: str = ""
    """The error that it ended with; empty if it came through."""
    killed: bool = False

    @property
    def is_ok(self) -> bool:
        return not self.said and not self.killed


@dataclass
class Commands:
    """Plays commands of one run."""

    team: Team
    hub: Hub
    forks: Forks
    run: str
    plan: Plan
    lines: bool = False
    """Lines are boundaries, too."""

    def play(self, *wanted: tuple[str, str]) -> list[Played]:
        """Play these side by side, each a machine and a word, and return what came of each."""
        actors = [self.start(machine, word) for machine, word in wanted]
        self.hub.wait_for(actors)
        return [self._played(actor) for actor in actors]

    def start(self, machine: str, word: str) -> Actor:
        """Begin to play a command."""
        actor = Actor(f"{machine}: sweep {word}", word, machine=machine)
        return self.hub.spawn(actor, lambda: self._act(machine, word))

    def _played(self, actor: Actor) -> Played:
        played = Played(actor.name, killed=actor.killed, said=actor.answer or "")
        outcome = "killed" if played.killed else played.said or "ok"
        self.forks.told.append(f"{self.hub.now:.0f} {played.words}: {outcome}")
        return played

    def _act(self, machine: str, word: str) -> str:
        if self.lines:
            self.forks.watch_lines(LINES)
        orchestrator = self.team.orchestrator(machine)
        try:
            self._verb(word)(orchestrator)
        except SweepError as error:
            return f"{type(error).__name__}: {error}"
        except Exception:  # noqa: BLE001  it is told as a bug
            self.forks.find("bugs", f"{machine} {word}: {traceback.format_exc()}")
            return "a bug"
        return ""

    def _verb(self, word: str) -> Callable[[Orchestrator], object]:
        return {
            "submit": lambda sweep: sweep.submit(self.plan, name=self.run),
            "retry": lambda sweep: sweep.run(self.run).retry(),
            "cancel": self._cancel,
            "replan": self._replan,
            "sync": lambda sweep: sweep.run(self.run).sync(),
            "status": lambda sweep: sweep.run(self.run).sync(documents=False),
            "watch": self._watch,
        }[word]

    def _cancel(self, sweep: Orchestrator) -> None:
        run = sweep.run(self.run)
        cancel(run.anchor, run.ledger, run.cloud, self.hub.sleep)

    def _replan(self, sweep: Orchestrator) -> None:
        """Move what has not been started to its second place, as if that had become cheaper."""
        run = sweep.run(self.run)
        found = find_unstarted(run.anchor, run.ledger, run.cloud)
        there = [share for share in pieces(found.plan.shares, found.tasks) if len(share.places) > 1]
        shares = tuple(replace(share, places=(*share.places[1:], share.places[0])) for share in there)
        if shares:
            run.replan(Proposal(found, Planned(shares), 2.0, 1.0, 1.0, 1.0, None, 0, fastest=False))

    def _watch(self, sweep: Orchestrator) -> None:
        for _ in sweep.run(self.run).watch(600.0):
            continue

    def look(self, machine: str) -> tuple[Status, list[Outcome]]:
        """Return what a machine believes."""
        run = self.team.orchestrator(machine).run(self.run)
        known = list(run.ledger.known(self.run))
        return run.status(), [outcome for one in known for outcome in one.result.outcomes]
