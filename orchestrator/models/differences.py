"""What differs between two promoted models: what they were made of, and what they measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.models.promotion import TrainedModel

_LONGEST = 80
"""Characters of a value that are shown."""
_ALWAYS_DIFFERENT = ("artifact", "key", "attempt")


@dataclass(frozen=True)
class ModelDifference:
    """One thing that two models do not have in common."""

    what: str
    one: str
    other: str


def find_model_differences(one: TrainedModel, other: TrainedModel) -> list[ModelDifference]:
    """Return what differs between two models; nothing if they are one and the same."""
    left, right = (_flat(asdict(model)) for model in (one, other))
    names = [name for name in [*left, *(name for name in right if name not in left)] if name not in _ALWAYS_DIFFERENT]
    found = [ModelDifference(name, _shown(left.get(name)), _shown(right.get(name))) for name in names]
    return [each for each in found if each.one != each.other]


def _flat(body: dict[str, Any], path: str = "") -> dict[str, Any]:
    """Return the values of a mapping of mappings by their dotted names."""
    found: dict[str, Any] = {}
    for name, value in body.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{path}{name}.")
        else:
            found[f"{path}{name}"] = value
    return found


def _shown(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
