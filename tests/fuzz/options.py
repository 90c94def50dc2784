"""The command line, with arguments that nobody meant. What would start a service, or run a demo, is not called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.cli.app import main
from tests.fuzz.mutate import NASTY, mutated
from tests.fuzz.readers import Input

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

COMMANDS = (
    "plan",
    "submit",
    "runs",
    "status",
    "logs",
    "results",
    "artifacts list",
    "artifacts get",
    "cost",
    "cancel",
    "retry",
    "sync",
    "catalog show",
    "catalog check",
    "catalog load",
    "schema",
    "watch",
    "why",
    "reap",
    "limit",
    "reproduce",
    "diff",
)
OPTIONS = (
    "--json",
    "--task",
    "--name",
    "--again",
    "--dry-run",
    "--explain",
    "--diff",
    "--frontier",
    "--classic",
    "-o",
    "--plot",
    "--csv",
    "--top",
    "--metric",
    "--no-sync",
    "--yes",
    "--database",
    "--region",
    "--profile",
    "--time-limit",
    "--slots",
    "--kind",
    "--",
    "-h",
    "--to",
)


class CommandLines:
    """Makes command lines about files in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self, random: Random) -> Input:
        """Return a new command line."""
        files = [path.name for path in self.folder.iterdir()] + ["/dev/zero", "/dev/null", "nowhere"]
        words = random.choice(COMMANDS).split()
        for _ in range(random.randrange(5)):
            word = random.choice((random.choice(OPTIONS), random.choice(NASTY), random.choice(files)))
            words.append(mutated(word, random) if random.random() < 0.2 else word)
        words = [word.replace("\0", "") for word in words]  # no program can be given one
        words.append("--no-sync" if random.random() < 0.1 else "--json")
        return Input(f"sweep {words}", lambda: main(words))
