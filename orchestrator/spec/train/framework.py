"""`train.framework`: one of AWS's own images, by its framework and version."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, model_validator

from orchestrator.spec.model import Model, wrong

_BUILT = ("sklearn", "xgboost")
"""Frameworks whose images are numbered by AWS: a version, and the number of its build."""
_PLAIN_VERSION = re.compile(r"\d+\.\d+(\.\d+)?")
_BUILT_VERSION = re.compile(r"\d+\.\d+(-\d+(-py\d+)?|\.\d+)")


class Framework(Model):
    """One of AWS's own images, looked up for each Region when the sweep is submitted."""

    name: Literal["pytorch", "tensorflow", "huggingface", "sklearn", "xgboost"] = Field(description="whose images")
    version: str = Field(
        pattern=r"^\d{1,5}\.\d{1,5}(\.\d{1,5})?(-\d{1,5}(-py\d{1,5})?)?$",
        description="such as 2.8.0, or 1.7-1 of xgboost; in quotes, for 2.10 is 2.1",
    )
    python: str = Field(default="py3", pattern=r"^py3\d*$", description="such as py312; py3 is the image's newest")
    base: str | None = Field(
        default=None,
        pattern=r"^(pytorch|tensorflow)\d+\.\d+\.\d+$",
        exclude_if=lambda value: value is None,
        description="of huggingface only: what its transformers run on, such as pytorch2.8.0",
    )

    @model_validator(mode="after")
    def _version_is_of_its_kind(self) -> Framework:
        kind, example = (_BUILT_VERSION, "1.7-1") if self.name in _BUILT else (_PLAIN_VERSION, "2.8.0")
        if not kind.fullmatch(self.version):
            raise wrong(f"AWS has no {self.name} {self.version}", hint=f"write it like {example}", at=("version",))
        return self

    @model_validator(mode="after")
    def _base_is_of_huggingface(self) -> Framework:
        if self.name == "huggingface" and self.base is None:
            hint = "name what its transformers run on, such as `base: pytorch2.8.0`"
            raise wrong("huggingface images are built on PyTorch or TensorFlow", hint=hint)
        if self.name != "huggingface" and self.base is not None:
            raise wrong(f"{self.name} images have no base", hint="leave the line out", at=("base",))
        return self
