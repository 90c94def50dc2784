"""Pods get the role that their service account names, by a token of their cluster's: IAM roles for service accounts.

What is expected is what AWS's pages say:
docs.aws.amazon.com/eks/latest/userguide/pod-configuration.html
docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
"""

from __future__ import annotations

import base64
import json
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest
from botocore.exceptions import ClientError

from orchestrator.localcloud.clock import Clock
from orchestrator.localcloud.iam.authority import Authority
from orchestrator.localcloud.iam.web_identities import WebIdentities
from tests.localcloud.conftest import eventually
from tests.localcloud.services.eks.kube import NAMESPACE, Kube, condition, make_job, make_token

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud

REGION = "eu-west-1"
ASK = (
    "import boto3, json, os; told = {n: os.environ.get(n) for n in ('AWS_ROLE_ARN', 'AWS_STS_REGIONAL_ENDPOINTS')};"
    "told['who'] = boto3.client('sts').get_caller_identity()['Arn'];"
    "told['token'] = open(os.environ['AWS_WEB_IDENTITY_TOKEN_FILE']).read(); print(json.dumps(told))"
)


@pytest.fixture
def described(client: Callable[..., Any]) -> dict[str, Any]:
    found: dict[str, Any] = client("eks", REGION).describe_cluster(name="sweep")["cluster"]
    return found


@pytest.fixture
def kube(cloud: LocalCloud, described: dict[str, Any]) -> Kube:
    keys = (cloud.environment["AWS_ACCESS_KEY_ID"], cloud.environment["AWS_SECRET_ACCESS_KEY"])
    return Kube(described, make_token(*keys, REGION))


def claims(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return found


def test_an_sdk_in_a_pod_has_the_role_that_its_account_names(
    kube: Kube, client: Callable[..., Any], described: dict[str, Any], name: str
) -> None:
    role = client("iam").create_role(RoleName=name, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    account = {"metadata": {"name": name, "annotations": {"eks.amazonaws.com/role-arn": role}}}
    assert kube.ask("POST", f"{NAMESPACE}/serviceaccounts", account).status == 201
    job = make_job(name, "", pod={"serviceAccountName": name}, container={"command": [sys.executable, "-c", ASK]})
    assert kube.ask("POST", "/apis/batch/v1/namespaces/sweep/jobs", job).status == 201
    eventually(lambda: condition(kube.job(name), "Complete") or condition(kube.job(name), "Failed"))
    told = json.loads(kube.log(kube.pods(name)[0]["metadata"]["name"]).splitlines()[-1])
    assert (told["AWS_ROLE_ARN"], told["AWS_STS_REGIONAL_ENDPOINTS"]) == (role, "regional")
    assert told["who"].startswith(f"arn:aws:sts::123456789012:assumed-role/{name}/")
    said = claims(told["token"])
    assert said["iss"] == described["identity"]["oidc"]["issuer"]
    assert (said["sub"], said["aud"]) == (f"system:serviceaccount:sweep:{name}", ["sts.amazonaws.com"])

    sts = client("sts", REGION)
    forged = told["token"].rpartition(".")[0] + ".AAAA"
    for token, arn, code in (
        (forged, role, "InvalidIdentityToken"),
        (told["token"], f"{role}-other", "AccessDenied"),
    ):
        with pytest.raises(ClientError) as refused:
            sts.assume_role_with_web_identity(RoleArn=arn, RoleSessionName="nobody", WebIdentityToken=token)
        assert refused.value.response["Error"]["Code"] == code


class OneRole:
    """Stands for an account with one role, whose trust is what the page of EKS shows."""

    def __init__(self, issuer: str) -> None:
        provider = f"arn:aws:iam::123456789012:oidc-provider/{issuer}"
        trust = {
            "Effect": "Allow",
            "Principal": {"Federated": provider},
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": {
                "StringEquals": {
                    f"{issuer}:aud": "sts.amazonaws.com",
                    f"{issuer}:sub": "system:serviceaccount:sweep:trainer",
                }
            },
        }
        self.trust = json.dumps({"Version": "2012-10-17", "Statement": [trust]})

    def role(self, _: str) -> Any:
        return self

    def take_on(self, role: str, session: str) -> Any:
        self.key_id, self.secret, self.token = role, session, "t"
        return self


@pytest.mark.parametrize(
    ("issuer", "subject", "may"),
    [
        ("https://oidc.eks.eu-west-1.amazonaws.com/id/A1", "system:serviceaccount:sweep:trainer", True),
        ("https://oidc.eks.eu-west-1.amazonaws.com/id/A1", "system:serviceaccount:sweep:other", False),
        ("https://oidc.eks.eu-west-1.amazonaws.com/id/B2", "system:serviceaccount:sweep:trainer", False),
    ],
)
def test_a_role_is_taken_on_by_whom_it_trusts_and_by_nobody_else(issuer: str, subject: str, may: bool) -> None:
    identities: Any = OneRole("oidc.eks.eu-west-1.amazonaws.com/id/A1")
    nobody: Any = None
    authority = Authority("123456789012", nobody, identities, nobody)
    web = WebIdentities("123456789012", Clock(), identities, authority)
    asked = {"Action": "AssumeRoleWithWebIdentity", "RoleArn": "r", "RoleSessionName": "s"}
    body = urlencode({**asked, "WebIdentityToken": web.make_token(issuer, subject)}).encode()
    assert web.asks({}, body)
    assert not web.asks({"HTTP_AUTHORIZATION": "AWS4-HMAC-SHA256 ..."}, body)
    answer = web.answer(body)
    assert (answer.status, b"<AccessKeyId>r</AccessKeyId>" in answer.body) == ((200, True) if may else (403, False))
