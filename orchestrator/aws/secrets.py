"""Looks whether secrets are there, and not at their values: those are for the trainings alone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import AccessDenied, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.training.references import Reference

log = logging.getLogger(__name__)


def check_secrets(secrets: Mapping[str, Reference], clients: Clients) -> None:
    """Raise NotFound for the first of these secrets, by their variables, that is not where it is said to be.

    Whoever submits need not be allowed to look: then it is said that nobody has, and the trainings will find out.
    """
    for name, reference in secrets.items():
        try:
            if not _is_there(reference, clients):
                raise NotFound(
                    f"the secret of {name} is not there: {reference}",
                    where=reference.region,
                    hint="put it into that Region, or say the one that it lies in: `region:` beside its name",
                )
        except AccessDenied as error:
            log.warning("nobody has looked whether %s is there: %s", reference, error.message)


def _is_there(reference: Reference, clients: Clients) -> bool:
    with aws_errors(f"look for {reference}", where=reference.region):
        if reference.kind == "ssm":
            wanted = {"Key": "Name", "Option": "Equals", "Values": [reference.name]}
            ssm = clients.client("ssm", reference.region)
            return bool(ssm.describe_parameters(ParameterFilters=[wanted])["Parameters"])
        manager = clients.client("secretsmanager", reference.region)
        try:
            found = manager.describe_secret(SecretId=reference.name)
        except manager.exceptions.ResourceNotFoundException:
            return False
        return "DeletedDate" not in found
