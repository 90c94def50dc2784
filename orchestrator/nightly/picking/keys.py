"""What a task trains, by content: the same key is the same training, whatever its data or image is called.

The key has the data's mark, the code, the image's digest, the point, hyperparameters, environment, command, and the
marks of fixed channels. Data has a mark in each Region where it lies, and copies may have other ETags. So what is
trained is remembered under all of them, and looked for under the first that answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.plan.work import digest_work
from orchestrator.wire.names import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.task import Scalar


def work_digest(sweep: Sweep, code: str, image: str, channels: Mapping[str, str]) -> str:
    """Return the digest of all that the sweep's tasks share. `image` is pinned; `channels` are marks by their names."""
    pinned = sweep.model_copy(update={"train": sweep.train.model_copy(update={"image": image or None})})
    return digest([digest_work(pinned, "", code), dict(channels)], 32)


def task_key(work: str, mark: str, point: Mapping[str, Scalar]) -> str:
    """Return the key of a task: what it shares with others, its data and its point."""
    return digest([work, mark, dict(point)], 24)


def task_keys(works: Sequence[str], marks: Sequence[str], point: Mapping[str, Scalar]) -> list[str]:
    """Return every key of a task, the one that it is looked for under first."""
    return [task_key(work, mark, point) for work in works for mark in marks]
