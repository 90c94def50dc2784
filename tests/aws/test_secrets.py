from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.secrets import check_secrets
from orchestrator.aws.session import Clients
from orchestrator.errors import NotFound
from orchestrator.training.references import Reference

if TYPE_CHECKING:
    from collections.abc import Callable

ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:"


@pytest.fixture
def stored(client: Callable[..., Any], name: str) -> str:
    client("ssm", "eu-west-1").put_parameter(Name=f"/{name}", Value="hunter2", Type="SecureString")
    manager = client("secretsmanager", "eu-west-1")
    for secret in (name, f"{name}-old"):
        manager.create_secret(Name=secret, SecretString="hunter2")
    manager.delete_secret(SecretId=f"{name}-old")
    return name


@pytest.mark.usefixtures("cloud_environment")
def test_secrets_that_are_there_are_not_spoken_of(stored: str, caplog: pytest.LogCaptureFixture) -> None:
    there = {"A": Reference("ssm", "eu-west-1", f"/{stored}"), "B": Reference("secret", "eu-west-1", ARN + stored, "x")}
    check_secrets(there, Clients())
    assert caplog.records == []


@pytest.mark.usefixtures("cloud_environment")
@pytest.mark.parametrize(
    ("kind", "region", "secret"),
    [
        ("ssm", "us-east-1", "/{}"),
        ("ssm", "eu-west-1", "/{}/b"),
        ("secret", "eu-west-1", ARN + "{}-other"),
        ("secret", "eu-west-1", ARN + "{}-old"),
    ],
)
def test_one_that_is_not_there_or_deleted_is_named(stored: str, kind: str, region: str, secret: str) -> None:
    reference = Reference(kind, region, secret.format(stored))
    with pytest.raises(NotFound, match="the secret of A is not there: ") as caught:
        check_secrets({"A": reference}, Clients())
    assert str(reference) in caught.value.message
    assert "hunter2" not in str(caught.value)


class Forbidden(Clients):
    """Clients of one who may not look."""

    def client(self, service: str, region: str) -> Any:
        from botocore.stub import Stubber

        made = super().client(service, region)
        stub = Stubber(made)
        stub.add_client_error("describe_parameters", "AccessDeniedException", "no")
        stub.activate()
        return made


@pytest.mark.usefixtures("cloud_environment")
def test_who_may_not_look_is_told_and_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        check_secrets({"A": Reference("ssm", "eu-west-1", "/x")}, Forbidden())
    assert "nobody has looked whether ssm:eu-west-1:/x is there" in caplog.text
