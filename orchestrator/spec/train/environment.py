"""`train.environment`: variables of every training, and secrets by reference.

A secret's value is nowhere: not in the plan, not in S3, not in a request. What travels is where it lies, and the
training itself fetches it, with its own role, when it starts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from orchestrator.errors import did_you_mean
from orchestrator.spec.model import Model, shown, wrong
from orchestrator.training.references import PREFIX, Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,511}")
_OURS = "SWEEP_"
_HOW = (
    "write {ssm: /NAME} or {secret: NAME} for one that lies in AWS, or {value: …, plain: true} if everybody may see it"
)

_Region = Annotated[str | None, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")]


class Ssm(Model):
    """A secret in SSM's Parameter Store."""

    ssm: str = Field(pattern=r"^/?[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$", max_length=450, description="/team/wandb")
    region: _Region = Field(default=None, description="where it lies; without it, in each training's own Region")


class Secret(Model):
    """A secret of Secrets Manager."""

    secret: str = Field(
        pattern=r"^(arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:)?[A-Za-z0-9/_+=.@-]+$",
        max_length=400,
        description="a secret's name, such as team/wandb, or its ARN",
    )
    field: str | None = Field(
        default=None, pattern=r"^[^\s#]+$", max_length=64, description="a key of the secret's JSON"
    )
    region: _Region = Field(default=None, description="where it lies; without it, in each training's own Region")


class Plain(Model):
    """A text that looks like a secret, and is none."""

    value: str = Field(description="the text")
    plain: Literal[True] = Field(description="true: everybody may see it")


def _form(value: Any) -> str | None:
    """Return the tag of the form that a variable's value looks like; None if it looks like none."""
    if isinstance(value, dict):
        return next((tag for tag in FORMS if tag.strip("<>") in value), None)
    return next((tag for tag, model in FORMS.items() if isinstance(value, model)), "<text>")


Variable = Annotated[
    Annotated[str, Tag("<text>")]
    | Annotated[Ssm, Tag("<ssm>")]
    | Annotated[Secret, Tag("<secret>")]
    | Annotated[Plain, Tag("<value>")],
    Discriminator(_form, custom_error_type="variable", custom_error_message="not a variable's value"),
]

FORMS: dict[str, type[Model]] = {"<ssm>": Ssm, "<secret>": Secret, "<value>": Plain}
"""The forms by their tags, which pydantic puts into an error's path."""


def _checked(variables: dict[str, Variable]) -> dict[str, Variable]:
    for name, value in variables.items():
        if not _VARIABLE.fullmatch(name):
            raise wrong(f"{shown(name)} cannot name an environment variable")
        if name.startswith(PREFIX):
            raise wrong(f"{name} is ours: it says where a secret lies", hint=_HOW, at=(name,))
        if name.startswith(_OURS):
            raise wrong(f"{name} is ours: names that begin with {_OURS} are taken", hint="rename it", at=(name,))
        text = value.value if isinstance(value, Plain) else value
        if not isinstance(text, str):
            continue
        if "\0" in text:
            raise wrong("a NUL character cannot be in the environment", at=(name,))
    return variables


Environment = Annotated[dict[str, Variable], AfterValidator(_checked)]


def plain_variables(environment: Mapping[str, Variable]) -> dict[str, str]:
    """Return the variables whose values stand in the sweep file."""
    found = {name: value.value if isinstance(value, Plain) else value for name, value in environment.items()}
    return {name: value for name, value in found.items() if isinstance(value, str)}


def secrets(environment: Mapping[str, Variable]) -> list[str]:
    """Return the variables that are secrets by reference, in their order."""
    return [name for name, value in environment.items() if isinstance(value, Ssm | Secret)]


def references(environment: Mapping[str, Variable], region: str, account: str) -> dict[str, Reference]:
    """Return where each secret lies for a training in this Region, by the variable that is to hold it.

    `account` completes the ARN of a secret that is given by its name.
    """
    found: dict[str, Reference] = {}
    for name, value in environment.items():
        if isinstance(value, Ssm):
            found[name] = Reference("ssm", value.region or region, value.ssm)
        elif isinstance(value, Secret):
            there = value.region or region
            arn = f"arn:{_partition(there)}:secretsmanager:{there}:{account}:secret:{value.secret}"
            whole = value.secret if value.secret.startswith("arn:") else arn
            found[name] = Reference("secret", whole.split(":")[3], whole, value.field or "")
    return found


def _partition(region: str) -> str:
    special = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
    return next((name for begins, name in special.items() if region.startswith(begins)), "aws")


def unknown_form(value: Any) -> str:
    """Return what to do about a mapping that is no variable's value."""
    keys = list(value) if isinstance(value, dict) else []
    words = ["ssm", "secret", "value"]
    return (did_you_mean(str(keys[0]), words) if keys else "") or _HOW
