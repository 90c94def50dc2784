"""The requests that CreateTrainingJob refuses at once, though their shape is right."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.sagemaker.host.s3_files import Uri
from orchestrator.localcloud.services.sagemaker.wishes import check_preferences, wishes_of

if TYPE_CHECKING:
    from orchestrator.localcloud.services.moto.backends import Networks, Objects

_LOCAL_DISKS = re.compile(r"ml\.([a-z]+\d+[a-z]*d|(g5|g6|gr6|g7|p5|p6|trn)[a-z0-9]*[.-])")
"""Instance types with local storage: see VolumeKmsKeyId in the API reference of ResourceConfig."""
_REGISTRY = re.compile(r"\d{12}\.dkr\.ecr\.(?P<region>[^./]+)\.(?P<suffix>amazonaws\.com(?:\.cn)?)/")
"""An image in ECR. SageMaker pulls from its own Region's: github.com/aws-samples/mlops-amazon-sagemaker/issues/9."""
_LONGEST_RUNTIME_S = 28 * 86_400


def validation_error(message: str) -> AwsError:
    """Return the error with which SageMaker refuses a request that is not valid; the caller raises it."""
    return AwsError("ValidationException", message)


def check_request(request: dict[str, Any], region: str, objects: Objects, networks: Networks) -> None:
    """Raise SageMaker's refusal of a request that it does not take. Fills in the default of MaxRuntimeInSeconds."""
    for required in ("AlgorithmSpecification", "ResourceConfig", "StoppingCondition"):
        if required not in request:
            member = required[0].lower() + required[1:]
            problem = f"Value null at '{member}' failed to satisfy constraint: Member must not be null"
            raise validation_error(f"1 validation error detected: {problem}")
    _check_algorithm(request["AlgorithmSpecification"], region)
    _check_instances(request["ResourceConfig"], spot=bool(request.get("EnableManagedSpotTraining")))
    _check_network(request.get("VpcConfig"), region, networks)
    _check_times(request)
    channels = request.get("InputDataConfig", [])
    names = [channel["ChannelName"] for channel in channels]
    if len(set(names)) < len(names):
        raise validation_error(f"Channel names must be unique, but found: {', '.join(names)}")
    for channel in channels:
        _check_mode(channel, request["AlgorithmSpecification"]["TrainingInputMode"])
        _check_data(channel, request["RoleArn"], region, objects)
    _check_output(request["OutputDataConfig"]["S3OutputPath"], region, objects)


def _check_algorithm(algorithm: dict[str, Any], region: str) -> None:
    if ("TrainingImage" in algorithm) == ("AlgorithmName" in algorithm):
        raise validation_error("You must specify either an AlgorithmName or a TrainingImage, and not both.")
    registry = _REGISTRY.match(algorithm.get("TrainingImage", ""))
    if registry and registry["region"] != region:
        raise validation_error(
            f"Invalid DNS suffix '{registry['suffix']}' for region '{registry['region']}' in training image. Please "
            f"provide the valid <region>.<dns-suffix>: '{region}.{registry['suffix']}'"
        )
    for definition in algorithm.get("MetricDefinitions", ()):
        try:
            re.compile(definition["Regex"])
        except re.error as error:
            raise validation_error(f"Invalid regular expression for metric {definition['Name']}: {error}") from error


def _check_instances(config: dict[str, Any], *, spot: bool) -> None:
    if "InstanceGroups" in config:
        raise AwsError("UnsupportedOperation", "CreateTrainingJob: the local cloud has no InstanceGroups")
    if "InstancePreferences" in config:
        check_preferences(config, spot=spot)
    else:
        for required in ("InstanceType", "InstanceCount"):
            if required not in config:
                raise validation_error(f"ResourceConfig must have {required} when InstanceGroups is not given.")
    for wish in wishes_of(config):
        if wish.instances < 1:
            raise validation_error(
                f"1 validation error detected: Value '{wish.instances}' at 'resourceConfig.instanceCount' failed "
                "to satisfy constraint: Member must have value greater than or equal to 1"
            )
        if config.get("VolumeKmsKeyId") and _LOCAL_DISKS.match(wish.instance_type):
            raise validation_error(
                f"VolumeKmsKeyId cannot be requested for {wish.instance_type}, an instance type with local storage: "
                "its volumes are encrypted using a hardware module on the instance."
            )


