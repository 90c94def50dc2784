"""References to secrets, as a training's environment has them: where they lie, and never what they are.

    SWEEP_SECRET_WANDB_API_KEY=ssm:eu-west-1:/team/wandb
    SWEEP_SECRET_DB_PASSWORD=secret:arn:aws:secretsmanager:eu-west-1:123456789012:secret:team/db#password

It travels into the training: standard library only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "SWEEP_SECRET_"
"""Begins the name of a variable that says where the value of another lies."""


class Reference(NamedTuple):
    """A secret's place in AWS."""

    kind: str
    """`ssm`, the Parameter Store, or `secret`, Secrets Manager."""
    region: str
    name: str
    """The parameter's name, or the secret's ARN."""
    field: str = ""
    """A key of the secret's JSON; empty for the whole of it."""

    def __str__(self) -> str:
        if self.kind == "ssm":
            return f"ssm:{self.region}:{self.name}"
        return f"secret:{self.name}#{self.field}" if self.field else f"secret:{self.name}"

    @classmethod
    def parse(cls, text: str) -> Reference:
        """Return the reference that `str` has written. Raise ValueError when the text is none."""
        kind, _, rest = text.partition(":")
        if kind == "ssm":
            region, _, name = rest.partition(":")
            if region and name:
                return cls("ssm", region, name)
        if kind == "secret":
            arn, _, field = rest.partition("#")
            parts = arn.split(":")
            if len(parts) == 7 and parts[0] == "arn" and parts[3]:
                return cls("secret", parts[3], arn, field)
        raise ValueError(f"not a reference to a secret: {text}")


def variable(name: str) -> str:
    """Return the variable that says where the value of this one lies."""
    return f"{PREFIX}{name}"


def references_in(environ: Mapping[str, str]) -> dict[str, Reference]:
    """Return where each secret lies that an environment names, by the variable that is to hold it.

    Raise ValueError for what is no reference.
    """
    return {name[len(PREFIX) :]: Reference.parse(text) for name, text in environ.items() if name.startswith(PREFIX)}
