"""Who plays in a story, and how often which of them is drawn."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


@dataclass(frozen=True)
class Cast:
    """Who plays in a story."""

    name: str
    machines: tuple[str, str]
    parallel: str = "single"
    instances: int = 1
    points: int = 4
    """The highest number of points on each of the two datasets."""
    checkpoints: bool = False
    canary: int = 0
    broken: bool = False
    """Its trainings fail, all alike, until somebody mends that before a retry. So it may pause."""
    platforms: tuple[str, ...] = ()
    """The platforms of all its stories; empty if these are SageMaker, and all three in every second one."""
    moves: bool = False
    """Its tasks have a deadline and their data in both Regions: they move when spot is taken away."""
    elastic: int = 0
    """The fewest pods that its trainings go on with; 0 if they need all."""


ALL = ("sagemaker", "ec2", "eks")
"""The platforms of a story over several."""
CASTS = (
    (Cast("two colleagues", ("ours", "theirs")), 5),
    (Cast("two instances", ("ours", "theirs"), instances=2, points=3), 2),
    (Cast("PostgreSQL", ("ours", "team")), 3),
    (Cast("PostgreSQL shared", ("team", "team")), 2),
    (Cast("an older version", ("ours", "old")), 2),
    (Cast("older launchers", ("ours", "theirs")), 2),
    (Cast("mpi", ("ours", "theirs"), parallel="mpi", points=2), 1),
    (Cast("torchrun on two instances", ("ours", "team"), parallel="torchrun", instances=2, points=1), 1),
    (Cast("torchrun on EC2", ("ours", "theirs"), parallel="torchrun", instances=2, points=1, platforms=("ec2",)), 1),
    (Cast("checkpoints", ("ours", "theirs"), checkpoints=True, points=3), 2),
    (Cast("torchrun with checkpoints", ("ours", "theirs"), parallel="torchrun", checkpoints=True, points=1), 1),
    (Cast("canaries", ("ours", "theirs"), canary=1), 2),
    (Cast("a mistake in the code", ("ours", "team"), broken=True), 2),
    (Cast("a mistake that canaries meet", ("ours", "theirs"), canary=1, broken=True), 1),
    (Cast("moves", ("ours", "theirs"), checkpoints=True, moves=True), 4),
    (Cast("moves over three platforms", ("ours", "team"), checkpoints=True, moves=True, platforms=ALL), 2),
    (
        Cast(
            "elastic",
            ("ours", "theirs"),
            parallel="torchrun",
            instances=3,
            points=1,
            checkpoints=True,
            platforms=("eks",),
            elastic=2,
        ),
        1,
    ),
)
"""All casts, each with how often it is drawn."""
EVERY, MOVES_AT = 5, 2
"""One story of so many is of moves, whatever is drawn, and which of them it is: a short campaign has one."""


def find_able(*, has_old: bool, only: str = "") -> list[tuple[Cast, int]]:
    """Return the casts that can play here, with how often each is drawn; with `only`, the one of this name.

    Those of an older version need that version, and those under `torchrun` need PyTorch. SystemExit if none is left.
    """
    has_torch = importlib.util.find_spec("torch") is not None
    able = [(cast, weight) for cast, weight in CASTS if cast.parallel != "torchrun" or has_torch]
    able = [(cast, weight) for cast, weight in able if has_old or "old" not in cast.name]
    able = [(cast, weight) for cast, weight in able if only in ("", cast.name)]
    if not able:
        raise SystemExit(f"the cast {only!r} cannot play here: the older version or PyTorch (`make torch`) is missing")
    return able


def draw_cast(able: list[tuple[Cast, int]], chance: Random) -> Cast:
    """Return one of these casts."""
    return chance.choices([cast for cast, _ in able], [weight for _, weight in able])[0]


def knows_all_platforms(cast: Cast) -> bool:
    """Return whether this cast can play a story over all platforms: the older version knows SageMaker alone."""
    return "old" not in cast.name


def draw_story(able: list[tuple[Cast, int]], number: int, chance: Random) -> tuple[Cast, tuple[str, ...]]:
    """Return who plays the story of this number, and its platforms: all of them in every second one.

    Some casts have platforms of their own.
    """
    knowing = [(cast, weight) for cast, weight in able if knows_all_platforms(cast)]
    moving = [(cast, weight) for cast, weight in able if cast.moves]
    mixed = number % 2 == 1 and bool(knowing)
    if number % EVERY == MOVES_AT and moving:
        able = knowing = moving
    cast = draw_cast(knowing if mixed else able, chance)
    return cast, cast.platforms or (ALL if mixed else ALL[:1])
