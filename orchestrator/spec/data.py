"""`data`: which datasets a sweep trains on."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field, model_validator

from orchestrator.spec.model import Model, wrong


class Data(Model):
    """Which datasets to train on: all that match every line given."""

    campaigns: list[str] = Field(default=[], description="names; empty is every campaign")
    tags: list[str] = Field(default=[], description="only campaigns with all of these tags")
    recorded_from: date | None = Field(default=None, strict=False, description="first day, such as 2026-03-01")
    recorded_to: date | None = Field(default=None, strict=False, description="last day, included")
    version: str = Field(default="latest", min_length=1, description="dataset version, or `latest` of each campaign")
    move_data: Literal["never", "if_cheaper"] = Field(
        default="never", description="whether a dataset may be copied to another Region"
    )

    @model_validator(mode="after")
    def _days_in_order(self) -> Data:
        if self.recorded_from and self.recorded_to and self.recorded_from > self.recorded_to:
            raise wrong("recorded_to is before recorded_from", at=("recorded_to",))
        return self
