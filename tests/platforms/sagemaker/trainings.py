"""Whole trainings of a sweep on the local cloud: packed, staged and started as `submit` and a launcher do it."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.platforms.registry import make_planning, make_runner
from orchestrator.platforms.source import STARTER, pack, pack_no_code
from orchestrator.wire.names import S3Uri
from orchestrator.wire.result import Attempt, Outcome
from orchestrator.wire.task import Place
from tests.localcloud.conftest import eventually
from tests.platforms.sweeps import ON_DEMAND, TASK, staging

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from orchestrator.platforms.base import Request
    from orchestrator.spec.sweep import Sweep

REGION = "eu-west-1"


@dataclass(frozen=True)
class Trained:
    """A training that has ended."""

    request: Request
    outcome: Outcome
    log: list[str]
    model: dict[str, bytes]
    """The files of its artifact."""

    def said(self, text: str) -> list[str]:
        """Return what follows a text in each line of the log that has it."""
        return [line.partition(text)[2] for line in self.log if text in line]


class Desk:
    """A Region of the local cloud in which one test trains."""

    def __init__(self, environment: Mapping[str, str], name: str) -> None:
        self.name = name
        self.role = environment["SWEEP_ROLE"]
        self.bucket = S3(Clients(), REGION, environment["SWEEP_REGION_BUCKET"].format(region=REGION))

    def put(self, files: Mapping[str, bytes], folder: str = "data") -> str:
        """Put files into a folder of the bucket, and return its address."""
        for file, body in files.items():
            self.bucket.put_once(f"{self.name}/{folder}/{file}", body)
        return self.bucket.uri(f"{self.name}/{folder}/")

    def train(self, sweep: Sweep, point: dict[str, Any], *, source: Path | None = None, instances: int = 1) -> Trained:
        """Train one point of a sweep on what was put into `data`. `source` is the folder of the code."""
        planning = make_planning("sagemaker", {"role": self.role})
        assert list(planning.check(sweep)) == []
        ours = STARTER if planning.needs_starter(sweep) else ()
        package = pack(source, sweep.train.script, ours=ours) if source else pack_no_code(ours)
        key = f"sources/{self.name}/sourcedir.tar.gz"
        self.bucket.put_once(key, package.body)
        output = self.bucket.uri(f"runs/{self.name}")
        staged = staging(sweep, run=self.name, source=self.bucket.uri(key), output=output)
        template = planning.stage(staged, Clients())
        lane = replace(ON_DEMAND.lane, instance_type=sweep.where.instance_types[0])
        place = Place(lane, self.bucket.uri(f"{self.name}/data/"), rate=1.0, instances=instances)
        task = replace(TASK, point=point, places=(place,))
        runner = make_runner("sagemaker", Clients())
        request = runner.request(template, task, place, 1, 600)
        runner.start(request)
        attempt = Attempt(
            task=task.number,
            number=1,
            place=0,
            lane=lane,
            training=request.training,
            request_hash=request.hash,
            max_runtime_s=600,
            recorded_at=0.0,
            rate=1.0,
            instances=instances,
        )

        def ended() -> Outcome | None:
            outcome = runner.poll(attempt)
            return outcome if outcome and outcome.state.terminal else None

        outcome = eventually(ended, 300)
        log = [line for _, line in runner.logs(attempt, template, {})]
        return Trained(request, outcome, log, self._files(outcome.artifact))

    def _files(self, artifact: str) -> dict[str, bytes]:
        key = S3Uri.parse(artifact).key if artifact else ""
        if not key or not self.bucket.exists(key):
            return {}
        with tarfile.open(fileobj=io.BytesIO(self.bucket.get(key).body), mode="r:gz") as archive:
            found = {each.name: archive.extractfile(each) for each in archive.getmembers()}
            return {name: file.read() for name, file in found.items() if file}
