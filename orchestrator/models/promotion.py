"""A promotion: the model that became a workload's champion, what it was made of, who said so and why."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from orchestrator.wire.names import training_name
from orchestrator.wire.stored import VERSION, Real, check_version, restore

if TYPE_CHECKING:
    from orchestrator.wire.task import Scalar

CHALLENGE = "challenge"
"""It was better than the champion."""
BY_HAND = "by_hand"
"""A person said so, whatever the rules are."""
ROLLBACK = "rollback"
"""It had been the champion before."""


@dataclass(frozen=True)
class Evaluation:
    """The data that a model was measured on."""

    channel: str = ""
    """The fixed channel that brought it; empty where the training measures on a part of its own data."""
    data: str = ""
    """The address of the channel's data; without a channel, the name of the dataset."""
    mark: str = ""
    """A digest of its keys, sizes and ETags; empty where nobody can tell."""

    def is_same(self, other: Evaluation) -> bool:
        """Return whether both are known to be the same data, wherever it lies.

        A dataset is known by its name, too; what a channel brings is not.
        """
        if self.channel or other.channel:
            return self.channel == other.channel and bool(self.mark) and self.mark == other.mark
        return self.data == other.data and (self.mark == other.mark or not (self.mark and other.mark))

    def __str__(self) -> str:
        return f"{self.data} ({self.mark[:12]})" if self.mark else self.data


@dataclass(frozen=True)
class TrainedModel:
    """A model, by its task, with what it was made of and what it measured."""

    workload: str
    run: str
    task: int
    attempt: int
    artifact: str
    """The S3 URI of the model itself."""
    region: str
    """The Region that it lies in."""
    metric: str
    """The objective; empty where the sweep has none."""
    maximize: bool
    score: Real | None
    """The objective's value; None where there is none that is a finite number."""
    key: str = ""
    """The digest of what was trained."""
    dataset: str = ""
    data_mark: str = ""
    """The digest of the dataset's keys, sizes and ETags; empty where the catalog knows none."""
    evaluation: Evaluation = field(default_factory=Evaluation)
    code: str = ""
    image: str = ""
    plan: str = ""
    lane: str = ""
    usd: float = 0.0
    trained_at: float | None = None
    owner: str = ""
    """The owner of the run."""
    point: dict[str, Scalar] = field(default_factory=dict)
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def training(self) -> str:
        return training_name(self.run, self.task, self.attempt)

    @property
    def name(self) -> str:
        """The words by which messages call it."""
        return f"task {self.task} of {self.run}"

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> TrainedModel:
        """Return a stored model. Raise what `restore` raises for what cannot be one."""
        whole = {"evaluation": {}, **body}
        return restore(cls, whole, score=_finite, evaluation=lambda its: restore(Evaluation, its))


def _finite(score: Any) -> float | None:
    if score is not None and (type(score) not in (int, float) or not isfinite(score)):
        raise ValueError(f"a score cannot be {str(score)[:40]!r}")
    return score  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Promotion:
    """The n-th time that a model became a workload's champion. It is written once and never changed."""

    number: int
    model: TrainedModel
    how: str
    """One of challenge, by_hand and rollback."""
    why: str
    by: str
    at: float
    before: int = 0
    """The number of the champion that it was held against; 0 if there was none."""
    origin: int = 0
    """The promotion that first brought this model; of a rollback, an older one."""

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION} | asdict(self)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Promotion:
        """Return a stored promotion. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "promotion")
        return restore(cls, body, model=TrainedModel.from_json)
