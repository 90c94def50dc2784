"""What may the table [infra] of the settings hold?

[infra]
regions = ["us-east-1", "eu-west-1"]
subnets = ["subnet-0123456789abcdef0"]
"""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from orchestrator.errors import SettingsError, did_you_mean, said_plainly

_NETWORK_IDS = {
    name: re.compile(rf"{kind}-([0-9a-f]{{8}}|[0-9a-f]{{17}})")
    for name, kind in (("subnets", "subnet"), ("security_groups", "sg"))
}
_KEY = re.compile(r"arn:aws[a-z-]*:kms:(\{region\}|[a-z0-9-]+):\d{12}:key/[\w-]+")
_POLICY = re.compile(r"arn:aws[a-z-]*:iam::(\d{12}|aws):policy/[\w+=,.@/-]+")


class InfraSettings(BaseModel):
    """The table [infra]: what `sweep infra` is given, so that it need not make it, and how large the rest becomes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    regions: tuple[str, ...] = Field(default=(), description="Regions to train in")
    subnets: tuple[str, ...] = Field(default=(), description="subnets of launchers, in the control Region")
    security_groups: tuple[str, ...] = Field(default=(), description="security groups of launchers")
    permissions_boundary: str | None = Field(default=None, description="ARN of the policy that bounds every role made")
    kms_key: str | None = Field(default=None, description="ARN of the key that buckets are encrypted with")
    data_buckets: tuple[str, ...] = Field(default=(), description="other buckets that trainings may read")
    max_vcpus: int = Field(default=64, ge=1, le=10_000, description="vCPUs of launchers at once; each has a quarter")

    @model_validator(mode="after")
    def _has_both_parts_of_a_network(self) -> InfraSettings:
        if bool(self.subnets) != bool(self.security_groups):
            missing = "security_groups" if self.subnets else "subnets"
            raise ValueError(f"{missing} is missing: a network of yours has subnets and security groups")
        return self

    @field_validator("subnets", "security_groups")
    @classmethod
    def _are_ids(cls, ids: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        shape = _NETWORK_IDS[str(info.field_name)]
        for each in ids:
            if not shape.fullmatch(each):
                example = f"{shape.pattern.partition('-')[0]}-0123456789abcdef0"
                raise ValueError(f"not an id of one: {each!r}; it is written as in {example}")
        return ids

    @field_validator("kms_key")
    @classmethod
    def _is_a_key(cls, key: str | None) -> str | None:
        if key is not None and not _KEY.fullmatch(key):
            raise ValueError(f"not a key's ARN: {key!r}; it is written as in arn:aws:kms:{{region}}:<account>:key/<id>")
        return key

    @field_validator("permissions_boundary")
    @classmethod
    def _is_a_policy(cls, arn: str | None) -> str | None:
        if arn is not None and not _POLICY.fullmatch(arn):
            raise ValueError(f"not a policy's ARN: {arn!r}; it is written as in arn:aws:iam::<account>:policy/<name>")
        return arn


def read_infra(table: object, origin: str) -> InfraSettings:
    """Return what the table [infra] says. Raise SettingsError for what is wrong in it."""
    try:
        return InfraSettings.model_validate(table)
    except ValidationError as error:
        problem = error.errors()[0]
        path = ["infra", *map(str, problem["loc"])]
        if problem["type"] == "extra_forbidden":
            hint = did_you_mean(path[1], list(InfraSettings.model_fields))
            raise SettingsError(f"unknown setting {path[1]!r} in [infra]", where=origin, hint=hint) from error
        message = said_plainly(problem["msg"])
        said = f"{'.'.join(path)}: {message[:1].lower()}{message[1:]}"
        raise SettingsError(said, where=origin) from error
