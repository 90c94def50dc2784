"""How long a training waited for machines, and how often it lost them, as its statuses say."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from orchestrator.platforms.sagemaker.described.waits import lost_at, times_interrupted, waited_seconds

START = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)
LACKS = "Starting - Insufficient capacity error from EC2 while launching instances, retrying!"


def status(name: str, began: int, ended: int | None, message: str = "") -> dict[str, Any]:
    its: dict[str, Any] = {"Status": name, "StartTime": START + timedelta(seconds=began), "StatusMessage": message}
    return its if ended is None else its | {"EndTime": START + timedelta(seconds=ended)}


def test_only_what_lacks_machines_is_a_wait() -> None:
    statuses = [status("Starting", 0, 100, "Launching requested ML instances"), status("Starting", 100, 400, LACKS)]
    statuses += [status("Pending", 400, 500), status("Downloading", 500, 600), status("Training", 600, 900)]
    assert waited_seconds(statuses, START.timestamp() + 500) == 400.0


def test_what_has_not_ended_lasts_until_now_and_what_comes_later_is_left_out() -> None:
    assert waited_seconds([status("Pending", 10, None)], START.timestamp() + 60) == 50.0
    assert waited_seconds([status("Pending", 10, 90)], START.timestamp() + 60) == 50.0
    assert waited_seconds([status("Pending", 70, 90)], START.timestamp() + 60) == 0.0
    assert waited_seconds([status("Pending", 10, 90)], None) == 0.0


def test_interruptions_are_counted() -> None:
    assert (
        times_interrupted([status("Training", 0, 9), status("Interrupted", 9, 10), status("Interrupted", 20, 21)]) == 2
    )


def test_machines_that_were_taken_away_are_lost_until_there_are_others() -> None:
    taken = [status("Training", 0, 9), status("Interrupted", 9, 10), status("Restarting", 10, None)]
    assert lost_at(taken) == taken[1]["StartTime"].timestamp()
    assert lost_at([*taken, status("Downloading", 20, None)]) is None
    assert lost_at(taken[:1]) is None
