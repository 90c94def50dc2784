"""Reads results themselves: those of which only news have come, and now and then whatever differs from the ledger."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.errors import Damaged, NewerVersion, NotFound
from orchestrator.runs.known.rows import Known
from orchestrator.runs.written.submission import state_now
from orchestrator.wire.result import Result
from orchestrator.wire.stored import damage_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission

READERS = 32
"""Results that are read at once."""


def read_documents(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> None:
    """Read the results that have changed since they were read. Those that are gone are named."""
    told = ledger.unread(anchor.name)
    _read(map(anchor.keys.result, told), anchor, made, ledger, cloud)
    _note_lost(ledger.unread(anchor.name), anchor, ledger, cloud)


def read_tasks(tasks: Iterable[int], anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> None:
    """Read the results of these tasks, whether anybody has told of them or not."""
    _read(map(anchor.keys.result, tasks), anchor, made, ledger, cloud)


def read_whole(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> int:
    """Read whatever differs from what is known, whether anybody has told of it or not. Return how many did.

    All results are listed. They are the truth, and news are only quicker.
    """
    known, there, changed = ledger.etags(anchor.name), set(), []
    for item in cloud.s3.list(anchor.keys.results):
        there.add(item.key)
        if known.get(item.key) != item.etag:
            changed.append(item.key)
    read = _read(changed, anchor, made, ledger, cloud)
    gone = (_task_of(key, anchor) for key in sorted(known.keys() - there))
    _note_lost((task for task in gone if task is not None), anchor, ledger, cloud)
    ledger.save_progress(anchor.name, replace(ledger.progress(anchor.name), whole_at=time.time()))
    return read


def _read(keys: Iterable[str], anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> int:
    """Read the results that have these keys, and return how many could be. The others are left out, and named."""

    def read(key: str) -> Known | None:
        where = cloud.s3.uri(key)
        try:
            stored = cloud.s3.get(key)
            with damage_named(where):
                result = _result_at(key, anchor, stored.json())
        except NotFound:
            return None
        except (Damaged, NewerVersion) as error:
            task = _task_of(key, anchor)
            if task is None:
                ledger.damage.note(error)
            else:
                ledger.damage.note_task(error, anchor.name, task)
            return None
        ledger.damage.mend(where, anchor.name, result.task)
        return Known(stored.etag, result, state_now(made, result) if made else result.state)

    with ThreadPoolExecutor(READERS) as pool:
        known = [one for one in pool.map(read, keys) if one]
    ledger.save(anchor.name, known)
    return len(known)


def _note_lost(tasks: Iterable[int], anchor: Anchor, ledger: Ledger, cloud: Cloud) -> None:
    """Name the results of these tasks that are not there, though somebody has told of them: results are never deleted.

    Those that are there and cannot be understood are named already.
    """
    for task in tasks:
        key = anchor.keys.result(task)
        if task not in ledger.damage.tasks(anchor.name) and not cloud.s3.exists(key):
            error = Damaged("is gone, though its launcher has told of it", where=cloud.s3.uri(key))
            ledger.damage.note_task(error, anchor.name, task)


def _result_at(key: str, anchor: Anchor, body: dict[str, Any]) -> Result:
    """Return the result that is stored under this key. ValueError if it is another task's, or of none of the run's."""
    result = Result.from_json(body)
    if anchor.keys.result(result.task) != key or result.task not in anchor.tasks:
        raise ValueError(f"it says that it is the result of task {result.task}")
    return result


def _task_of(key: str, anchor: Anchor) -> int | None:
    """Return the task whose result has this key, or None."""
    number = key.removeprefix(anchor.keys.results).removesuffix(".json")
    return int(number) if number.isdecimal() and number.isascii() and len(number) < 19 else None
