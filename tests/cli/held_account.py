"""An account that holds everybody to the policies that are deployed, and people in it who have one policy each."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.images import launcher
from orchestrator.infra.names import names
from orchestrator.infra.policies import policy
from orchestrator.settings.settings import Settings
from tests.images.parts import FILES
from tests.infra.replay import without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

    from orchestrator.localcloud import LocalCloud
    from tests.cli.calls import Sweep

ACCOUNT, CONTROL, REGION = "123456789012", "us-east-1", "eu-west-1"
PEOPLE = ("submit", "refresh", "images", "schedules")
ROLES = {
    "launcher": "sweep-launcher",
    "launcher-start": "sweep-launcher-start",
    "training": "sweep-training",
    "conductor": "sweep-conductor",
}
KNOWN = names(Settings(region=CONTROL), ACCOUNT)
NETWORK = '\n[infra]\nsubnets = ["subnet-0123456789abcdef0"]\nsecurity_groups = ["sg-0123456789abcdef0"]\n'
SECRETS = """
  environment:
    TOKEN: {ssm: /team/token}
    PASSWORD: {secret: team/password}
"""


@dataclass(frozen=True)
class Account:
    """An account that its owner makes ready, and people who have one policy each."""

    cloud: LocalCloud
    client: Callable[..., Any]
    monkeypatch: pytest.MonkeyPatch

    def be(self, who: str) -> None:
        """Have the credentials of a person, or of the owner."""
        keys = dict(self.cloud.environment)
        if who != "owner":
            made = self.client("iam").create_access_key(UserName=who)["AccessKey"]
            keys |= {"AWS_ACCESS_KEY_ID": made["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"]}
        for name, value in keys.items():
            self.monkeypatch.setenv(name, value)

    def hire(self) -> None:
        """Make people, each with the policy of one kind of work."""
        for who in PEOPLE:
            self.client("iam").create_user(UserName=who)
            arn = f"arn:aws:iam::{ACCOUNT}:policy/sweep-{who}-{CONTROL}"
            self.client("iam").attach_user_policy(UserName=who, PolicyArn=arn)

    @contextmanager
    def lacking(self, role: str, action: str) -> Iterator[None]:
        """Take an action away from the policy that is deployed, while a block runs."""
        iam = self.client("iam")
        less = json.dumps(without(policy(role, KNOWN), action))
        if role in PEOPLE:
            arn = f"arn:aws:iam::{ACCOUNT}:policy/sweep-{role}-{CONTROL}"
            made = iam.create_policy_version(PolicyArn=arn, PolicyDocument=less, SetAsDefault=True)
            yield
            iam.set_default_policy_version(PolicyArn=arn, VersionId="v1")
            iam.delete_policy_version(PolicyArn=arn, VersionId=made["PolicyVersion"]["VersionId"])
        else:
            name = f"{ROLES[role]}-{CONTROL}"
            iam.put_role_policy(RoleName=name, PolicyName="sweep", PolicyDocument=less)
            yield
            whole = json.dumps(policy(role, KNOWN))
            iam.put_role_policy(RoleName=name, PolicyName="sweep", PolicyDocument=whole)

    def asked(self) -> dict[str, list[dict[str, Any]]]:
        """What was asked of IAM so far, by the policy that has to allow it."""
        found = self.cloud.steering.permissions()
        arns = {f"arn:aws:iam::{ACCOUNT}:user/{who}": who for who in PEOPLE}
        arns |= {f"arn:aws:iam::{ACCOUNT}:role/{name}-{CONTROL}": role for role, name in ROLES.items()}
        return {role: [each for each in found if arns.get(each["who"]) == role] for role in arns.values()}


def prepare(account: Account) -> None:
    """Give the account data, secrets, and one slot for the one lane that the sweep allows."""
    data = f"sweep-data-{ACCOUNT}-{REGION}"
    account.client("s3", REGION).put_object(Bucket=data, Key="campaigns/berlin/v1/drive.csv", Body=b"1,2,3\n")
    account.client("ssm", REGION).put_parameter(Name="/team/token", Value="t", Type="SecureString")
    account.client("secretsmanager", REGION).create_secret(Name="team/password", SecretString="p")
    account.cloud.steering.add("quota", region=REGION, instance_type="ml.m5.xlarge", value=1)
    text = Path("sweep.yaml").read_text()
    text = re.sub(r"(?s)space:.*?objective", "space:\n  batch-size: [32, 64]\n\nobjective", text)
    text = text.replace("  parallel: single", f"{SECRETS}  parallel: single")
    text = text.replace("[ml.m5.xlarge, ml.c5.xlarge]", "[ml.m5.xlarge]").replace("[spot, on_demand]", "[spot]")
    Path("sweep.yaml").write_text(text)


def make_ready(sweep: Sweep, account: Account) -> None:
    """Deploy all that a sweep needs, hire people, and put data there."""
    account.be("owner")
    account.monkeypatch.setattr(launcher, "installed_files", lambda: FILES)
    sweep("init")
    with Path("sweep.toml").open("a") as settings:  # so that no network has to be made
        settings.write(NETWORK)
    deployed = sweep("infra", "deploy", "--region", REGION, "--yes")
    assert deployed.code == 0, deployed.err
    account.hire()
    prepare(account)
