"""One MPI training in two pods: a real mpirun in the first starts the ranks of both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.wire.result import TaskState
from tests.platforms.ec2.test_conformance import RANKS
from tests.platforms.eks.conftest import staged

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.aws.s3 import S3
    from orchestrator.platforms.conformance.suite import Subject


@pytest.mark.long
def test_two_pods_run_one_mpi_training(subject: Subject, bucket: S3, tmp_path: Path, name: str) -> None:
    train = {"parallel": "mpi", "processes_per_instance": 2}
    made = replace(subject, staging=staged(RANKS, train, bucket, tmp_path, name), looks=3000)
    attempt = made.start(replace(made.task(6), point={"lr": 0.05}), made.pair)
    outcome = made.outcome(attempt)
    text = "\n".join(line for _, line in made.log(attempt))
    assert outcome.state is TaskState.DONE, text
    assert "ranks on algo-1 algo-1 algo-2 algo-2 add up to 10" in text
