"""Secrets by reference: their values, fetched with the training's own role as it starts.

A value is told to nobody but the training: not in errors, not in logs.

It travels into the training: standard library only.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from orchestrator.training.aws_call import CallFailed, call
from orchestrator.training.references import PREFIX, Reference

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class CannotFetch(Exception):
    """A secret cannot be had, and why: in one line, without any value."""


def with_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with every secret in it, under its own name, and without the references.

    Raise CannotFetch for one that cannot be had.
    """
    found = {name: value for name, value in environ.items() if not name.startswith(PREFIX)}
    for name, text in environ.items():
        if name.startswith(PREFIX):
            found[name[len(PREFIX) :]] = _fetch(name[len(PREFIX) :], text, environ)
    return found


def _fetch(name: str, text: str, environ: Mapping[str, str]) -> str:
    try:
        value = _value(Reference.parse(text), environ)
        if "\0" in value:
            raise ValueError("it has a NUL character, which no variable can hold")
    except (CallFailed, ValueError) as error:
        raise CannotFetch(f"the secret {name} ({text}) cannot be fetched: {error}") from None
    return value


def _value(reference: Reference, environ: Mapping[str, str]) -> str:
    """Return a secret's value. Raise CallFailed when AWS does not give it, ValueError when it has no such field."""
    if reference.kind == "ssm":
        body = {"Name": reference.name, "WithDecryption": True}
        answer = call("ssm", reference.region, "AmazonSSM.GetParameter", body, environ)
        return str(answer["Parameter"]["Value"])
    answer = call(
        "secretsmanager", reference.region, "secretsmanager.GetSecretValue", {"SecretId": reference.name}, environ
    )
    if "SecretString" not in answer:
        raise ValueError("it is binary, and a variable holds text")
    text = str(answer["SecretString"])
    return _field(text, reference.field) if reference.field else text


def _field(text: str, name: str) -> str:
    try:
        values: Any = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise ValueError(f"it is no JSON object, and so has no field {name}")
    if name not in values:
        raise ValueError(f"it has no field {name}")
    value = values[name]
    return value if isinstance(value, str) else json.dumps(value)
