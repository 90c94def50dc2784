"""Which objects in S3 are the newest checkpoint that is whole, and which of them is copied last."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.aws.s3 import Listed
from orchestrator.launcher.moving.newest import newest_checkpoint
from orchestrator.training.checkpoint import Slots

if TYPE_CHECKING:
    from pathlib import Path

PREFIX = "runs/nightly/checkpoints/7/"


class Prefix:
    """A prefix in S3, in memory: what is put later is newer."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}
        self.times: dict[str, float] = {}

    def put(self, name: str, body: bytes, at: float = 0.0) -> None:
        self.bodies[PREFIX + name] = body
        self.times[PREFIX + name] = at or 1000.0 + len(self.times)

    def put_slot(self, number: int, step: int, state: bytes = b"state", at: float = 0.0) -> None:
        self.put(f"slot-{number}/state", state, at)
        label = {"step": step, "files": {"state": [len(state), "sum"]}}
        self.put(f"slot-{number}/label.json", json.dumps(label).encode(), at)

    def newest(self) -> list[str]:
        items = [Listed(key, '"e"', len(body), self.times[key]) for key, body in self.bodies.items()]
        found = newest_checkpoint(items, PREFIX, self.bodies.__getitem__)
        return [item.key.removeprefix(PREFIX) for item in found]


def test_of_several_slots_the_one_that_is_furthest_is_taken_and_its_label_comes_last() -> None:
    prefix = Prefix()
    for number, step in ((2, 30), (0, 50), (1, 40)):
        prefix.put_slot(number, step)
    assert Prefix().newest() == []
    prefix.times.update(dict.fromkeys(prefix.times, 1.0))
    assert prefix.newest() == ["slot-0/state", "slot-0/label.json"]


def test_a_slot_that_lacks_a_file_or_a_byte_or_a_label_is_passed_over() -> None:
    for spoil in ("slot-1/state", "slot-1/label.json"):
        prefix = Prefix()
        prefix.put_slot(0, 10)
        prefix.put_slot(1, 20)
        del prefix.bodies[PREFIX + spoil]
        assert prefix.newest() == ["slot-0/state", "slot-0/label.json"], spoil
    prefix = Prefix()
    prefix.put_slot(0, 10)
    prefix.put_slot(1, 20)
    prefix.bodies[PREFIX + "slot-1/state"] = b"stat"
    assert prefix.newest() == ["slot-0/state", "slot-0/label.json"]
    prefix.bodies[PREFIX + "slot-0/label.json"] = b"no label"
    assert prefix.newest() == []


def test_a_label_that_came_before_its_files_is_passed_over() -> None:
    prefix = Prefix()
    prefix.put_slot(0, 10, at=10.0)
    prefix.put_slot(1, 20, at=20.0)
    prefix.put_slot(0, 30, at=30.0)
    assert prefix.newest()[-1] == "slot-0/label.json"
    prefix.times[PREFIX + "slot-0/state"] = 10.0  # of step 10 still: the upload of step 30's was cut short
    assert prefix.newest() == ["slot-1/state", "slot-1/label.json"]


def test_files_of_another_making_are_all_taken_what_was_written_last_comes_last() -> None:
    prefix = Prefix()
    prefix.put("checkpoint-20/model.bin", b"2", at=20.0)
    prefix.put("checkpoint-10/model.bin", b"1", at=10.0)
    prefix.put("done.txt", b"", at=21.0)
    prefix.put("folder/", b"", at=30.0)
    assert prefix.newest() == ["checkpoint-10/model.bin", "checkpoint-20/model.bin", "done.txt"]
    prefix.put_slot(3, 1)
    assert prefix.newest()[-2:] == ["slot-3/state", "slot-3/label.json"]


@settings(max_examples=25)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=9, unique=True), st.integers(1, 3), st.data())
def test_what_a_training_wrote_is_found_as_the_training_itself_would(
    tmp_path_factory: Any, steps: list[int], keep: int, data: st.DataObject
) -> None:
    folder: Path = tmp_path_factory.mktemp("checkpoints") / "there"
    prefix, slots = Prefix(), Slots(folder, keep)
    for moment, step in enumerate(sorted(steps)):
        slots.write(step, lambda path, step=step: path.write_text(f"{step:02}" * 5))  # type: ignore[misc]
        for file in sorted(folder.rglob("*")):  # nothing is ever deleted in S3
            name = file.relative_to(folder).as_posix()
            if file.is_file() and prefix.bodies.get(PREFIX + name) != file.read_bytes():
                prefix.put(name, file.read_bytes(), at=1.0 + moment)
    lost = data.draw(st.sampled_from([None, *sorted(prefix.bodies)]))
    if lost:
        del prefix.bodies[lost]
    everything = [key.removeprefix(PREFIX) for key in prefix.bodies]
    assert step_in(folder.parent / "brought", prefix, prefix.newest()) == step_in(folder, prefix, everything)


def step_in(folder: Path, prefix: Prefix, names: list[str]) -> int | None:
    """Return the step that a training goes on after that finds these objects of a prefix, and no others."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(prefix.bodies[PREFIX + name])
    found = Slots(folder, 3).newest(lambda _: None)
    return found.step if found else None
