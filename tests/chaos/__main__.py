"""`python -m tests.chaos --seed 7 --minutes 5`: play stories for so long. 1 if a promise was broken."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from orchestrator.localcloud import LocalCloud
from tests.chaos.audit import BROKEN, Audit
from tests.chaos.stage import Stage
from tests.chaos.story import Story

SHOWN = 20
"""Broken promises that are shown."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=5.0)
    asked = parser.parse_args()
    audit, until, killed, struck, stories = Audit(), time.monotonic() + asked.minutes * 60, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder, LocalCloud(Path(folder) / "cloud", trainings=4) as cloud:
        stage = Stage(Path(folder) / "stage", cloud, asked.seed)
        while time.monotonic() < until:
            story = Story(stage, asked.seed * 100_000 + stories, audit)
            broken_before = sum(map(len, audit.broken.values()))
            story.play()
            stories += 1
            killed += story.commands_killed
            struck += story.troubles.struck
            if sum(map(len, audit.broken.values())) > broken_before:
                print(f"{story.name}:", *filter(None, story.told), sep="\n    ", file=sys.stderr, flush=True)
        story.auditor.launchers_faults()
        marks = stage.folder / "kills"
        launchers_killed = len(marks.read_text().splitlines()) - killed if marks.exists() else 0
        print(f"seed {asked.seed}: {stories} runs of {audit.tasks} tasks, {audit.trainings} trainings")
        print(f"killed: {killed} commands, {launchers_killed} launchers; calls and machines hit: {struck}")
        print(f"bills compared: {audit.bills}")
        print(", ".join(f"{promise} {len(audit.broken[promise])}" for promise in BROKEN))
        for promise in BROKEN:
            for what in audit.broken[promise][:SHOWN]:
                print(f"{promise}: {what}", file=sys.stderr)
    return 1 if any(audit.broken.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
