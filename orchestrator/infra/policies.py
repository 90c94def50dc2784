"""Which statements does each role of an account need? This is the only place where they stand; platforms add theirs.

docs/policies shows them for an account that `sweep infra deploy` has made ready: docs/write_policies.py writes it.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from orchestrator.aws.account.iam import TAG_SESSIONS
from orchestrator.feeds.every import every_feed
from orchestrator.infra.names import CONDUCTOR_REPOSITORY
from orchestrator.infra.statements import listed, say_together
from orchestrator.infra.telling import tell
from orchestrator.platforms import registry
from orchestrator.platforms.account.statements import OF_A_RUN, TAGGED, allow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from orchestrator.infra.names import Names
    from orchestrator.platforms.account.statements import Statement

_DEFINITIONS = "arn:aws:batch:*:{account}:job-definition/sweep-launcher*"
_CONDUCTORS = "arn:aws:batch:*:{account}:job-definition/sweep-conductor*"
_JOBS = "arn:aws:batch:*:{account}:job/*"
_REPOSITORIES = "arn:aws:ecr:*:{account}:repository/sweep-*"
INSTANCES = "ec2.amazonaws.com"
"""The service for which instances take on a role: they need an instance profile besides."""
_OF_A_NIGHT = {"Null": {"aws:RequestTag/sweep:schedule": "false"}}
"""Only what is given the tag of a schedule as it is started."""
_LOOK_AT_LETTERS = ["sqs:ChangeMessageVisibility", "sqs:GetQueueUrl", "sqs:ReceiveMessage"]


def policy(role: str, names: Names) -> dict[str, Any]:
    """Return the policy of a role, which is one of ROLES."""
    statements = [*_OURS[role](names), *_of_platforms(role, names)]
    return {"Version": "2012-10-17", "Statement": [_filled(each, names) for each in statements]}


def trust(services: Sequence[str], account: str = "") -> dict[str, Any]:
    """Return the policy that lets these services assume a role; with an account, only on behalf of what is in it."""
    actions = ["sts:AssumeRole", *(["sts:TagSession"] if TAG_SESSIONS & set(services) else [])]
    statement = {"Effect": "Allow", "Principal": {"Service": _one_or_all(services)}, "Action": _one_or_all(actions)}
    if account:
        statement["Condition"] = {"StringEquals": {"aws:SourceAccount": account}}
    return {"Version": "2012-10-17", "Statement": [statement]}


def training_services(names: Names) -> list[str]:
    """Return the services that start trainings under their role, as the platforms say; none if it needs no role."""
    found = (registry.make_operating(name).trusted() for name in names.platforms)
    return sorted({service for services in found for service in services})


def _of_platforms(role: str, names: Names) -> Iterator[Statement]:
    """Yield the statements of all platforms: they know conductors as some who submit.

    What launchers hand over to them may be a role of the team's own.
    """
    asked = "submit" if role == "conductor" else role
    found: list[Statement] = []
    for name in names.platforms:
        before = list(found)
        for needed in registry.make_operating(name).permissions(asked):
            statement = dict(needed)
            if statement["Action"] == ["iam:PassRole"] and "role" in names.theirs:
                statement["Resource"] = [*listed(statement["Resource"]), names.role]
            if not any(say_together(other, statement) for other in before):
                found.append(statement)
    yield from found


def _submit(names: Names) -> Iterator[Statement]:
    control = f"arn:aws:s3:::{names.bucket}"
    data = f"arn:aws:s3:::{names.bucket_pattern}"
    kept = [f"{control}/{folder}/*" for folder in ("runs", "workloads", "budgets", "notices")]
    yield allow("TheRunsObjects", ["s3:GetObject", "s3:PutObject"], kept)
    yield allow("ReplaceNews", ["s3:DeleteObject"], [f"{control}/runs/*/news/*", f"{control}/runs/*/running/*"])
    yield allow("ListRunsAndTellMissingFromForbidden", ["s3:ListBucket"], [control, data, *_data_buckets(names)])
    yield allow("UploadSources", ["s3:GetObject", "s3:PutObject"], [f"{data}/sources/*"])
    yield allow("BringChampions", ["s3:GetObject", "s3:PutObject"], [f"{data}/champions/*"])
    yield allow("ReadModels", ["s3:GetObject"], [f"{data}/runs/*"])
    yield allow("CopyDatasetsThatArePlannedToMove", ["s3:GetObject", "s3:PutObject"], [f"{data}/datasets/*"])
    if names.given.data_buckets:
        yield allow("ReadDatasetsElsewhere", ["s3:GetObject"], [f"{each}/*" for each in _data_buckets(names)])
    yield from _use_key(names)
    yield allow("FindJobs", ["batch:DescribeJobDefinitions", "batch:DescribeJobs", "batch:ListJobs"], "*")
    yield allow("RegisterTheLauncher", ["batch:RegisterJobDefinition", "batch:TagResource"], _DEFINITIONS)
    yield allow(
        "SubmitArrays",
        ["batch:SubmitJob", "batch:TagResource"],
        [_DEFINITIONS, *(f"arn:aws:batch:*:{{account}}:job-queue/{queue}" for queue in _queues(names)), _JOBS],
        Condition=TAGGED,
    )
    yield allow("EndTheArraysOfRuns", ["batch:CancelJob", "batch:TerminateJob"], _JOBS, Condition=OF_A_RUN)
    yield allow(
        "CountTheSlotsOfLanes",
        [
            "batch:CreateConsumableResource",
            "batch:DescribeConsumableResource",
            "batch:SubmitJob",
            "batch:UpdateConsumableResource",
        ],
        "arn:aws:batch:*:{account}:consumable-resource/sweep-*",
    )
    yield allow(
        "StartLaunchersUnderTheirRoles",
        ["iam:PassRole"],
        [names.job_role, names.execution_role],
        Condition={"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}},
    )
    yield allow("ReadLogsOfLaunchers", ["logs:DescribeLogStreams", "logs:GetLogEvents"], _log_group(names))
    yield from tell(names)


def _schedules(names: Names) -> Iterator[Statement]:
    """Yield what making schedules takes: what is frozen of them, their timers, and the conductors that these start."""
    control = f"arn:aws:s3:::{names.bucket}"
    kept = [f"{control}/{folder}/*" for folder in ("schedules", "conductor", "catalog")]
    yield allow("SchedulesAndTheirNights", ["s3:GetObject", "s3:PutObject"], kept)
    yield allow("DeleteSchedules", ["s3:DeleteObject"], f"{control}/schedules/*")
    yield allow("ListNightsAndTellMissingFromForbidden", ["s3:ListBucket"], control)
    yield from _use_key(names)
    group = f"arn:aws:scheduler:*:{{account}}:schedule-group/{names.schedule_group}"
    timers = f"arn:aws:scheduler:*:{{account}}:schedule/{names.schedule_group}/*"
    yield allow("MakeTheGroup", ["scheduler:CreateScheduleGroup"], group)
    changes = [f"scheduler:{verb}Schedule" for verb in ("Create", "Delete", "Get", "Update")]
    yield allow("SetTimers", changes, timers)
    yield allow(
        "LetTimersStartJobs",
        ["iam:PassRole"],
        [names.schedule_role],
        Condition={"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}},
    )
    yield allow("FindConductors", ["batch:DescribeJobDefinitions", "batch:ListJobs"], "*")
    yield allow("RegisterConductors", ["batch:RegisterJobDefinition", "batch:TagResource"], _CONDUCTORS)
    yield allow(
        "StartConductorsUnderTheirRoles",
        ["iam:PassRole"],
        [names.conductor_role, names.execution_role],
        Condition={"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}},
    )
    queue = f"arn:aws:batch:*:{{account}}:job-queue/{names.queue}"
    yield allow(
        "StartANightNow", ["batch:SubmitJob", "batch:TagResource"], [_CONDUCTORS, queue, _JOBS], Condition=_OF_A_NIGHT
    )
    yield allow("PinTheImageOfConductors", ["ecr:BatchGetImage"], "*")
    yield allow("LookAtDeadLetters", _LOOK_AT_LETTERS, names.schedule_dead_letters)


def _launcher(names: Names) -> Iterator[Statement]:
    control = f"arn:aws:s3:::{names.bucket}"
    yield allow("TheRunsObjects", ["s3:GetObject", "s3:PutObject"], [f"{control}/runs/*"])
    yield allow("ReplaceNews", ["s3:DeleteObject"], [f"{control}/runs/*/news/*", f"{control}/runs/*/running/*"])
    data = f"arn:aws:s3:::{names.bucket_pattern}"
    yield allow("ListAttemptsAndTellMissingFromForbidden", ["s3:ListBucket"], [control])
    yield allow("FindCheckpoints", ["s3:ListBucket"], [data])
    yield allow(
        "BringCheckpointsToOtherRegions",
        ["s3:GetObject", "s3:PutObject", "s3:ListMultipartUploadParts"],
        [f"{data}/runs/*/checkpoints/*"],
    )
    yield from _use_key(names)


def _launcher_start(names: Names) -> Iterator[Statement]:
    theirs = f"arn:aws:ecr:*:*:repository/{names.image_repository}"
    conductor = f"arn:aws:ecr:*:{{account}}:repository/{CONDUCTOR_REPOSITORY}"
    image = [theirs, conductor] if "launcher_image" in names.theirs else _REPOSITORIES
    yield allow("LogInToEcr", ["ecr:GetAuthorizationToken"], "*")
    yield allow(
        "PullTheLauncher",
        ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
        image,
    )
    yield allow("Log", ["logs:CreateLogStream", "logs:PutLogEvents"], _log_group(names))


def _training(names: Names) -> Iterator[Statement]:
    data = [f"arn:aws:s3:::{names.bucket_pattern}", *_data_buckets(names)]
    yield allow("ReadDataAndSources", ["s3:GetObject", "s3:ListBucket"], [*data, *(f"{bucket}/*" for bucket in data)])
    yield allow("LeaveModelsAndCheckpoints", ["s3:PutObject", "s3:DeleteObject"], f"{data[0]}/runs/*")
    yield from _use_key(names)


def _images(names: Names) -> Iterator[Statement]:  # noqa: ARG001 - repositories are called alike everywhere
    yield allow("LogIn", ["ecr:GetAuthorizationToken"], "*")
    yield allow(
        "PushImages",
        [
            "ecr:CreateRepository",
            "ecr:BatchGetImage",
            "ecr:BatchCheckLayerAvailability",
            "ecr:InitiateLayerUpload",
            "ecr:UploadLayerPart",
            "ecr:CompleteLayerUpload",
            "ecr:PutImage",
        ],
        _REPOSITORIES,
    )


def _schedule(names: Names) -> Iterator[Statement]:
    queue = f"arn:aws:batch:*:{{account}}:job-queue/{names.queue}"
    yield allow(
        "StartConductors", ["batch:SubmitJob", "batch:TagResource"], [_CONDUCTORS, queue, _JOBS], Condition=_OF_A_NIGHT
    )
    yield allow("KeepWhatCouldNotBeDelivered", ["sqs:SendMessage"], names.schedule_dead_letters)


def _conductor(names: Names) -> Iterator[Statement]:
    """Yield what a night needs: it submits as people do, and keeps its own account of what it does."""
    control = f"arn:aws:s3:::{names.bucket}"
    yield from _submit(names)
    nights = [f"{control}/{folder}/*" for folder in ("conductor", "schedules")]
    yield allow("NightsAndTheirNotes", ["s3:GetObject", "s3:PutObject"], nights)
    yield allow("ReadThePushedCatalog", ["s3:GetObject"], f"{control}/catalog/*")
    yield allow("TellOfDeadLetters", [*_LOOK_AT_LETTERS, "sqs:DeleteMessage"], names.schedule_dead_letters)


def _refresh(names: Names) -> Iterator[Statement]:  # noqa: ARG001 - prices are of no account
    actions = {action for feed in every_feed() for action in feed.actions}
    yield allow("ReadPricesAndQuotas", sorted(actions), "*")


_OURS: dict[str, Callable[[Names], Iterator[Statement]]] = {
    "submit": _submit,
    "refresh": _refresh,
    "images": _images,
    "schedules": _schedules,
    "launcher": _launcher,
    "launcher-start": _launcher_start,
    "training": _training,
    "schedule": _schedule,
    "conductor": _conductor,
}
ROLES = tuple(_OURS)
"""Every role that has a policy: the first four are people's."""


