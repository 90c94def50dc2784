"""What version 1 has written of nights is read for ever: the files of tests/golden are never changed."""

from __future__ import annotations

import json
from pathlib import Path

from orchestrator.conductor.notes import Notes
from orchestrator.conductor.step import Action, Done, Note
from orchestrator.nightly.goal import read_goal
from orchestrator.nightly.picking.choose import Piece
from orchestrator.nightly.picking.picked import Picked
from orchestrator.nightly.picking.trained import read_trained
from orchestrator.nightly.picking.under_way import UnderWay
from orchestrator.nightly.shelf import Entry, Night, Shelf
from orchestrator.snapshots import POINTER, Pushed, Snapshots
from orchestrator.wire.names import digest
from tests.launcher.fakes import Bucket

GOLDEN = Path(__file__).parents[1] / "golden" / "v1"
PLACES = {
    "note.json": "conductor/g1/nightly-2026-11-20/notes/1.json",
    "note.done.json": "conductor/g1/nightly-2026-11-20/notes/1.done.json",
    "schedule.json": "schedules/nightly/schedule.json",
    "night.json": "schedules/nightly/nights/2026-11-20.json",
    "under-way.json": "workloads/steering/under-way.json",
    "trained.json": "workloads/steering/trained/nightly-20261120.json",
    "catalog-pointer.json": POINTER,
}


def bucket() -> Bucket:
    made = Bucket()
    for name, key in PLACES.items():
        made.put_once(key, (GOLDEN / name).read_bytes())
    return made


def test_a_note_and_what_became_of_it_are_read() -> None:
    done = Done({"run": "nightly-20261120"})
    action = Action("submit", {"piece": 0, "try": 1, "run": "nightly-20261120"})
    notes = Notes(bucket(), "g1", "nightly-2026-11-20")  # type: ignore[arg-type]
    assert notes.read() == (Note(1, action, 1795000000.5, done),)


def test_a_schedule_and_a_night_are_read() -> None:
    shelf = Shelf(bucket())  # type: ignore[arg-type]
    definition = "arn:aws:batch:us-east-1:123456789012:job-definition/sweep-conductor-1:1"
    entry = Entry("nightly", "8b1f", 1795000000.5, 1794000000.5, "ada", True, 3, definition)
    assert shelf.entry("nightly") == entry
    assert shelf.night("nightly", "2026-11-20") == Night("2026-11-20", "nightly", "8b1f", 1795136400.0, "Batch job 1")


def test_what_was_trained_is_read() -> None:
    assert read_trained(bucket(), "steering") == {"0a1b", "2c3d"}  # type: ignore[arg-type]


def test_what_is_under_way_is_read() -> None:
    night = Night("2026-11-20-r1", "weekly", "8b1f", 1795136400.0, "Batch job 1")
    claim = UnderWay(bucket(), "steering").take(night, lambda _: None)  # type: ignore[arg-type]
    assert claim is not None
    assert (claim.name, claim.goal, claim.keys) == ("weekly/2026-11-20-r1", "8b1f", {"0a1b", "2c3d"})
    assert Picked.from_json(claim.picked).works == ("w1",)


def test_what_was_picked_is_read() -> None:
    picked = Picked.from_json(json.loads((GOLDEN / "picked.json").read_text()))
    pieces = (Piece(("oslo", "paris"), ()), Piece(("rome",), (0, 2)))
    assert picked == Picked(pieces, ("w1",), {"oslo": ["m1", "m2"]}, ("eu-west-1",), 10, "10 of 12 tasks")


def test_a_goal_is_read_by_the_name_that_it_was_written_under() -> None:
    """Even where it has a field that is not known here, and lacks one that is."""
    text = json.loads((GOLDEN / "goal.json").read_text())
    del text["query"]
    for body in (text, {**text, "newer": 1}):
        made, name = bucket(), digest(body, 16)
        made.put_once(f"conductor/{name}/goal.json", json.dumps(body).encode())
        goal = read_goal(made, name)  # type: ignore[arg-type]
        assert (goal.schedule, goal.code, goal.names, goal.query) == ("nightly", "c0de", ("train.py",), "")
        assert (goal.sweep.name, goal.when.timezone) == ("steering", "Europe/Berlin")


def test_the_pointer_to_the_newest_catalog_is_read() -> None:
    pushed = Pushed("5eed", 29, 1795000000.5, "ada", "01d")
    assert Snapshots(bucket()).newest() == pushed  # type: ignore[arg-type]
