"""Keeps a prefix in S3 like the folder of checkpoints, while the training runs; at the start it is the other way round.

What was written first goes first: a checkpoint's label, which comes last, never lies in S3 before what it speaks of.
Nothing is deleted in S3, as under SageMaker. It travels into the training: standard library only.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from orchestrator.training.bare.files.bucket import S3Failed, Uri
from orchestrator.training.bare.files.transfer import fetch, find_below, send

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.training.bare.files.bucket import Bucket


class Saving:
    """Copies a folder's changes to S3, every few seconds and a last time."""

    def __init__(self, bucket: Bucket, folder: Path, prefix: str, every_s: float, say: Callable[[str], None]) -> None:
        self._bucket = bucket
        self._folder = folder
        self._prefix = Uri.parse(prefix.rstrip("/") + "/")
        self._every_s = every_s
        self._say = say
        self._copied: dict[Path, tuple[int, int]] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._copy_until_over, name="checkpoints", daemon=True)

    def restore(self) -> int:
        """Write all that S3 has into the folder; return how many files that is. Raise S3Failed or OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        wanted = list(find_below(self._bucket, self._prefix, self._folder))
        fetch(self._bucket, wanted)
        self._copied = {file: _state(file) for _, file in wanted}
        return len(wanted)

    def begin(self) -> None:
        """Copy changes from now on."""
        self._thread.start()

    def end(self) -> None:
        """Copy what has changed since, and stop. Raise S3Failed or OSError when it cannot all be copied."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        self.copy()

    def copy(self) -> None:
        """Copy each file that has changed since it was last copied. Raise S3Failed or OSError."""
        found = []
        for file in self._folder.rglob("*"):
            try:
                if file.is_file():
                    found.append((_state(file), file))
            except FileNotFoundError:  # it has just been moved away
                continue
        for state, file in sorted(found):
            if self._copied.get(file) != state:
                name = file.relative_to(self._folder).as_posix()
                try:
                    send(self._bucket, file, Uri(self._prefix.bucket, self._prefix.key + name))
                except FileNotFoundError:  # likewise
                    continue
                self._copied[file] = state

    def _copy_until_over(self) -> None:
        said = False
        while not self._over.wait(self._every_s):
            try:
                self.copy()
                said = False
            except (S3Failed, OSError) as error:
                if not said:
                    self._say(f"checkpoints are not copied for now: {error}")
                said = True


def _state(file: Path) -> tuple[int, int]:
    """Return what changes whenever a file does: its time, by which files are put in order, and its size."""
    found = file.stat()
    return found.st_mtime_ns, found.st_size
