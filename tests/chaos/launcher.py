"""`python -m tests.chaos.launcher`: a launcher as Batch starts it, some of them with a doom of their own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from random import Random

from orchestrator.launcher.__main__ import main
from tests.chaos.doom import Doom

KILLED = 0.35
"""The part of launchers that are killed, while the stage is not calm."""


def draw_doom() -> None:
    folder = Path(os.environ["CHAOS_FOLDER"])
    me = [os.environ[name] for name in ("CHAOS_SEED", "AWS_BATCH_JOB_ID", "AWS_BATCH_JOB_ATTEMPT")]
    chance = Random(" ".join(me))
    if chance.random() < KILLED and not (folder / "calm").exists():
        doom = Doom.draw(chance)
        while doom.kind.startswith("commit"):
            doom = Doom.draw(chance)
        doom.await_in_this_process(folder / "kills")


if __name__ == "__main__":
    import logging

    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    draw_doom()
    sys.exit(main())
