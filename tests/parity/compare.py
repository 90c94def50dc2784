"""Ours and theirs, field by field. A difference is right only when it stands in DIFFERENCES, with its reason."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.wire.task import Purchase
from tests.parity import ours
from tests.parity.case import DATA, HERE, MAX_RUNTIME_S, MAX_WAIT_S, NAME, POINT, REGION, ROLE, RUN
from tests.parity.cases import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.parity.case import Case

ESTIMATORS = Path(__file__).with_name("estimators.py")
ABSENT = "-"


@dataclass(frozen=True)
class Difference:
    """One that is meant: in these fields of these cases."""

    field: str
    reason: str
    case: str = ".*"

    def covers(self, case: str, field: str) -> bool:
        return bool(re.fullmatch(self.case, case) and re.fullmatch(self.field, field))


DIFFERENCES = (
    Difference(r"Tags\..*", "ours: for the bill, for the reaper, and to know our own training again"),
    Difference(r"ProfilerConfig\..*", "theirs: a profiler that nobody asked for, which reads every training"),
    Difference(r"DebugHookConfig\..*", "theirs: Debugger's hook, which the images of today have no more"),
    Difference(r"StoppingCondition\.MaxPendingTimeInSeconds", "ours: a place that has no machine is left for the next"),
    Difference(
        r"Environment\.SWEEP_CHECKPOINT_EVERY_S",
        "ours: how often to save, for orchestrator.training.checkpoint",
        ".*everything.*",
    ),
    Difference(r"Environment\.FI_.*", "ours: EFA between instances of types that have it", r".*(EFA|smddp).*"),
    Difference(
        r"HyperParameters\.sagemaker_mpi_num_of_processes_per_host",
        "ours: the SDK has no word for it under torchrun; the toolkit reads it all the same",
        "torchrun, auto",
    ),
    Difference(
        r"HyperParameters\.model_dir",
        "theirs is an S3 path that the script must write to; what lies in /opt/ml/model becomes the artifact",
        r"(single|smddp), TensorFlow",
    ),
    Difference(
        r"HyperParameters\.sagemaker_(torch_distributed_enabled|distributed_dataparallel_.*)",
        "theirs silently becomes SMDDP; ours is torchrun, and says so when the file is read",
        "pytorchddp",
    ),
)


@dataclass(frozen=True)
class Row:
    case: str
    field: str
    ours: str
    theirs: str
    reason: str = ""

    @property
    def verdict(self) -> str:
        return "same" if self.ours == self.theirs else "meant" if self.reason else "WRONG"


@dataclass(frozen=True)
class Answers:
    """The SDK's."""

    images: dict[str, str]
    trainings: list[dict[str, Any]]


def answers(interpreter: Path) -> Answers:
    """`interpreter` is one that has the SDK."""
    questions = {
        case.train["framework"]["version"] + case.instance_type: _question(case)
        for case in CASES
        if "framework" in case.train and not case.we_refuse
    }
    asked = {"images": list(questions.values()), "trainings": [_training(case) for case in CASES]}
    done = subprocess.run(
        [interpreter, ESTIMATORS], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    return Answers(dict(zip(questions, told["images"], strict=True)), told["trainings"])


def compared(theirs: Answers) -> list[Row]:
    """Every field of every case."""
    return [
        row for case, training in zip(CASES, theirs.trainings, strict=True) for row in _rows(case, training, theirs)
    ]


def _question(case: Case) -> dict[str, Any]:
    """As `platforms.sagemaker.images` asks it."""
    framework = case.train["framework"]
    base = {"base_framework_version": framework["base"]} if "base" in framework else {}
    return {
        "framework": framework["name"],
        "region": REGION,
        "version": framework["version"],
        "py_version": framework.get("python"),
        "instance_type": case.instance_type,
        "image_scope": "training",
        **base,
    }


def _training(case: Case) -> dict[str, Any]:
    arguments = {
        "entry_point": "train.py",
        "source_dir": f"{HERE}/sources/0123abcd/sourcedir.tar.gz",
        "role": ROLE,
        "instance_type": case.instance_type,
        "instance_count": case.instances,
        "hyperparameters": case.train.get("hyperparameters", {}) | POINT,
        "output_path": f"{HERE}/runs/{RUN}/trainings",
        "max_run": MAX_RUNTIME_S,
        **({"use_spot_instances": True, "max_wait": MAX_WAIT_S} if case.purchase is Purchase.SPOT else {}),
        **case.arguments,
    }
    inputs = case.inputs or {"training": {"s3_data": DATA}}
    return {"region": REGION, "estimator": case.estimator, "name": NAME, "inputs": inputs, "arguments": arguments}


def _rows(case: Case, theirs: dict[str, Any], answers: Answers) -> Iterator[Row]:
    try:
        mine, refusal = ours.sent(case, answers.images), ""
    except ours.Refused as error:
        mine, refusal = {}, str(error)
    if refusal or "refused" in theirs:
        as_expected = (
            bool(refusal) == bool(case.we_refuse)
            and refusal.startswith(case.we_refuse)
            and ("refused" in theirs) == bool(case.they_refuse)
            and theirs.get("refused", "").startswith(case.they_refuse)
        )
        told = f"refused: {refusal}" if refusal else "sent"
        said = f"refused: {theirs['refused']}" if "refused" in theirs else "sent"
        yield Row(case.name, "(whether it is sent)", told, said, case.reason if as_expected else "")
        return
    mine, said = dict(_fields(mine)), dict(_fields(theirs["request"]))
    for field in sorted(mine.keys() | said.keys()):
        reason = next((one.reason for one in DIFFERENCES if one.covers(case.name, field)), "")
        yield Row(case.name, field, mine.get(field, ABSENT), said.get(field, ABSENT), reason)


def _fields(body: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """A path and its value for every leaf; of lists with names, the name stands for the number."""
    if isinstance(body, dict) and body:
        for name, value in body.items():
            yield from _fields(value, f"{path}.{name}" if path else name)
    elif isinstance(body, list) and body:
        for number, value in enumerate(body):
            if not isinstance(value, dict):
                yield f"{path}.{number}", json.dumps(value)
            elif "Key" in value:
                yield f"{path}.{value['Key']}", json.dumps(value["Value"])
            else:
                yield from _fields(value, f"{path}.{value.get('ChannelName', value.get('Name', number))}")
    else:
        yield path, json.dumps(body)
