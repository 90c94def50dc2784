"""Prepares a Region at submit: uploads the sources, finds the image, and makes the template that its tasks share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.errors import SpecError
from orchestrator.platforms.sagemaker.images import fill_in_image, find_framework_image
from orchestrator.platforms.sagemaker.parallel import PARALLEL, Processes, encode
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
    """The things of ours in the account that trainings use, the same for every Region."""

    bucket: str
    """The bucket's name; it may contain {region}, for sources and outputs lie in the Region that uses them."""
    role: str
    """The ARN of the role that trainings run with."""
    owner: str
    """The name that trainings are tagged with."""
    poll_s: float = 30.0

    def bucket_in(self, region: str) -> str:
        """Return the bucket's name in this Region."""
        return self.bucket.replace("{region}", region)


def stage(sweep: Sweep, package: Package, region: str, run: str, site: Site, s3: S3) -> Template:
    """Upload the sources to the Region's bucket, unless they are there, and return the Region's template."""
    s3.put_once(source_key(package.digest), package.body)
    return make_template(sweep, package.digest, region, run, site)


def make_template(sweep: Sweep, package_digest: str, region: str, run: str, site: Site) -> Template:
    """Return what all tasks of the run share in a Region. Nothing is sent: a dry run shows what would be.

    The request names the image that most instance types take; those that take another stand in `images`.
    """
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
    """Return the key of the packed sources in each Region's bucket."""
    return f"sources/{package_digest}/sourcedir.tar.gz"


def _image(train: Train, region: str, instance_type: str, role: str) -> str:
    if train.image is not None:
        return fill_in_image(train.image, region, role)
    if train.framework is None:
        raise SpecError("neither an image nor a framework", where="train", hint="set one of them")
    framework = train.framework
    return find_framework_image(framework.name, framework.version, framework.python, region, instance_type)


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
    if environment:
        request["Environment"] = environment
    return request


def _environment(train: Train) -> dict[str, str]:
    """Return the user's environment, and how often to save: so it reaches `Checkpoints` in the script."""
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
    processes = PARALLEL[train.parallel](Processes(train.processes_per_instance, train.mpi_options))
    return encode({**train.hyperparameters, **script, **processes})
