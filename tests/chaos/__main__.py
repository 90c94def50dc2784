"""`python -m tests.chaos --seed 7 --minutes 5`: half of the time on paper, half in a storm. 1 if a promise broke."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.chaos.kills.play import play_story, warm_up
from tests.chaos.kills.script import Choice
from tests.chaos.kills.team import Office
from tests.chaos.report import PROMISES, Report
from tests.chaos.storm.casts import CASTS
from tests.chaos.storm.play import play_storm

if TYPE_CHECKING:
    from collections.abc import Callable

SHOWN = 3
"""Broken promises of each kind that are shown."""
LAST, SHORT = 10, 400
"""Broken promises that the last lines tell, and characters of each."""
STORIES = 100_000
"""The most stories of one seed."""
KILLED = 0.02
"""The part of a paper story's boundaries at which somebody is killed: about twenty a story."""


def main() -> int:
    if os.environ.get("PYTHONHASHSEED") != "0":  # else sets would have another order each time
        os.execve(
            sys.executable, [sys.executable, "-m", "tests.chaos", *sys.argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"}
        )
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--part", choices=["both", "kills", "storm"], default="both")
    casts = [cast.name for cast, _ in CASTS]
    parser.add_argument(
        "--cast", choices=casts, default="", metavar="NAME", help=f"who plays in the storm: {', '.join(casts)}"
    )
    parser.add_argument("--replay", metavar="STORY", help="play one story on paper again, such as 700003.279.262")
    asked = parser.parse_args()
    if asked.replay:
        return replay_kill(asked.replay)
    if asked.cast and asked.part != "storm":
        parser.error("--cast is of the storm: add --part storm")
    parts = ["kills", "storm"] if asked.part == "both" else [asked.part]
    play = {"kills": play_kills, "storm": partial(play_storm, only=asked.cast)}
    titles = {"kills": "on paper", "storm": "on the local cloud"}
    total = Report()
    for part in parts:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            until = time.monotonic() + asked.minutes * 60 / len(parts)
            report = play[part](asked.seed, Path(folder), until, tell)
        print(report.table(f"seed {asked.seed}, {titles[part]}"), flush=True)
        total.add(report)
    broken = Counter(promise for promise, _ in total.broken)
    print(
        f"in all {total.injected} faults and kills:", ", ".join(f"{promise} {broken[promise]}" for promise in PROMISES)
    )
    for promise, what in total.broken[:LAST]:  # once more, where whoever reads only the end of a log finds it
        print(f"broken: {promise}: {' '.join(what.split())[:SHORT]}")
    return 1 if total.broken else 0


def play_kills(seed: int, folder: Path, until: float, told: Callable[[str, Report], None]) -> Report:
    """Play stories on paper until this moment."""
    logging.getLogger().addHandler(logging.NullHandler())
    total = Report()
    office = Office(folder / "office")
    warm_up(office)
    number = 0
    while time.monotonic() < until:
        choice = choose(seed, number)
        report = play_story(choice, office, folder)
        told(str(choice), report)
        total.add(report)
        number += 1
    return total


def choose(seed: int, number: int) -> Choice:
    """Return what a story on paper is to show: most have bad weather, and some are killed at lines, too."""
    chance = Random(f"{seed} {number}")
    return Choice(seed * STORIES + number, chance.random() < 0.8, chance.random() < 0.15, KILLED)


def replay_kill(path: str) -> int:
    """Play one story on paper again, with the kills that its path names and no others, and show all of it."""
    choice = replace(choose(*divmod(int(path.partition(".")[0]), STORIES)), replay=path)
    with tempfile.TemporaryDirectory() as folder:
        office = Office(Path(folder) / "office")
        warm_up(office)
        report = play_story(choice, office, Path(folder))
    tell(str(choice), report)
    return 1 if report.broken else 0


def tell(words: str, report: Report) -> None:
    """Say at once which promises a story has broken, and how it went."""
    for promise in PROMISES:
        for _, what in [one for one in report.broken if one[0] == promise][:SHOWN]:
            print(f"{promise}: {what}\n  in {words}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
