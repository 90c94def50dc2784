"""Machines that come and go have one time together: the one of their training."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.training.bare.files.bucket import S3Failed
from orchestrator.training.bare.together.coming_back import begun_before, gave_up, lost_each_other
from tests.training.containers import Container

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.parametrize(
    ("said", "gives_up", "has_lost_others"),
    [
        (
            "[rank1]: KeyError: 'label'\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
            True,
            False,
        ),
        ("[rank0]: KeyError: 'label'\ntorch.distributed.elastic.rendezvous.api.RendezvousClosedError", False, True),
        ("[rank0]: ValueError: once\ntorch.distributed.DistNetworkError: failed to recv, got 0 bytes", False, True),
        ("ERROR: Could not find a version that satisfies the requirement nothing", False, False),
    ],
)
def test_torchrun_s_own_end_says_whether_the_script_or_a_lost_machine_is_to_blame(
    tmp_path: Path, said: str, gives_up: bool, has_lost_others: bool
) -> None:
    """The script's own error stands before it in each case: it may be hours old, and torchrun has begun again since."""
    here = Container(tmp_path / "ml")
    here.run(f"import sys\nsys.exit({said!r})")
    assert (gave_up(here.base), lost_each_other(here.base)) == (gives_up, has_lost_others)
