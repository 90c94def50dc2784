"""A role is taken on by the services that its trust policy lets, with all the rights that each needs for that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.account.iam import find_role
from orchestrator.infra.policies import trust

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients

PODS, BATCH = "pods.eks.amazonaws.com", "ecs-tasks.amazonaws.com"


def allow(action: Any, *services: str) -> dict[str, Any]:
    return {"Effect": "Allow", "Principal": {"Service": list(services)}, "Action": action}


@pytest.mark.parametrize(
    ("statements", "services"),
    [
        ([allow("sts:AssumeRole", PODS, BATCH)], {BATCH}),  # EKS also tags the sessions
        ([allow(["sts:AssumeRole", "sts:TagSession"], PODS, BATCH)], {PODS, BATCH}),
        ([allow("sts:AssumeRole", PODS), allow("sts:TagSession", PODS)], {PODS}),
        ([allow("sts:*", PODS)], {PODS}),
        ([allow("sts:TagSession", PODS)], set()),
        (trust([PODS, BATCH])["Statement"], {PODS, BATCH}),
    ],
)
def test_pods_take_on_a_role_whose_sessions_may_be_tagged(
    clients: Clients, statements: list[dict[str, Any]], services: set[str]
) -> None:
    document = json.dumps({"Version": "2012-10-17", "Statement": statements})
    clients.client("iam", "eu-west-1").create_role(RoleName="r", AssumeRolePolicyDocument=document)
    role = find_role(clients, "eu-west-1", "r")
    assert role is not None
    assert role.services == services
