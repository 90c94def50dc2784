"""`python -m tests.chaos.storm.launcher`: a launcher as Batch starts it, some of an older version, some with a doom."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from random import Random

from tests.chaos.storm.doom import Doom

KILLED = 0.45
"""The part of launchers that are killed, while the stage is not calm."""
OLD = 0.5
"""The part of launchers that are of the older version, in stories that have it."""

IN_COPIES = 0.6
"""The part of these that dies in the middle of a move, in stories of moves."""
START_S = 6.0
"""Seconds that any start may take here without a want of machines: with AWS's it is a quarter of an hour."""


def prepare() -> None:
    """Choose this launcher's version, and its doom."""
    folder = Path(os.environ["CHAOS_FOLDER"])
    run = os.environ["SWEEP_MANIFEST"].split("/runs/")[1].split("/")[0]
    chance = Random(" ".join(os.environ[name] for name in ("CHAOS_SEED", "AWS_BATCH_JOB_ID", "AWS_BATCH_JOB_ATTEMPT")))
    old = chance.random() < OLD and (folder / f"{run}.old").exists()
    if old:
        sys.path.insert(0, str(folder / "old"))
    moves = (folder / f"{run}.moves").exists()
    if moves:
        from orchestrator.launcher.moving import leaving

        leaving.START_S = START_S
    if chance.random() < KILLED and not (folder / "calm").exists():
        doom = Doom.draw_copy(chance) if moves and chance.random() < IN_COPIES else Doom.draw(chance)
        while doom.kind.startswith("commit"):
            doom = Doom.draw(chance)
        doom.await_in_this_process("old-launcher" if old else "launcher", folder / "kills")
    with (folder / f"{run}.launchers").open("a") as file:
        file.write("old\n" if old else "new\n")


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    prepare()
    from orchestrator.launcher.__main__ import main

    sys.exit(main())
