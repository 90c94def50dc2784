"""What has really come of a month: counted by the trainings, by SageMaker, by the bucket, and by who was told."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud import names
from tests.nightly.on_the_cloud.place import WORKLOAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from tests.nightly.on_the_cloud.place import Place

_RUN = re.compile(r"nightly-(\d{4})(\d{2})(\d{2})")


def night_of(text: str) -> str:
    """Return the date of the night whose run is named in a text."""
    found = _RUN.search(text)
    assert found, text
    return "-".join(found.groups())


def check(place: Place, nights: Sequence[date]) -> None:
    """Compare all that was done with the books."""
    books = place.books
    described = {name: (region, body) for region in names.REGIONS for name, body in _trainings(place, region)}
    counted = [json.loads(line) for line in (place.folder / "counted.jsonl").read_text().splitlines()]
    real = [(_tag(described[job][1], "sweep:run"), described[job][0], *what) for job, *what in counted]
    wanted = [(f"nightly-{each.night.replace('-', '')}", each.region, *each.what) for each in books.trained]
    assert sorted(real) == sorted(wanted)
    assert len(described) == len(counted)
    ends = {night: _end(place, night) for night in books.ends}
    assert ends == books.ends, _whys(place)
    assert [day.isoformat() for day in nights] == list(books.ends)
    assert _champions(place) == [(each.night, each.loss, each.code) for each in books.champions]
    assert _told(place) == Counter(books.told)
    dollars = _dollars(place, described)
    assert _costs(place, dollars) == dollars


def _trainings(place: Place, region: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every training of a Region, as SageMaker tells it, with its tags."""
    client = place.client("sagemaker", region)
    for page in client.get_paginator("list_training_jobs").paginate(MaxResults=100):
        for found in page["TrainingJobSummaries"]:
            body = client.describe_training_job(TrainingJobName=found["TrainingJobName"])
            tags = client.list_tags(ResourceArn=body["TrainingJobArn"])["Tags"]
            yield found["TrainingJobName"], body | {"tags": {tag["Key"]: tag["Value"] for tag in tags}}


def _tag(body: dict[str, Any], name: str) -> str:
    return str(body["tags"][name])


def _objects(place: Place, prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    s3 = place.client("s3", names.REGIONS[0])
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=names.bucket(), Prefix=prefix):
        for key in (found["Key"] for found in page.get("Contents", ()) if found["Key"].endswith(".json")):
            yield key, json.loads(s3.get_object(Bucket=names.bucket(), Key=key)["Body"].read())


def _end(place: Place, night: str) -> int:
    ends = [body["exit"] for key, body in _objects(place, "conductor/") if key.endswith(f"nightly-{night}/end.json")]
    assert len(ends) == 1, night
    return int(ends[0])


def _champions(place: Place) -> list[tuple[str, float, int]]:
    """Return the night, the loss and the code of each promotion, in their order."""
    found = dict(_objects(place, f"workloads/{WORKLOAD}/promotions/"))
    models = [body["model"] for _, body in sorted(found.items(), key=lambda one: int(re.findall(r"\d+", one[0])[-1]))]
    codes = list(dict.fromkeys(model["code"] for model in models))
    return [(night_of(model["run"]), model["score"], codes.index(model["code"])) for model in models]


def _told(place: Place) -> Counter[tuple[str, str]]:
    """Return the kind of each event that the chat was told of, and its night. One id is one event."""
    events = {body["id"]: body for body in place.chat.payloads}
    return Counter((body["kind"], body["facts"].get("night") or night_of(body["run"])) for body in events.values())


def _dollars(place: Place, described: dict[str, tuple[str, dict[str, Any]]]) -> dict[str, float]:
    """Return what each month's runs cost: SageMaker's billable seconds, at the price of their night and Region."""
    prices = {(model.night, model.region): model.price for model in place.books.trained}
    months: defaultdict[str, list[float]] = defaultdict(list)
    for region, body in described.values():
        night = night_of(_tag(body, "sweep:run"))
        months[night[:7]].append(body.get("BillableTimeInSeconds", 0) / 3600 * prices[night, region])
    return {month: round(fsum(amounts), 6) for month, amounts in months.items()}


def _costs(place: Place, dollars: dict[str, float]) -> dict[str, float]:
    """Return what `sweep cost` says of these months; on snapshots, where no database remembers runs, the results."""
    if place.database:
        command = [str(Path(sys.executable).with_name("sweep")), "cost", "--json", "--month"]
        variables = {**os.environ, **place.cloud.environment, "SWEEP_DATABASE": place.database}
        said = [
            subprocess.run([*command, month], cwd=place.folder, env=variables, check=True, capture_output=True)
            for month in dollars
        ]
        return {month: round(json.loads(one.stdout)["usd"], 6) for month, one in zip(dollars, said, strict=True)}
    found: defaultdict[str, float] = defaultdict(float)
    for key, body in _objects(place, "runs/"):
        if "/results/" in key:
            found[night_of(key)[:7]] += fsum(outcome["usd"] for outcome in body["outcomes"])
    return {month: round(usd, 6) for month, usd in found.items()}


def _whys(place: Place) -> list[str]:
    """Return in words how the nights ended."""
    return [str(body["why"]) for key, body in _objects(place, "conductor/") if key.endswith("/end.json")]
