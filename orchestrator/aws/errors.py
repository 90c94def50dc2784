"""Turns botocore's errors into ours, in one place: every call to AWS is made inside `aws_errors`."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from botocore.exceptions import ClientError

HINTS: dict[type[SweepError], str] = {
    NoCredentials: "sign in (`aws sso login`, `aws configure`) or name a profile with --profile; for an AWS on this"
    ' machine: eval "$(sweep local up -d)"',
    AccessDenied: "let this identity do it: a policy of its role or of the resource is missing",
    NotFound: "check its name, its Region and its account",
    AlreadyExists: "somebody else was first",
    InvalidRequest: "AWS will not take this request however often it is sent",
    Throttled: "AWS asks to slow down: try again in a while",
    QuotaExceeded: "wait for running work to end, or ask for more in Service Quotas",
    NoCapacity: "AWS has none at the moment: wait, or allow another instance type or Region",
    Unreachable: "check the network, AWS_ENDPOINT_URL and AWS's health in that Region",
    CloudError: "an answer not known here: go by AWS's own words",
    SettingsError: "mend the AWS_* variables or ~/.aws/config",
}

REGION_HINT = "a Region is written as in eu-west-1: mend --region, SWEEP_REGION, AWS_REGION or `where.regions`"
ENDPOINT_HINT = "AWS_ENDPOINT_URL is written as in http://localhost:5000, or not set at all; a Region as in eu-west-1"

# Patterns of error codes; the first that matches the whole code decides.
CODES: tuple[tuple[type[SweepError], str], ...] = (
    (
        NoCredentials,
        r"ExpiredToken(Exception)?|RequestExpired|InvalidClientTokenId|UnrecognizedClient(Exception)?|InvalidAccessKeyId"
        r"|InvalidToken|TokenRefreshRequired|SignatureDoesNotMatch|InvalidSignature(Exception)?|AuthFailure"
        r"|MissingAuthenticationToken(Exception)?|IncompleteSignature(Exception)?|RequestTimeTooSkewed",
    ),
    (
        AccessDenied,
        r"AccessDenied.*|UnauthorizedOperation|Unauthorized(Exception)?|Forbidden.*|NotAuthorized.*|OptInRequired"
        r"|AllAccessDisabled|AccountProblem|KMS\..*|403|401",
    ),
    (
        Throttled,
        r"Throttl.*|TooManyRequests.*|RequestThrottled.*|RequestLimitExceeded|SlowDown|BandwidthLimitExceeded"
        r"|PriorRequestNotComplete|ProvisionedThroughputExceeded.*|429",
    ),
    (QuotaExceeded, r"ResourceLimitExceeded(Exception)?|LimitExceeded(Exception)?|ServiceQuotaExceeded(Exception)?"),
    (NoCapacity, r"CapacityError|Insufficient.*Capacity.*|InsufficientCapacity.*|CapacityNotAvailable.*"),
    (
        AlreadyExists,
        r"ResourceInUse(Exception)?|PreconditionFailed|ConditionalRequestConflict|Conflict(Exception)?"
        r"|ResourceAlreadyExists(Exception)?|BucketAlready.*|OperationAborted|409|412",
    ),
    (
        NotFound,
        r"ResourceNotFound(Exception)?|NotFound(Exception)?|NoSuch.*|(.*\.)?NonExistentQueue|QueueDoesNotExist|404",
    ),
    (
        InvalidRequest,
        r"Validation.*|Invalid.*|ClientException|Malformed.*|Missing.*|SerializationException|UnknownOperation.*"
        r"|EntityTooLarge|EntityTooSmall|KeyTooLongError|BadDigest|TooManyParts|EncryptionTypeMismatch|NotImplemented"
        r"|PermanentRedirect|TemporaryRedirect|Redirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException"
        r"|ObjectNotInActiveTierError|MethodNotAllowed|IllegalArgumentException|400|301|307|416",
    ),
    (
        Unreachable,
        r"Internal.*|ServerException|ServiceUnavailable.*|ServiceException|RequestTimeout.*|InternalServerError.*"
        r"|ExpiredNextTokenException|5\d\d",
    ),
)

# The same code may mean several things; then AWS's text tells. Looked at before the codes.
TEXTS: tuple[tuple[type[SweepError], str], ...] = (
    (Throttled, r"rate exceeded"),
    (NoCapacity, r"unable to provision requested ML compute capacity|insufficient capacity"),
    (NotFound, r"^(requested resource not found|could not find (the )?(requested )?training job)"),
)

STATUSES: dict[int, type[SweepError]] = {
    301: InvalidRequest, 307: InvalidRequest, 400: InvalidRequest, 401: NoCredentials, 403: AccessDenied,
    404: NotFound, 408: Unreachable, 409: AlreadyExists, 412: AlreadyExists, 416: InvalidRequest, 429: Throttled,
}  # fmt: skip

# botocore's own exceptions, by the name of the class or of its nearest listed ancestor.
CLASSES: dict[str, type[SweepError]] = {
    # who we are
    "NoCredentialsError": NoCredentials,
    "PartialCredentialsError": NoCredentials,
    "CredentialRetrievalError": NoCredentials,
    "ProfileNotFound": NoCredentials,
    "NoAuthTokenError": NoCredentials,
    "TokenRetrievalError": NoCredentials,
    "MetadataRetrievalError": NoCredentials,
    "RefreshWithMFAUnsupportedError": NoCredentials,
    "SSOError": NoCredentials,
    "LoginError": NoCredentials,
    "UnknownCredentialError": NoCredentials,
    "UnknownTokenProviderError": NoCredentials,
    # the way there
    "HTTPClientError": Unreachable,
    "ConnectionError": Unreachable,
    "IncompleteReadError": Unreachable,
    "ChecksumError": Unreachable,
    "FlexibleChecksumError": Unreachable,
    "AwsChunkedWrapperError": Unreachable,
    "ResponseParserError": Unreachable,
    "CapacityNotAvailableError": Throttled,
    # AWS_* variables and ~/.aws/config
    "ConfigNotFound": SettingsError,
    "ConfigParseError": SettingsError,
    "InvalidConfigError": SettingsError,
    "BaseEndpointResolverError": SettingsError,
    "EndpointProviderError": SettingsError,
    "InvalidRegionError": SettingsError,
    "UnknownRegionError": SettingsError,
    "InvalidDefaultsMode": SettingsError,
    "InvalidRetryConfigurationError": SettingsError,
    "InvalidProxiesConfigError": SettingsError,
    "InvalidChecksumConfigError": SettingsError,
    "InvalidEndpointConfigurationError": SettingsError,
    "InvalidEndpointDiscoveryConfigurationError": SettingsError,
    "InvalidIMDSEndpointError": SettingsError,
    "InvalidIMDSEndpointModeError": SettingsError,
    "InvalidS3AddressingStyleError": SettingsError,
    "InvalidS3UsEast1RegionalEndpointConfigError": SettingsError,
    "InvalidSTSRegionalEndpointsConfigError": SettingsError,
    "MissingDependencyException": SettingsError,
    # what we ask for
    "ParamValidationError": InvalidRequest,
    "ValidationError": InvalidRequest,
    "InvalidDNSNameError": InvalidRequest,
    "InvalidHostLabelError": InvalidRequest,
    "ServiceNotInRegionError": InvalidRequest,
    "UnsupportedS3ArnError": InvalidRequest,
    "UnsupportedS3AccesspointConfigurationError": InvalidRequest,
    "UnsupportedS3ConfigurationError": InvalidRequest,
    "UnsupportedOutpostResourceError": InvalidRequest,
    "UnsupportedS3ControlArnError": InvalidRequest,
    "UnsupportedS3ControlConfigurationError": InvalidRequest,
}

_BAD_URL = re.compile(r"Invalid (endpoint|IPv6 URL)")


@contextmanager
def aws_errors(what: str, where: str = "") -> Iterator[None]:
    """Turn every error of AWS and botocore that is raised inside into one of ours, with AWS's own words.

    `what` completes the sentence "could not <what>"; `where` is a Region or a resource. Errors that are faults of
    our own pass as they are.
    """
    from botocore.exceptions import BotoCoreError, ClientError, InvalidRegionError
    from botocore.parsers import ResponseParserError

    try:
        yield
    except ClientError as error:
        kind, text = kind_of_response(error)
        place = " ".join(filter(None, (where, error.operation_name)))
        raise kind(f"could not {what}: {text}", where=place, hint=HINTS[kind]) from error
    except (BotoCoreError, ResponseParserError) as error:
        kind = kind_of_exception(type(error)) or InvalidRequest
        hint = REGION_HINT if isinstance(error, InvalidRegionError) else HINTS[kind]
        raise kind(f"could not {what}: {_one_line(error)}", where=where, hint=hint) from error
    except ValueError as error:
        # botocore checks URLs with plain ValueErrors; any other is a fault of ours and must look like one.
        if not _BAD_URL.match(str(error)):
            raise
        raise SettingsError(f"could not {what}: {_one_line(error)}", where=where, hint=ENDPOINT_HINT) from error


def aws_code(error: SweepError) -> str:
    """Return AWS's own code for an error that `aws_errors` raised; empty when AWS gave none."""
    response: dict[str, Any] = getattr(error.__cause__, "response", {})
    return str(response.get("Error", {}).get("Code", ""))


