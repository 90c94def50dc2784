"""What SageMaker does under a training's role: it pulls the image, reads data and code, writes logs and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.iam.evaluation import Asked
from orchestrator.localcloud.iam.service_roles import CannotTakeOn, Duty, pull, write_logs
from orchestrator.localcloud.services.sagemaker.host.s3_files import Uri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.localcloud.services.sagemaker.training import Training
    from orchestrator.localcloud.site import Site

_PRINCIPAL = "sagemaker.amazonaws.com"


class Forbidden(Exception):
    """A training's role does not allow what SageMaker has to do. The training fails, with this message."""


def keys(site: Site, training: Training) -> dict[str, str]:
    """Return the variables that give a training's containers its role. Raise AwsError if it cannot be taken on."""
    try:
        return site.roles.variables(_duty(training))
    except CannotTakeOn as error:
        role = training.request["RoleArn"]
        raise AwsError(
            "ValidationException",
            f"Could not assume role {role}. Please ensure that the role exists and allows principal '{_PRINCIPAL}' to "
            "assume the role.",
        ) from error


def check_start(site: Site, training: Training, log_group: str) -> None:
    """Raise Forbidden unless the role lets SageMaker pull the image, write logs, and read data, code, checkpoints."""
    image = training.request["AlgorithmSpecification"].get("TrainingImage", "")
    _check(site, training, pull(image), "the image cannot be pulled")
    logs = write_logs(site.account, training.region, log_group, f"{training.name}/algo-1")
    _check(site, training, logs, "the logs cannot be written")
    _check(site, training, list(_read(site, training)), "Data download failed")


def check_upload(site: Site, training: Training, where: Uri) -> None:
    """Raise Forbidden unless the role lets SageMaker write an output."""
    _check(site, training, [Asked("s3:PutObject", _arn(where))], "Artifact upload failed")


def _read(site: Site, training: Training) -> Iterator[Asked]:
    for channel in training.request.get("InputDataConfig", ()):
        yield from _read_below(site, Uri.parse(channel["DataSource"]["S3DataSource"]["S3Uri"]))
    code = training.request.get("HyperParameters", {}).get("sagemaker_submit_directory", "").strip('"')
    if code.startswith("s3://") and not training.isolated:
        yield Asked("s3:GetObject", _arn(Uri.parse(code)))
    if "CheckpointConfig" in training.request:
        where = Uri.parse(training.request["CheckpointConfig"]["S3Uri"])
        yield from _read_below(site, where)
        yield Asked("s3:PutObject", _arn(where / "checkpoint"))


def _read_below(site: Site, uri: Uri) -> Iterator[Asked]:
    """Yield what it takes to read all below a prefix: to list it, and to get what is there."""
    yield Asked("s3:ListBucket", f"arn:aws:s3:::{uri.bucket}", {"s3:prefix": (uri.key,)})
    for key in site.objects.keys(uri.bucket, uri.key)[:1]:
        yield Asked("s3:GetObject", _arn(Uri(uri.bucket, key)))


def _check(site: Site, training: Training, asked: list[Asked], what: str) -> None:
    if refusal := site.roles.why_not(_duty(training), asked):
        raise Forbidden(f"{what}: {refusal}")


def _duty(training: Training) -> Duty:
    return Duty(training.request["RoleArn"], _PRINCIPAL, "SageMaker", training.region)


def _arn(uri: Uri) -> str:
    return f"arn:aws:s3:::{uri.bucket}/{uri.key}"