def _use_key(names: Names) -> Iterator[Statement]:
    """Yield what it takes to read and write buckets that are encrypted with a key of the team's own."""
    if names.given.kms_key:
        key = names.given.kms_key.replace("{region}", "*")
        yield allow("UseTheKeyOfTheBuckets", ["kms:Decrypt", "kms:GenerateDataKey"], key)


def _data_buckets(names: Names) -> list[str]:
    return [f"arn:aws:s3:::{bucket.replace('{region}', '*')}" for bucket in names.given.data_buckets]


def _queues(names: Names) -> list[str]:
    """Return the queues that arrays may be sent to. A pattern of lanes is one with stars in it."""
    lanes = names.lane_queue
    for fact in ("{region}", "{platform}", "{instance_type}", "{purchase}"):
        lanes = lanes.replace(fact, "*")
    return list(dict.fromkeys((names.queue, lanes)))


def _log_group(names: Names) -> str:
    return f"arn:aws:logs:*:{{account}}:log-group:{names.log_group}:*"


def _filled(statement: Statement, names: Names) -> Statement:
    """Return a statement as it is written down: with account and partition, and lists of one as that one."""
    filled = {**statement}
    filled["Action"] = _one_or_all(statement["Action"])
    known = (_in_partition(each, names) for each in listed(statement["Resource"]))
    facts = {"{account}": names.account, "{buckets}": names.bucket_pattern}
    resources = [reduce(lambda text, fact: text.replace(*fact), facts.items(), each) for each in known]
    filled["Resource"] = _one_or_all(resources)
    return filled


def _in_partition(resource: str, names: Names) -> str:
    """Return an ARN of ours in the part of the world that the account is in. What a team has given stays as it is."""
    if not resource.startswith("arn:aws:") or resource.split(":")[4].isdecimal():
        return resource
    return f"arn:{names.partition}:{resource.removeprefix('arn:aws:')}"


def _one_or_all(values: Sequence[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else list(values)
