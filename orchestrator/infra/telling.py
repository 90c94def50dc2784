"""What does it take to tell others: of runs, and of who is champion? The settings say whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.notices.channels import is_reference, topic_region
from orchestrator.platforms.account.statements import allow
from orchestrator.training.references import Reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.infra.names import Names
    from orchestrator.platforms.account.statements import Statement


def tell(names: Names) -> Iterator[Statement]:
    """Yield what it takes to tell others: our topic, and those that the settings name."""
    topics = [each for each in names.notices if topic_region(each)]
    yield allow("TellOfRuns", ["sns:Publish"], list(dict.fromkeys((names.topic, *topics))))
    secrets = [Reference.parse(each) for each in names.notices if is_reference(each)]
    parameters = [_parameter(one) for one in secrets if one.kind == "ssm"]
    if parameters:
        yield allow("ReadAddressesOfNotices", ["ssm:GetParameter"], parameters)
    if kept := [one.name for one in secrets if one.kind != "ssm"]:
        yield allow("ReadSecretsOfNotices", ["secretsmanager:GetSecretValue"], kept)
    if names.model_registry:
        yield from _registry(names.model_registry)


def _registry(region: str) -> Iterator[Statement]:
    """Yield what it takes to tell the SageMaker Model Registry of a Region."""
    here = f"arn:aws:sagemaker:{region}:{{account}}"
    groups, versions = f"{here}:model-package-group/*", f"{here}:model-package/*"
    group = ["sagemaker:CreateModelPackageGroup", "sagemaker:DescribeModelPackageGroup"]
    yield allow("MakeGroupsOfModels", group, groups)
    change = ["sagemaker:CreateModelPackage", "sagemaker:UpdateModelPackage"]
    yield allow("RegisterChampions", change, [groups, versions])
    yield allow("ListRegisteredModels", ["sagemaker:ListModelPackages"], "*")  # AWS lists all of them, or none


def _parameter(reference: Reference) -> str:
    return f"arn:aws:ssm:{reference.region}:{{account}}:parameter/{reference.name.lstrip('/')}"
