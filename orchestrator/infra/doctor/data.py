"""May trainings read the data that the plan sends them to?"""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from typing import TYPE_CHECKING

from orchestrator.aws.account.iam import find_role, simulate
from orchestrator.infra.data_buckets import is_named, pattern_of
from orchestrator.platforms.account.finding import DEPLOY, PERMISSION, Finding, ok, wrong
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.infra.doctor.subject import Data, Subject

_PERMISSIONS = ["s3:GetObject", "s3:ListBucket"]


def data(subject: Subject) -> Iterator[Finding]:
    """Yield whether the role of trainings may list and read each bucket that the plan has replicas in.

    It is what IAM's simulator says; a bucket's own policy is not looked at. A role that is not there is told elsewhere.
    """
    names = subject.names
    role = names.role.rpartition("/")[2]
    folders = _folders(subject.need.data)
    if not folders or find_role(subject.clients, names.region, role) is None:
        return
    denied = {bucket: lacks for bucket, there in folders.items() if (lacks := _denied(subject, bucket, there))}
    unnamed = {bucket: one.region for bucket, one in _places(subject.need.data) if bucket in denied}
    mend = _mend(subject, unnamed)
    for bucket in folders:
        if bucket in denied:
            message = f"{role} may not read it, simulated without the bucket's own policy: {', '.join(denied[bucket])}"
            yield wrong("data", bucket, message, mend, PERMISSION)
        else:
            yield ok("data", bucket, f"{role} may read what the plan needs of it (simulated, not tried)")


def _places(needed: frozenset[Data]) -> Iterator[tuple[str, Data]]:
    for one in sorted(needed):
        yield S3Uri.parse(one.uri).bucket, one


def _folders(needed: frozenset[Data]) -> dict[str, list[str]]:
    """Return the keys of folders in each bucket: one dataset of those that lie beside each other stands for all."""
    beside: dict[str, dict[str, str]] = defaultdict(dict)
    for bucket, one in _places(needed):
        key = S3Uri.parse(one.uri).key.rstrip("/")
        beside[bucket].setdefault(key.rpartition("/")[0], key)
    return {bucket: list(keys.values()) for bucket, keys in beside.items()}


def _denied(subject: Subject, bucket: str, keys: list[str]) -> list[str]:
    """Return the actions that the simulator does not grant to the role of trainings in a bucket."""
    names, arn = subject.names, f"arn:{subject.names.partition}:s3:::{bucket}"
    denied = [
        said
        for key in keys
        for said in simulate(
            subject.clients, names.region, names.role, ["s3:ListBucket"], [arn], {"s3:prefix": f"{key}/"}
        )
    ]
    objects = [f"{arn}/{key}/x" for key in keys]
    denied += simulate(subject.clients, names.region, names.role, ["s3:GetObject"], objects, {})
    return list(dict.fromkeys(denied))[:3]


def _mend(subject: Subject, denied: dict[str, str]) -> str:
    """Return what lets trainings read these buckets, each with its Region."""
    names = subject.names
    if "role" in names.theirs:
        arns = [f"arn:{names.partition}:s3:::{bucket}" for bucket in denied]
        statement = {"Effect": "Allow", "Action": _PERMISSIONS, "Resource": [*arns, *(f"{arn}/*" for arn in arns)]}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]}, separators=(",", ":"))
        name = names.role.rpartition("/")[2]
        return f"aws iam put-role-policy --role-name {name} --policy-name data --policy-document {shlex.quote(policy)}"
    said = names.given.data_buckets
    patterns = [pattern_of(bucket, region) for bucket, region in denied.items() if not is_named(bucket, said)]
    if not patterns:
        return DEPLOY
    wanted = json.dumps(list(dict.fromkeys((*said, *patterns))))
    return f"write `data_buckets = {wanted}` below [infra] in sweep.toml, then {DEPLOY}"
