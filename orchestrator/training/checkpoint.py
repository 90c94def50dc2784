"""Checkpoints for a training script: it saves as it goes, and goes on where it stopped. Needs nothing but Python.

    from orchestrator import Checkpoints

    checkpoints = Checkpoints(save=lambda path: torch.save(state(), path), load=lambda path: restore(torch.load(path)))
    for epoch in checkpoints.steps(epochs):
        train(epoch)

The loop begins after the last step that lies saved, whole. It saves every now and then, after the last step, and when
this machine is about to go: on SIGTERM or, if asked to look for it, EC2's notice of a reclaimed spot instance. Then it
leaves with exit code 75: not finished, start me again.

All ranks run the same lines. All load; rank 0 saves, and it alone leaves when asked to: whatever started the ranks ends
the others, which are waiting for it by then.

A checkpoint is whatever `save` writes at the path it is given, a file or a folder. It lies in a slot, whose label comes
last and holds the checksums: what was cut short has no label, or not the right one. Slots are used again in turn, for
SageMaker never deletes from S3 what it once copied there, and brings all of it back.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.training.notice import Notice
from orchestrator.training.process import rank, write_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Writer = Callable[[Path], object]
    Reader = Callable[[Path], object]

UNFINISHED = 75
"""The exit code that says: not finished, start me again."""
EVERY = "SWEEP_CHECKPOINT_EVERY_S"
"""The variable in which `checkpoints: {every: 10m}` of the sweep file arrives."""
FOLDER = "SWEEP_CHECKPOINT_FOLDER"
"""The variable in which `checkpoints: {folder: /var/saved}` arrives."""
_EVERY_S = 60.0


class Checkpoints:
    """The checkpoints of one training. `save` and `load` are given a path; all else has a default that fits."""

    def __init__(
        self,
        save: Writer,
        load: Reader,
        *,
        keep: int = 3,
        every_s: float | None = None,
        folder: str | Path | None = None,
        on_ec2: bool = False,
    ) -> None:
        """Prepare; nothing is read or written yet.

        `save` writes the training's state at the path it is given, and `load` reads it from there. The newest `keep`
        checkpoints are kept. `every_s` is the seconds between two saves, 0 for a save after every step; by default it
        is what the sweep file says, or 60. The checkpoints lie in `folder`, by default in `standard_folder()`. With
        `on_ec2`, look for the instance's spot notice, too: SageMaker's instances have none to show.
        """
        self._save = save
        self._load = load
        self._every_s = float(os.environ.get(EVERY, _EVERY_S)) if every_s is None else every_s
        self._slots = Slots(Path(folder) if folder else standard_folder(), keep)
        self._notice = Notice(on_ec2=on_ec2)
        self._saved_at = time.monotonic()

    def steps(self, total: int) -> Iterator[int]:
        """Yield the steps that are left of 0..total-1. A step is done when the loop comes back for the next."""
        try:
            for step in range(self.resume(), total):
                yield step
                self.reached(step + 1, last=step + 1 == total)
        finally:
            self._notice.close()

    # For a loop that is a framework's: its callbacks call these two.

    def resume(self) -> int:
        """Load the newest whole checkpoint. Return how many steps are done: 0 when there is no checkpoint."""
        self._notice.listen()
        self._saved_at = time.monotonic()
        found = self._slots.newest(_say)
        if found is None:
            return 0
        self._load(found.path)
        _say(f"goes on after step {found.step}, from {found.path}")
        return found.step

    def reached(self, step: int, *, last: bool = False) -> None:
        """Take note that so many steps are done: save when it is time to.

        Raise SystemExit with UNFINISHED when this machine is about to go, unless this step was the last.
        """
        why = self._notice.why
        if rank() != 0:
            return
        if last or why or time.monotonic() - self._saved_at >= self._every_s:
            self._slots.write(step, self._save)
            self._saved_at = time.monotonic()
        if why and not last:
            _say(f"{why}: step {step} is saved, the rest is for the next time")
            raise SystemExit(UNFINISHED)


def standard_folder() -> Path:
    """Return the folder that SageMaker copies to S3; away from SageMaker, `checkpoints` in the working directory."""
    if FOLDER in os.environ:
        return Path(os.environ[FOLDER])
    base = Path(os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml"))
    return base / "checkpoints" if base.is_dir() else Path("checkpoints")


class Saved:
    """A slot with a label: how far the training was, and what the slot must hold."""

    def __init__(self, slot: Path, label: dict[str, Any]) -> None:
        self.slot = slot
        self.path = slot / _STATE
        self.step = int(label["step"])
        self._files: dict[str, list[Any]] = label["files"]

    def fault(self) -> str:
        """Return what is wrong with its files; empty when it is whole."""
        for name, (size, checksum) in self._files.items():
            file = self.slot / name
            if not file.is_file():
                return f"{name} is missing"
            if file.stat().st_size != size:
                return f"{name} has {file.stat().st_size} bytes of {size}"
            if _checksum(file) != checksum:
                return f"{name} does not match its checksum"
        return ""


class Slots:
    """The folder of checkpoints: `slot-0`, `slot-1` and so on, each with `state`, as written, and `label.json`."""

    def __init__(self, folder: Path, keep: int) -> None:
        if keep < 1:
            raise ValueError(f"keep is {keep}, and 1 is the least")
        self.folder = folder
        self.keep = keep
        self._spoilt: set[Path] = set()

    def newest(self, say: Callable[[str], None]) -> Saved | None:
        """Return the newest checkpoint that is whole, or None. Those that are not are named by `say` on the way."""
        for slot in sorted(self.folder.glob("slot-*")):
            if _label(slot) is None:
                say(f"{slot} was cut short: skipped")
        for saved in self._labelled():
            fault = saved.fault()
            if not fault:
                return saved
            say(f"{saved.slot} of step {saved.step} is spoilt, {fault}: skipped")
            self._spoilt.add(saved.slot)
        return None

    def write(self, step: int, write: Writer) -> None:
        """Write a checkpoint into a free slot; those that are kept stay as they are until this one is whole."""
        self._keep_newest()  # of what S3 has brought back
        slot = self._free_slot()
        shutil.rmtree(slot, ignore_errors=True)
        slot.mkdir(parents=True)
        write(slot / _STATE)
        files = {file.relative_to(slot).as_posix(): _size_and_checksum_on_disk(file) for file in _files(slot)}
        if not files:
            raise RuntimeError(f"save wrote nothing at {slot / _STATE}")
        _write_whole(slot / _LABEL, json.dumps({"step": step, "files": files}))
        self._spoilt.discard(slot)
        self._keep_newest()

    def _labelled(self) -> list[Saved]:
        """Return the slots that have a label, newest first, without those found spoilt."""
        found = [(slot, _label(slot)) for slot in self.folder.glob("slot-*") if slot not in self._spoilt]
        saved = [Saved(slot, label) for slot, label in found if label is not None]
        return sorted(saved, key=lambda each: each.step, reverse=True)

    def _keep_newest(self) -> None:
        for saved in self._labelled()[self.keep :]:
            shutil.rmtree(saved.slot, ignore_errors=True)

    def _free_slot(self) -> Path:
        """Return the first slot that holds nothing to be kept."""
        taken = {saved.slot for saved in self._labelled()}
        slots = (self.folder / f"slot-{number}" for number in range(len(taken) + 1))
        return next(slot for slot in slots if slot not in taken)


_STATE = "state"
_LABEL = "label.json"


def _label(slot: Path) -> dict[str, Any] | None:
    try:
        label = json.loads((slot / _LABEL).read_text(encoding="utf-8"))
        return {"step": int(label["step"]), "files": dict(label["files"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _files(slot: Path) -> list[Path]:
    return sorted(file for file in slot.rglob("*") if file.is_file())


def _size_and_checksum_on_disk(file: Path) -> list[Any]:
    """Wait until the file is on the disk, and return its size and its checksum."""
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
    return [file.stat().st_size, _checksum(file)]


def _checksum(file: Path) -> str:
    hashed = hashlib.sha256()
    with file.open("rb") as opened:
        for block in iter(lambda: opened.read(1 << 20), b""):
            hashed.update(block)
    return hashed.hexdigest()


def _write_whole(file: Path, text: str) -> None:
    """Write all of the file or nothing, even if the power goes."""
    beside = file.with_name(file.name + ".new")
    with beside.open("w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    beside.replace(file)
    folder = os.open(str(file.parent), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _say(text: str) -> None:
    if rank() == 0:
        write_line(f"checkpoint: {text}")