def kind_of_response(error: ClientError) -> tuple[type[SweepError], str]:
    """Return which of our errors an answer of AWS is, and AWS's own words in one line."""
    body: dict[str, Any] = dict(error.response.get("Error", {}))
    name, message = str(body.get("Code", "")), str(body.get("Message", ""))
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    text = _one_line(f"{name}: {message}" if message else name)
    return kind_of_text(message) or kind_of_code(name) or kind_of_status(status), text


def kind_of_text(message: str) -> type[SweepError] | None:
    """Return which of our errors AWS's text tells of, whatever its code; None when the text tells nothing."""
    return next((kind for kind, pattern in TEXTS if re.search(pattern, message, re.IGNORECASE)), None)


def kind_of_code(name: str) -> type[SweepError] | None:
    """Return which of our errors a code of AWS is; None for a code not known here."""
    return next((kind for kind, pattern in CODES if re.fullmatch(pattern, name)), None)


def kind_of_status(status: int) -> type[SweepError]:
    """Return which of our errors an HTTP status is, for want of a code that is known."""
    return STATUSES.get(status, Unreachable if status >= 500 else CloudError)


def kind_of_exception(error: type[BaseException]) -> type[SweepError] | None:
    """Return which of our errors an exception of botocore is, by its class or the nearest ancestor that is listed."""
    return next((CLASSES[parent.__name__] for parent in error.__mro__ if parent.__name__ in CLASSES), None)


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
