"""The helpers as AWS's images would find them: packed with the code, and started by AWS's own training toolkit."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.platforms.sagemaker.runner import SageMakerRunner
from orchestrator.platforms.source import pack
from orchestrator.wire.curve import Curves, decode
from orchestrator.wire.result import Attempt, TaskState
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Task
from tests.platforms.sweeps import sweep, template

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from orchestrator.localcloud import LocalCloud

REGION = "us-east-1"
STEPS = 40
SCRIPT = f"""
import time
import orchestrator
from orchestrator import Checkpoints, report

print("helpers from " + orchestrator.__file__)
total = 0
def save(path): path.write_text(str(total))
def load(path): global total; total = int(path.read_text())
for step in Checkpoints(save, load).steps({STEPS}):
    total += step
    report(step=step + 1, total=total)
    time.sleep(0.1)
"""


def test_a_training_under_aws_s_toolkit_reports_whole_lines_and_goes_on(
    toolkit_cloud: LocalCloud, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in toolkit_cloud.environment.items():
        monkeypatch.setenv(variable, value)
    (tmp_path / "train.py").write_text(SCRIPT)
    clients = Clients()
    bucket = S3(clients, REGION, f"sweep-local-{REGION}")
    bucket.put_once(f"{name}/data/rows", b"1")
    bucket.put_once(f"{name}/sourcedir.tar.gz", pack(tmp_path).body)
    shared = template(
        sweep({"metrics": ["total"], "checkpoints": {"every": "1s"}}),
        role=toolkit_cloud.environment["SWEEP_ROLE"],
        region=REGION,
        run=name,
        source=bucket.uri(f"{name}/sourcedir.tar.gz"),
        output=bucket.uri(f"runs/{name}"),
    )
    place = Place(Lane("sagemaker", REGION, "ml.c5.xlarge", Purchase.SPOT), bucket.uri(f"{name}/data/"), 1.0)
    platform = SageMakerRunner(clients)
    request = platform.request(shared, Task(0, "k", "d@1", {}, (place,), Limits(600)), place, 1, 600)
    attempt = Attempt(0, 1, 0, place.lane, request.training, request.hash, 600, 0.0, rate=1.0)

    def log() -> list[str]:
        return [line for _, line in platform.logs(attempt, shared, {}, first_instance=True)]

    platform.start(request)
    wait(lambda: f"[sweep] step={STEPS // 2} " in "\n".join(log()))
    toolkit_cloud.steering.add("reclaim", request.training)
    wait(lambda: (outcome := platform.poll(attempt)) is not None and outcome.state.terminal)

    outcome, lines = platform.poll(attempt), log()
    assert outcome
    assert (outcome.state, outcome.metrics) == (TaskState.DONE, {"total": sum(range(STEPS))}), "\n".join(lines[-30:])
    assert any("helpers from /opt/ml/code/orchestrator/" in line for line in lines)
    assert [line for line in lines if re.search(r"goes on after step \d+, from /opt/ml/checkpoints/slot-", line)]
    curves = Curves()
    curves.read(lines, {})
    expected = [(step, float(sum(range(step)))) for step in range(1, STEPS + 1)]
    assert decode(curves.encoded()["total"]) == expected


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.2)