def _check_network(config: dict[str, Any] | None, region: str, networks: Networks) -> None:
    """Raise the refusal of subnets and security groups that the Region does not have, or that lie in several VPCs."""
    if config is None:
        return
    vpcs = set()
    for member, word in (("Subnets", "subnet"), ("SecurityGroupIds", "security group")):
        for name in config[member]:
            vpc = networks.vpc_of(region, name)
            if vpc is None:
                raise validation_error(f"The {word} ID '{name}' does not exist in {region}")
            vpcs.add(vpc)
    if len(vpcs) > 1:
        raise validation_error("The subnets and security groups of VpcConfig must be of one VPC.")


def _check_times(request: dict[str, Any]) -> None:
    stopping = request["StoppingCondition"]
    runtime = stopping.setdefault("MaxRuntimeInSeconds", 86_400)
    if runtime > _LONGEST_RUNTIME_S:
        raise validation_error(f"Invalid MaxRuntimeInSeconds. It must be less than or equal to {_LONGEST_RUNTIME_S}")
    wait = stopping.get("MaxWaitTimeInSeconds")
    if request.get("EnableManagedSpotTraining"):
        if wait is None or wait < runtime:
            raise validation_error(
                "Invalid MaxWaitTimeInSeconds. It must be present and be greater than or equal to MaxRuntimeInSeconds"
            )
    elif wait is not None:
        raise validation_error(
            "Invalid MaxWaitTimeInSeconds. It can only be set when EnableManagedSpotTraining is true"
        )


def _check_mode(channel: dict[str, Any], usual: str) -> None:
    """Raise the refusal of a channel that the local cloud cannot play, or that does not fit its input mode."""
    source = channel["DataSource"].get("S3DataSource")
    if source is None:
        raise AwsError("UnsupportedOperation", "CreateTrainingJob: the local cloud reads channels from S3 only")
    mode = channel.get("InputMode", usual)
    if source["S3DataType"] == "AugmentedManifestFile" and mode != "Pipe":
        raise validation_error("AugmentedManifestFile can only be used with the input mode Pipe.")
    if mode == "Pipe" or source["S3DataType"] not in ("S3Prefix", "ManifestFile"):
        raise AwsError(
            "UnsupportedOperation",
            "CreateTrainingJob: the local cloud reads channels of S3Prefix and ManifestFile, by File and FastFile",
        )
    for name in ("CompressionType", "RecordWrapperType"):
        if channel.get(name, "None") != "None":
            raise validation_error(f"{name} can only be used with the input mode Pipe.")


def _check_data(channel: dict[str, Any], role: str, region: str, objects: Objects) -> None:
    source = channel["DataSource"]["S3DataSource"]
    uri = Uri.parse(source["S3Uri"])
    where = objects.region(uri.bucket)
    if where is None or where != region or not objects.keys(uri.bucket, uri.key):
        raise validation_error(
            f'No S3 objects found under S3 URL "{uri}" given in input data source. Please ensure that the bucket '
            f"exists in the selected region ({region}), that objects exist under that S3 prefix, and that the role "
            f'"{role}" has "s3:ListBucket" permissions on bucket "{uri.bucket}".' + _why(uri.bucket, where, region)
        )


def _check_output(uri: str, region: str, objects: Objects) -> None:
    bucket = Uri.parse(uri).bucket
    where = objects.region(bucket)
    if where != region:
        raise validation_error(
            f'Could not access S3 output bucket "{bucket}" in the selected region ({region}).'
            + _why(bucket, where, region)
        )


def _why(bucket: str, where: str | None, region: str) -> str:
    """Say what is wrong with where a bucket lies; nothing when it is in the right Region."""
    if where is None:
        return " Error message from S3: The specified bucket does not exist"
    if where != region:
        return f" The bucket {bucket} is in region {where}, not {region}"
    return ""
