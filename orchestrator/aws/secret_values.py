"""Reads secrets that we need ourselves, such as the key that webhooks are signed with, and none of trainings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import InvalidRequest

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.training.references import Reference


def read_secret(reference: Reference, clients: Clients) -> str:
    """Return the value of a secret. NotFound if it is not there, InvalidRequest if it is no text."""
    with aws_errors(f"read {reference}", where=reference.region):
        if reference.kind == "ssm":
            ssm = clients.client("ssm", reference.region, once=True)
            return str(ssm.get_parameter(Name=reference.name, WithDecryption=True)["Parameter"]["Value"])
        manager = clients.client("secretsmanager", reference.region, once=True)
        value = manager.get_secret_value(SecretId=reference.name).get("SecretString")
    if value is None:
        raise InvalidRequest(f"{reference} is no text", where=reference.region)
    if not reference.field:
        return str(value)
    try:
        return str(json.loads(value)[reference.field])
    except (ValueError, KeyError, TypeError):
        raise InvalidRequest(f"{reference} has no field {reference.field!r}", where=reference.region) from None
