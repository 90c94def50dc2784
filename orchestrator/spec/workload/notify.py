"""`notify`: who is told what becomes of a workload's runs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from orchestrator.notices.channels import Channels, check_address, check_reference
from orchestrator.notices.notice import KINDS
from orchestrator.spec.model import Model, listed_once, wrong

Kind = Literal["finished", "failed", "promoted", "refused", "budget", "stuck", "alarm"]


def _address(text: str) -> str:
    try:
        return check_address(text)
    except ValueError as error:
        raise wrong(str(error)) from error


def _reference(text: str) -> str:
    try:
        return check_reference(text)
    except ValueError as error:
        raise wrong(str(error)) from error


class Notify(Model):
    """Addresses, and the events that they are told of."""

    to: Annotated[list[Annotated[str, AfterValidator(_address)]], AfterValidator(listed_once)] = Field(
        min_length=1, description="SNS topics by their ARNs, https URLs, or references to secrets that hold such URLs"
    )
    events: Annotated[list[Kind], AfterValidator(listed_once)] = Field(
        default=[], description="the kinds of events; all unless said"
    )
    secret: Annotated[str, AfterValidator(_reference)] | None = Field(
        default=None, description="reference to the secret that webhooks are signed with"
    )

    @property
    def channels(self) -> Channels:
        """The addresses as `notices` knows them."""
        return Channels(tuple(self.to), self.secret or "", tuple(self.events) or KINDS)
