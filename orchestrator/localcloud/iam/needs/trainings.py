"""SageMaker's permissions on training jobs, and on the models of its registry.

https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.localcloud.iam.evaluation import Asked
    from orchestrator.localcloud.iam.needs.scene import Scene

_OF_ONE = ("DescribeTrainingJob", "StopTrainingJob", "DeleteTrainingJob", "UpdateTrainingJob")
_OF_TAGS = ("AddTags", "DeleteTags", "ListTags")


def needs(scene: Scene) -> Iterator[Asked]:
    """Yield the permissions that a call to SageMaker takes."""
    body, operation = scene.document, scene.call.operation
    action = f"sagemaker:{operation}"
    if operation == "CreateTrainingJob":
        yield from _create(scene, body)
    elif operation in _OF_ONE:
        yield scene.ask(action, _arn(scene, body))
    elif operation in _OF_TAGS:
        yield scene.with_tags(scene.ask(action, body["ResourceArn"]), _tags(body))
    elif resource := _registered(scene, body):
        yield scene.ask(action, resource)
    else:
        yield scene.ask(action)


def _registered(scene: Scene, body: Mapping[str, Any]) -> str:
    """Return the group or version of the registry that a call is about; empty for any other call, and for listings."""
    operation, group = scene.call.operation, str(body.get("ModelPackageGroupName", ""))
    if operation in ("CreateModelPackageGroup", "DescribeModelPackageGroup", "DeleteModelPackageGroup"):
        return scene.arn("sagemaker", f"model-package-group/{group}")
    if operation == "CreateModelPackage":
        return scene.arn("sagemaker", f"model-package/{group or body.get('ModelPackageName', '')}/*")
    if operation in ("DescribeModelPackage", "UpdateModelPackage", "DeleteModelPackage"):
        return str(body.get("ModelPackageArn") or body.get("ModelPackageName", ""))
    return ""


def _create(scene: Scene, body: Mapping[str, Any]) -> Iterator[Asked]:
    tags = _tags(body)
    resources = body.get("ResourceConfig", {})
    network = body.get("VpcConfig", {})
    known: dict[str, Any] = {
        "sagemaker:instancetypes": (resources["InstanceType"],) if "InstanceType" in resources else (),
        "sagemaker:volumekmskey": (resources["VolumeKmsKeyId"],) if "VolumeKmsKeyId" in resources else (),
        "sagemaker:vpcsubnets": tuple(network.get("Subnets", ())),
        "sagemaker:vpcsecuritygroupids": tuple(network.get("SecurityGroupIds", ())),
        "sagemaker:networkisolation": (str(bool(body.get("EnableNetworkIsolation"))).lower(),),
    }
    arn = _arn(scene, body)
    yield scene.with_tags(scene.ask("sagemaker:CreateTrainingJob", arn, **known), tags)
    if tags:
        tagging = {"sagemaker:taggingaction": ("CreateTrainingJob",)}
        yield scene.with_tags(scene.ask("sagemaker:AddTags", arn, **tagging), tags)
    if "RoleArn" in body:
        yield scene.pass_role(body["RoleArn"], "sagemaker.amazonaws.com")


def _arn(scene: Scene, body: Mapping[str, Any]) -> str:
    return scene.arn("sagemaker", f"training-job/{str(body.get('TrainingJobName', '')).lower()}")


def _tags(body: Mapping[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in body.get("Tags", ())}
