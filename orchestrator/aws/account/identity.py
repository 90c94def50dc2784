"""Whose credentials are these?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients


def account_of_credentials(clients: Clients, region: str) -> str:
    """Return the number of the account that our credentials belong to. Everybody may ask AWS that."""
    asking = "ask whose these credentials are"
    with aws_errors(asking, where=region), understood(asking, where=region):
        return str(clients.client("sts", region).get_caller_identity()["Account"])
