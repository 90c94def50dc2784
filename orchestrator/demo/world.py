"""What a team has before its first sweep: recordings in S3, in the Regions nearest to the cars, and a catalog."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from orchestrator.demo.driving import CAMPAIGNS, Campaign, drives

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARKET = Path(__file__).parent / "market"
"""Prices, quotas and transfer prices, as a team would export them."""


Row: TypeAlias = "Mapping[str, str | int]"


@dataclass(frozen=True)
class World:
    replicas: int
    bytes: int
    catalog: tuple[Path, ...]
    """Files for `sweep catalog load`."""


def furnish(folder: Path, bucket: str) -> World:
    """Generate the recordings, put them into each Region's bucket, and write the catalog's files."""
    campaigns: list[Row] = []
    datasets: list[Row] = []
    replicas: list[Row] = []
    total = 0
    for campaign in CAMPAIGNS:
        files = recordings(campaign)
        size = sum(map(len, files.values()))
        total += size
        campaigns.append(
            {"campaign": campaign.name, "tags": ";".join(campaign.tags)}
            | {"recorded_from": campaign.recorded, "recorded_to": campaign.recorded}
        )
        datasets.append(
            {"campaign": campaign.name, "version": "v1", "bytes": size, "created_at": campaign.recorded},
        )
        for region in campaign.regions:
            place, prefix = bucket.format(region=region), f"campaigns/{campaign.name}/v1/"
            put(files, region, place, prefix)
            replicas.append({"dataset": f"{campaign.name}@v1", "region": region, "s3_uri": f"s3://{place}/{prefix}"})
    tables = {"campaigns": campaigns, "datasets": datasets, "replicas": replicas}
    written = [write(folder / f"{kind}.csv", rows) for kind, rows in tables.items()]
    return World(len(replicas), total, (*written, *sorted(MARKET.glob("*.csv"))))


def recordings(campaign: Campaign) -> dict[str, bytes]:
    """The campaign's files: one a drive."""
    import numpy as np

    files = {}
    for number, (features, angle) in enumerate(drives(campaign), start=1):
        body = io.BytesIO()
        np.savez(body, features=features, angle=angle)
        files[f"drive-{number}.npz"] = body.getvalue()
    return files


def put(files: Mapping[str, bytes], region: str, bucket: str, prefix: str) -> None:
    import boto3

    s3 = boto3.client("s3", region_name=region)
    for name, body in files.items():
        s3.put_object(Bucket=bucket, Key=prefix + name, Body=body)


def write(file: Path, rows: Sequence[Row]) -> Path:
    with file.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return file
