"""Names stored objects that are gone, though others tell that they were there: nobody ever deletes them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from orchestrator.errors import Damaged

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission

MOST = 5
"""The most objects that are named of one task, or of the submissions: a stored number may be of any size."""


def note_gone_submissions(anchor: Anchor, numbers: Collection[int], newest: int, ledger: Ledger, cloud: Cloud) -> None:
    """Name the submissions up to the newest that are not among these numbers, and not in the bucket either."""
    for number in _missing(numbers, newest):
        key = anchor.keys.submission(number)
        if not cloud.s3.exists(key):  # else it was made since somebody has looked
            witness = f"submission {newest} is there" if newest in numbers else "it was there before"
            ledger.damage.note(Damaged(f"is gone, though {witness}", where=cloud.s3.uri(key)))


def check_submissions(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> None:
    """Raise Damaged if results tell of a submission beyond these that is gone: its number may not be given again."""
    told = ledger.newest_submission(anchor.name)
    key = anchor.keys.submission(told)
    if told > len(made) and not cloud.s3.exists(key):
        hint = "bring an earlier version of it back"
        raise Damaged("is gone, though results tell of it", where=cloud.s3.uri(key), hint=hint)


def note_gone_attempts(
    anchor: Anchor, told: Iterable[tuple[int, int]], recorded: Iterable[tuple[int, int]], ledger: Ledger, cloud: Cloud
) -> None:
    """Name the attempts that are not recorded, though a later one is, or a result has told of it or of a later one.

    `told` are tasks and the newest attempts that results tell of. They must have been asked for before `recorded`.
    """
    newest, numbers = dict(told), dict[int, set[int]]()
    for task, number in recorded:
        numbers.setdefault(task, set()).add(number)
        newest[task] = max(newest.get(task, 0), number)
    for task, last in newest.items():
        for number in _missing(numbers.get(task, ()), last):
            where = cloud.s3.uri(anchor.keys.attempt(task, number))
            ledger.damage.note(Damaged(f"is gone, though task {task} has had {last} attempts", where=where))


def _missing(numbers: Collection[int], newest: int) -> list[int]:
    return list(islice((number for number in range(1, newest + 1) if number not in numbers), MOST))
