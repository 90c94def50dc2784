"""The submit side, once per Region: sources uploaded, image found, and all that its tasks share in one template."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.errors import SpecError
from orchestrator.platforms.sagemaker.images import located, of_framework
from orchestrator.platforms.sagemaker.parallel import PARALLEL, Start, encode
from orchestrator.spec.duration import seconds
from orchestrator.training.checkpoint import EVERY
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from orchestrator.aws.s3 import S3
    from orchestrator.platforms.source import Package
    from orchestrator.spec.sweep import Sweep
    from orchestrator.spec.train import Train


@dataclass(frozen=True)
class Site:
    """What is ours in the account, the same for every Region."""

    bucket: str
    """May contain {region}: sources and outputs lie in the Region that uses them."""
    role: str
    owner: str
    poll_s: float = 30.0

    def bucket_in(self, region: str) -> str:
        return self.bucket.replace("{region}", region)


def stage(sweep: Sweep, package: Package, region: str, run: str, site: Site, s3: S3) -> Template:
    """Upload the sources to the Region's bucket, unless they are there, and build the Region's template."""
    s3.put_once(source_key(package.digest), package.body)
    return template(sweep, package.digest, region, run, site)


def template(sweep: Sweep, package_digest: str, region: str, run: str, site: Site) -> Template:
    """What all tasks of the run share in a Region. Sends nothing, so a dry run shows what would be sent."""
    train, bucket = sweep.train, site.bucket_in(region)
    by_type = {kind: _image(train, region, kind, site.role) for kind in sweep.where.instance_types}
    image = Counter(by_type.values()).most_common(1)[0][0]
    return Template(
        platform="sagemaker",
        region=region,
        run=run,
        owner=site.owner,
        request=_request(train, image, site.role),
        hyperparameters=_hyperparameters(train, f"s3://{bucket}/{source_key(package_digest)}", region),
        output=f"s3://{bucket}/runs/{run}",
        images={kind: uri for kind, uri in by_type.items() if uri != image},
        checkpoints=train.checkpoints is not None,
        poll_s=site.poll_s,
        metrics=dict(train.metrics),
    )


def source_key(package_digest: str) -> str:
    return f"sources/{package_digest}/sourcedir.tar.gz"


def _image(train: Train, region: str, instance_type: str, role: str) -> str:
    if train.image is not None:
        return located(train.image, region, role)
    if train.framework is None:
        raise SpecError("neither an image nor a framework", where="train", hint="set one of them")
    framework = train.framework
    return of_framework(framework.name, framework.version, framework.python, region, instance_type)


def _request(train: Train, image: str, role: str) -> dict[str, Any]:
    algorithm: dict[str, Any] = {"TrainingImage": image, "TrainingInputMode": "File"}
    if train.metrics:
        algorithm["MetricDefinitions"] = [{"Name": name, "Regex": regex} for name, regex in train.metrics.items()]
    if train.metrics or train.framework:
        algorithm["EnableSageMakerMetricsTimeSeries"] = True
    request = {
        "RoleArn": role,
        "AlgorithmSpecification": algorithm,
        "ResourceConfig": {"VolumeSizeInGB": train.volume_gb},
    }
    environment = _environment(train)
    return request | {"Environment": environment} if environment else request


def _environment(train: Train) -> dict[str, str]:
    """How often to save reaches `Checkpoints` in the script."""
    every = {EVERY: str(seconds(train.checkpoints.every))} if train.checkpoints else {}
    return every | train.environment


def _hyperparameters(train: Train, source: str, region: str) -> dict[str, str]:
    script = {
        "sagemaker_program": train.entry_point,
        "sagemaker_submit_directory": source,
        "sagemaker_container_log_level": 20,
        "sagemaker_region": region,
    }
    if train.framework is not None and train.framework.name == "tensorflow":
        # AWS's TensorFlow images always hand `--model_dir` to the script; what is there becomes the artifact.
        script["model_dir"] = "/opt/ml/model"
    start = PARALLEL[train.parallel](Start(train.processes_per_instance, train.mpi_options))
    return encode({**train.hyperparameters, **script, **start})
