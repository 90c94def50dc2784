"""`where`: the platforms, Regions, instance types and ways of buying that may be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from orchestrator.spec.model import Model, listed_once, wrong
from orchestrator.spec.resources import Resources
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable


class Where(Model):
    """What may be bought, and where data may be trained on."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["instance_types"]}, {"required": ["resources"]}]}
    )

    platforms: Annotated[list[str], AfterValidator(listed_once)] = Field(
        default=[],
        description="platforms that may train, such as sagemaker; unless said, those of the settings",
        json_schema_extra={"minItems": 1},
    )
    regions: Annotated[list[str], AfterValidator(listed_once)] = Field(
        default=[], description="allowed Regions (residency); empty is wherever a replica is"
    )
    instance_types: Annotated[list[str], AfterValidator(listed_once)] = Field(
        default=[], description="every one of them is considered, such as ml.g5.xlarge"
    )
    resources: Resources | None = Field(
        default=None,
        description="what an instance must have: instead of instance types, or beside them to take only some of them",
    )
    purchases: Annotated[
        list[Annotated[Purchase, Field(strict=False)]], AfterValidator(listed_once), Field(min_length=1)
    ] = Field(default=[Purchase.SPOT, Purchase.ON_DEMAND], description="how instances may be bought")
    named_types: SkipJsonSchema[list[str] | None] = Field(default=None, exclude_if=lambda names: names is None)
    """The instance types that the file names, once `instance_types` holds those that were found for `resources`.

    It is no key of the file: a plan keeps it, so that planning again can look at the whole catalog again."""

    @model_validator(mode="after")
    def _types_are_known(self) -> Where:
        if self.instance_types or self.resources is not None:
            return self
        if "instance_types" in self.model_fields_set:
            raise wrong(
                "where.instance_types: there is nothing in it", hint="name at least one", at=("instance_types",)
            )
        raise wrong(
            "where: neither instance_types nor resources",
            hint="write `instance_types: [ml.g5.xlarge]` or `resources: {gpus: 1}` under where",
        )

    def with_types(self, names: Iterable[str]) -> Where:
        """Return a copy whose `instance_types` are these. It remembers which ones the file names."""
        written = self.instance_types if self.named_types is None else self.named_types
        return self.model_copy(update={"instance_types": list(names), "named_types": written})

    def as_written(self) -> Where:
        """Return it as the file has it, before `with_types`."""
        if self.named_types is None:
            return self
        return self.model_copy(update={"instance_types": self.named_types, "named_types": None})
