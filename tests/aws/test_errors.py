from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import botocore.exceptions
import botocore.parsers
import botocore.session
import pytest
from botocore import xform_name
from botocore.exceptions import ClientError

from orchestrator import platforms
from orchestrator.aws import errors as module
from orchestrator.aws.errors import aws_code, aws_errors
from orchestrator.aws.session import Clients
from orchestrator.errors import (
    AccessDenied,
    AlreadyExists,
    CloudError,
    InvalidRequest,
    NoCapacity,
    NoCredentials,
    NotFound,
    QuotaExceeded,
    SettingsError,
    SweepError,
    Throttled,
    Unreachable,
)

OPERATIONS = {
    "batch": [
        "CancelJob", "CreateConsumableResource", "DescribeComputeEnvironments", "DescribeConsumableResource",
        "DescribeJobDefinitions", "DescribeJobQueues", "DescribeJobs", "ListJobs", "RegisterJobDefinition",
        "SubmitJob", "TerminateJob", "UpdateConsumableResource",
    ],
    "ec2": [
        "CancelSpotInstanceRequests", "CreatePlacementGroup", "DeletePlacementGroup", "DescribeCapacityReservations",
        "DescribeImages", "DescribeInstanceTypeOfferings", "DescribeInstanceTypes", "DescribeInstances",
        "DescribeKeyPairs", "DescribeRegions", "DescribeRouteTables", "DescribeSecurityGroups",
        "DescribeSpotInstanceRequests", "DescribeSpotPriceHistory", "DescribeSubnets", "DescribeVpcEndpoints",
        "GetConsoleOutput", "GetSpotPlacementScores", "RunInstances", "TerminateInstances",
    ],
    "eks": [
        "DescribeAccessEntry", "DescribeAddon", "DescribeCluster", "DescribeNodegroup",
        "DescribePodIdentityAssociation", "ListAssociatedAccessPolicies", "ListClusters", "ListNodegroups",
        "ListPodIdentityAssociations",
    ],
    "logs": ["DescribeLogStreams", "GetLogEvents"],
    "pricing": ["GetProducts"],
    "s3": [
        "CompleteMultipartUpload", "CopyObject", "CreateMultipartUpload", "DeleteObject", "GetBucketEncryption",
        "GetBucketVersioning", "GetObject", "HeadBucket", "HeadObject", "ListObjectsV2", "ListParts", "PutObject",
        "UploadPartCopy",
    ],
    "sagemaker": [
        "CreateModelPackage", "CreateModelPackageGroup", "CreateTrainingJob", "DescribeModelPackageGroup",
        "DescribeTrainingJob", "ListModelPackages", "ListTags", "ListTrainingJobs", "ListTrainingPlans",
        "Search", "StopTrainingJob", "UpdateModelPackage",
    ],
    "savingsplans": ["DescribeSavingsPlanRates", "DescribeSavingsPlans"],
    "service-quotas": ["ListServiceQuotas"],
}  # fmt: skip
"""Every operation the code calls."""

NEVER_MET = {
    "AliasConflictParameterError", "ApiVersionNotFoundError", "BotoCoreError", "ClientError", "DataNotFoundError",
    "EventStreamError", "InvalidExpressionError", "InfiniteLoopConfigError", "MD5UnavailableError",
    "MissingParametersError", "MissingServiceIdError", "OperationNotPageableError", "PaginationError",
    "StubAssertionError", "StubResponseError", "UnStubbedResponseError", "UndefinedModelAttributeError",
    "UnknownClientMethodError", "UnknownServiceError", "UnknownServiceStyle", "UnknownSignatureVersionError",
    "UnseekableStreamError", "UnsupportedServiceProtocolsError", "UnsupportedSignatureVersionError",
    "WaiterConfigError", "WaiterError",
}  # fmt: skip
"""Exceptions that only a wrong program, a stubber or a waiter can raise; and ClientError, whose code says more."""


