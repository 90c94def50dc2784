"""Buckets with data that the team has: which of them do the settings let trainings read?"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orchestrator.settings.settings import Settings


def pattern_of(bucket: str, region: str) -> str:
    """Return the name of a bucket with `{region}` for its Region: such a name stands for those of all Regions."""
    return bucket.replace(region, "{region}")


def is_named(bucket: str, patterns: Iterable[str]) -> bool:
    """Return whether one of these names stands for a bucket."""
    return any(fnmatchcase(bucket, pattern.replace("{region}", "*")) for pattern in patterns)


def unnamed_buckets(settings: Settings, buckets: Mapping[str, str]) -> list[str]:
    """Return how `data_buckets` would name those of the buckets, given with their Regions, that trainings may not read.

    Return nothing where the settings have no table [infra]: then nobody has asked for roles of ours.
    """
    if not settings.infra_table:
        return []
    said = (*settings.infra.data_buckets, *([settings.region_bucket] if settings.region_bucket else []))
    found = [pattern_of(bucket, region) for bucket, region in buckets.items() if not is_named(bucket, said)]
    return list(dict.fromkeys(found))
