"""Creates what a team has before its first sweep: recordings in S3, near the cars that made them, and a catalog."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from orchestrator.demo.driving import CAMPAIGNS, Campaign, drives
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARKET = Path(__file__).parent / "market"
"""The folder of prices, quotas and transfer prices, as a team would export them; a folder more for each platform that
the demo may run on besides."""

Row: TypeAlias = "Mapping[str, str | int]"


@dataclass(frozen=True)
class SampleData:
    """What was created, and the files that a catalog is loaded from."""

    replicas: int
    """The number of replicas in S3."""
    bytes: int
    """The size of all campaigns, each counted once."""
    catalog: tuple[Path, ...]
    """The files for `sweep catalog load`."""


def create_sample_data(folder: Path, bucket: str, platform: str = "") -> SampleData:
    """Generate the recordings, upload them to their Regions, and write the catalog's files into the folder.

    `bucket` is the name of each Region's bucket, with {region} in it. The catalog has the prices of a platform, too, if
    one is named.
    """
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
            its_bucket, prefix = bucket.format(region=region), f"campaigns/{campaign.name}/v1/"
            upload(files, region, its_bucket, prefix)
            s3_uri = f"s3://{its_bucket}/{prefix}"
            replicas.append({"dataset": f"{campaign.name}@v1", "region": region, "s3_uri": s3_uri})
    tables = {"campaigns": campaigns, "datasets": datasets, "replicas": replicas}
    written = [write_csv(folder / f"{kind}.csv", rows) for kind, rows in tables.items()]
    market = [*sorted(MARKET.glob("*.csv")), *(sorted(market_of(platform).glob("*.csv")) if platform else ())]
    return SampleData(len(replicas), total, (*written, *market))


def market_of(platform: str) -> Path:
    """Return the folder of a platform's prices and quotas. Raise UsageError if the demo has none of it."""
    if not (MARKET / platform / "prices.csv").is_file():
        known = sorted(file.parent.name for file in MARKET.glob("*/prices.csv"))
        raise UsageError(f"the demo knows no prices of {platform}", hint=f"there are those of {', '.join(known)}")
    return MARKET / platform


def write_settings(folder: Path, platform: str) -> None:
    """Write into a folder what a team's settings have to say of a platform, where it asks for any."""
    file = market_of(platform) / "settings.toml" if platform else None
    if file is not None and file.is_file():
        (folder / "sweep.toml").write_bytes(file.read_bytes())


def types_for_sale(platform: str) -> list[str]:
    """Return the instance types that the demo knows the prices of, on a platform. UsageError if there are none."""
    with (market_of(platform) / "prices.csv").open(encoding="utf-8") as file:
        return list(dict.fromkeys(row["instance_type"] for row in csv.DictReader(file)))


def recordings(campaign: Campaign) -> dict[str, bytes]:
    """Return the campaign's files by their names: one a drive."""
    import numpy as np

    files = {}
    for number, (features, angle) in enumerate(drives(campaign), start=1):
        body = io.BytesIO()
        np.savez(body, features=features, angle=angle)
        files[f"drive-{number}.npz"] = body.getvalue()
    return files


def upload(files: Mapping[str, bytes], region: str, bucket: str, prefix: str) -> None:
    """Put these files into a bucket, under a prefix."""
    import boto3

    s3 = boto3.client("s3", region_name=region)
    for name, body in files.items():
        s3.put_object(Bucket=bucket, Key=prefix + name, Body=body)


def write_csv(file: Path, rows: Sequence[Row]) -> Path:
    """Write rows with the same columns into a file, and return the file."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return file
