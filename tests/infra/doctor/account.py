"""An account as these tests have it: its settings, its roles, and what was found of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.infra.doctor.doctor import in_force
from orchestrator.infra.doctor.subject import Need, Subject
from orchestrator.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.account.finding import Finding


ACCOUNT = "123456789012"
REGION = "eu-west-1"
SETTINGS = Settings(
    region=REGION,
    bucket="our-control",
    region_bucket="our-data-{region}",
    role=f"arn:aws:iam::{ACCOUNT}:role/our-training",
    job_role=f"arn:aws:iam::{ACCOUNT}:role/our-launcher",
    execution_role=f"arn:aws:iam::{ACCOUNT}:role/our-launcher",
    launcher_image=f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/our-launcher:1",
)


def states(findings: Iterable[Finding]) -> dict[str, str]:
    """Return how each thing that was found stands."""
    return {finding.where: finding.state for finding in findings}


def make_role(clients: Clients, name: str, service: str) -> None:
    """Make a role that this service may take on."""
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    clients.client("iam", REGION).create_role(RoleName=name, AssumeRolePolicyDocument=trust)


def of_nights(clients: Clients, **said: object) -> Subject:
    """Return what the doctor looks at for a sweep with a schedule."""
    settings = replace(SETTINGS, **said)  # type: ignore[arg-type]
    return Subject(settings, clients, in_force(settings, ACCOUNT), Need(nights=True))