def refused(error_code: str, message: str = "", status: int = 400) -> SweepError:
    """Return the error that a caller meets when AWS answers so."""
    response: Any = {
        "Error": {"Code": error_code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    with pytest.raises(SweepError) as caught, aws_errors("do it", where="eu-west-1"):
        raise ClientError(response, "DoIt")
    return caught.value


def test_no_exception_of_botocore_that_can_be_met_is_unmapped() -> None:
    classes = dict(inspect.getmembers(botocore.exceptions, inspect.isclass))
    errors = {name: c for name, c in classes.items() if issubclass(c, Exception) and not issubclass(c, Warning)}
    unmapped = {name for name, c in errors.items() if module.kind_of_exception(c) is None}
    assert unmapped <= NEVER_MET
    assert module.kind_of_exception(botocore.parsers.ResponseParserError) is Unreachable


def test_every_class_in_the_table_exists() -> None:
    known = {name for name, _ in inspect.getmembers(botocore.exceptions, inspect.isclass)} | {"ResponseParserError"}
    assert set(module.CLASSES) <= known


def test_the_operations_listed_here_are_those_that_the_code_calls() -> None:
    rooms = [Path(module.__file__).parent, Path(platforms.__file__).parent]
    code = "\n".join(file.read_text() for room in rooms for file in sorted(room.rglob("*.py")))
    words = {*re.findall(r"\.(\w+)\(", code), *re.findall(r'get_paginator\("(\w+)"\)', code)}
    session = botocore.session.Session()
    namesakes = {"Search", *(name for names in OPERATIONS.values() for name in names)}  # re.search; Batch's ListJobs
    for service, operations in OPERATIONS.items():
        every = {xform_name(name): name for name in session.get_service_model(service).operation_names}
        called = {every[verb] for verb in words & every.keys()}
        assert set(operations) <= called <= set(operations) | namesakes


def test_no_error_declared_by_an_operation_we_call_is_unmapped() -> None:
    session = botocore.session.Session()
    for service, operations in OPERATIONS.items():
        model = session.get_service_model(service)
        for operation in operations:
            for shape in model.operation_model(operation).error_shapes:
                assert module.kind_of_code(shape.error_code) is not None, (operation, shape.error_code)


@pytest.mark.parametrize(
    ("error_code", "message", "kind"),
    [
        ("AccessDeniedException", "User: arn:… is not authorized", AccessDenied),
        ("AccessDenied", "Access Denied", AccessDenied),
        ("UnauthorizedOperation", "", AccessDenied),
        ("ExpiredTokenException", "", NoCredentials),
        ("ExpiredToken", "", NoCredentials),
        ("InvalidClientTokenId", "", NoCredentials),
        ("UnrecognizedClientException", "", NoCredentials),
        ("ThrottlingException", "Rate exceeded", Throttled),
        ("ClientException", "Rate exceeded", Throttled),
        ("TooManyRequestsException", "", Throttled),
        ("SlowDown", "", Throttled),
        ("ResourceLimitExceeded", "service limit 'ml.g5.2xlarge for training job usage' is 0", QuotaExceeded),
        ("CapacityError", "", NoCapacity),
        ("InsufficientInstanceCapacity", "", NoCapacity),
        ("ResourceInUse", "", AlreadyExists),
        ("PreconditionFailed", "", AlreadyExists),
        ("ConditionalRequestConflict", "", AlreadyExists),
        ("ValidationException", "Requested resource not found.", NotFound),
        ("ResourceNotFound", "", NotFound),
        ("AWS.SimpleQueueService.NonExistentQueue", "", NotFound),
        ("QueueDoesNotExist", "", NotFound),
        ("NoSuchKey", "", NotFound),
        ("NoSuchBucket", "", NotFound),
        ("ValidationException", "1 validation error detected", InvalidRequest),
        ("ClientException", "JobQueue nowhere not found.", InvalidRequest),
        ("PermanentRedirect", "", InvalidRequest),
        ("InternalFailure", "", Unreachable),
        ("ServiceUnavailableException", "", Unreachable),
    ],
)  # fmt: skip
def test_an_answer_of_aws_becomes_the_error_that_says_what_may_help(
    error_code: str, message: str, kind: type[SweepError]
) -> None:
    assert type(refused(error_code, message)) is kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (403, AccessDenied),
        (404, NotFound),
        (412, AlreadyExists),
        (429, Throttled),
        (503, Unreachable),
        (418, CloudError),
    ],
)
def test_an_unknown_code_is_judged_by_its_status(status: int, kind: type[SweepError]) -> None:
    assert type(refused("SomethingNew", "", status)) is kind


def test_a_permission_problem_is_never_taken_for_capacity() -> None:
    error = refused("AccessDeniedException", "not authorized to perform sagemaker:CreateTrainingJob", 400)
    assert isinstance(error, AccessDenied)
    assert error.exit_code == 4


def test_the_line_names_region_operation_aws_own_words_and_what_to_do() -> None:
    error = refused("ResourceLimitExceeded", "limit\n is 0")
    assert str(error) == (
        "eu-west-1 DoIt: could not do it: ResourceLimitExceeded: limit is 0 "
        "(wait for running work to end, or ask for more in Service Quotas)"
    )
    assert aws_code(error) == "ResourceLimitExceeded"


def test_every_kind_of_error_has_a_hint() -> None:
    kinds = {kind for kind, _ in module.CODES + module.TEXTS} | {
        *module.CLASSES.values(),
        *module.STATUSES.values(),
    }
    assert kinds <= set(module.HINTS)


def test_no_credentials_and_an_unknown_profile_are_access_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    with pytest.raises(NoCredentials, match="no-such-profile"):
        Clients("no-such-profile").client("s3", "us-east-1")
    with pytest.raises(NoCredentials, match="sign in"), aws_errors("list", where="us-east-1"):
        Clients().client("s3", "us-east-1").list_buckets()


def test_an_endpoint_that_is_down_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0)
    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:9"), aws_errors("list", where="us-east-1"):
        Clients().client("s3", "us-east-1").list_buckets()


def test_a_broken_aws_variable_is_a_setting_to_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with pytest.raises(SettingsError, match=r"'us east 1'.* \(a Region is written as in eu-west-1: mend --region"):
        Clients().client("s3", "us east 1")


@pytest.mark.parametrize("url", ["nonsense", "localhost:5000", "http://", "http://[::1"])
def test_an_endpoint_that_is_no_url_is_a_setting_to_mend(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    with pytest.raises(SettingsError, match=r"Invalid .* \(AWS_ENDPOINT_URL is written as in http://localhost:5000"):
        Clients().client("s3", "us-east-1")


def test_any_other_value_error_stays_the_bug_that_it_is() -> None:
    with pytest.raises(ValueError, match="ours"), aws_errors("do it"):
        raise ValueError("ours")
