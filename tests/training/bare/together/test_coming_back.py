"""Machines that come and go have one time together: the one of their training."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from orchestrator.training.bare.files.bucket import S3Failed
from orchestrator.training.bare.together.coming_back import begun_before

if TYPE_CHECKING:
    from orchestrator.training.bare.files.bucket import Uri

OUTPUT = "s3://bucket/runs/r/trainings/r-1-1"


class Bucket:
    """S3 with what was written into it; without any, it fails."""

    def __init__(self, objects: dict[str, bytes] | None) -> None:
        self.objects = objects

    def write(self, uri: Uri, body: bytes, *, once: bool) -> bool:
        assert once
        if self.objects is None:
            raise S3Failed("it is away")
        return self.objects.setdefault(str(uri), body) is body

    def read(self, uri: Uri) -> bytes:
        assert self.objects is not None
        return self.objects[str(uri)]


def test_a_machine_that_comes_back_counts_from_when_the_first_one_began() -> None:
    bucket: Any = Bucket({})
    assert begun_before(bucket, OUTPUT) == 0.0
    bucket.objects = {f"{OUTPUT}/began.json": json.dumps({"at": time.time() - 1000}).encode()}
    assert 1000 <= begun_before(bucket, OUTPUT) < 2000


def test_where_nobody_can_say_it_a_machine_counts_from_its_own_beginning() -> None:
    away: Any = Bucket(None)
    assert begun_before(away, OUTPUT) == 0.0
    damaged: Any = Bucket({f"{OUTPUT}/began.json": b"{}"})
    assert begun_before(damaged, OUTPUT) == 0.0
