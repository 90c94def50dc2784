"""A copy of a dataset that a plan makes first, and where it lies."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Copy:
    """A dataset to be brought to another Region before its tasks there begin."""

    dataset: int
    from_region: str
    to_region: str
    from_uri: str
    to_uri: str
    """The URI of the copy. It names no bucket: whoever makes the copy fills in the Region's own (see copied_uri)."""
    usd: float
    hours: float


def copied_uri(dataset: str) -> str:
    """Return the URI of a copy, with a placeholder for the bucket that the Region has."""
    return f"s3://{{bucket}}/datasets/{dataset}/"
