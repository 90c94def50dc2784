"""What all trainings of a Region share, made of a job definition's variables: for manifests that nobody has planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.errors import UsageError, did_you_mean
from orchestrator.platforms.sagemaker.processes.parallel import PARALLEL, Processes, encode
from orchestrator.wire.variables import as_object, number, required

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.wire.task import Lane

_TYPES = "ml."


def make_body(environ: Mapping[str, str], lane: Lane) -> dict[str, Any]:
    """Return the body of a Region's template. Raise UsageError, naming the variable, for what cannot be."""
    role = required(environ, "SWEEP_ROLE")
    if role.count(":") < 5 or not role.startswith("arn:"):
        raise UsageError(f"not a role's ARN: {role!r}", where="SWEEP_ROLE", hint="arn:aws:iam::<account>:role/<name>")
    if not lane.instance_type.startswith(_TYPES):
        raise UsageError(f"not SageMaker's: {lane.instance_type!r}", where="SWEEP_INSTANCE_TYPE", hint="ml.g5.xlarge")

    def filled(name: str) -> str:
        return required(environ, name).replace("{region}", lane.region).replace("{account}", role.split(":")[4])

    algorithm: dict[str, Any] = {"TrainingImage": filled("SWEEP_IMAGE"), "TrainingInputMode": "File"}
    if metrics := as_object(environ, "SWEEP_METRICS"):
        algorithm["MetricDefinitions"] = [{"Name": name, "Regex": regex} for name, regex in metrics.items()]
    request: dict[str, Any] = {
        "AlgorithmSpecification": algorithm,
        "RoleArn": role,
        "ResourceConfig": {"VolumeSizeInGB": number(environ, "SWEEP_VOLUME_GB", 30, (1, 16_384))},
    }
    if variables := as_object(environ, "SWEEP_ENVIRONMENT"):
        request["Environment"] = {name: str(value) for name, value in variables.items()}
    source = {"S3DataType": "S3Prefix", "S3DataDistributionType": "FullyReplicated"}
    channel = {"ChannelName": environ.get("SWEEP_CHANNEL", "training"), "DataSource": {"S3DataSource": source}}
    body: dict[str, Any] = {"request": request, "channels": [channel], "images": {}}
    if not environ.get("SWEEP_SOURCE"):
        return {**body, "hyperparameters": {}, "plain": True}
    return {**body, "hyperparameters": _script(environ, filled("SWEEP_SOURCE"), lane.region)}


def _script(environ: Mapping[str, str], source: str, region: str) -> dict[str, str]:
    """Return the hyperparameters by which AWS's toolkit in the image starts a script."""
    if not (source.startswith("s3://") and source.endswith(".tar.gz")):
        raise UsageError(f"no packed sources: {source!r}", where="SWEEP_SOURCE", hint="s3://<bucket>/sourcedir.tar.gz")
    parallel = environ.get("SWEEP_PARALLEL", "single")
    if parallel not in PARALLEL:
        hint = did_you_mean(parallel, list(PARALLEL)) or ", ".join(PARALLEL)
        raise UsageError(f"no way to start processes: {parallel!r}", where="SWEEP_PARALLEL", hint=hint)
    said = "SWEEP_PROCESSES" in environ
    processes = Processes(number(environ, "SWEEP_PROCESSES", 1, (1, 1_000)) if said else None)
    return encode(
        {
            "sagemaker_program": required(environ, "SWEEP_ENTRY_POINT"),
            "sagemaker_submit_directory": source,
            "sagemaker_container_log_level": 20,
            "sagemaker_region": region,
            **PARALLEL[parallel](processes),
        }
    )
