"""`train.image`: the container image that trainings run in. A wrong one would be found out only when they start."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from orchestrator.errors import did_you_mean
from orchestrator.spec.model import shown, wrong

PLACEHOLDERS = ("{account}", "{region}")
"""The names in braces that an image may contain."""
_IN_BRACES = re.compile(r"\{[^{}]*\}")
_REGISTRY = re.compile(r"[^/]+\.dkr\.ecr(?:-fips)?\.(?P<region>[^./]+)\.")
_IN_ECR = re.compile(r"(?P<repository>[a-z0-9{][a-z0-9._/{}-]*)(:\w[\w.-]{0,127})?(@sha256:[0-9a-f]{64})?")
"""The name of an image in ECR: its repository, tag and digest."""
_SHORTEST, _LONGEST = 2, 256
"""Characters of a repository's name in ECR."""


def check_image(value: str) -> str:
    """Return the image if it can be one; raise the error of a sweep file if it cannot."""
    for match in _IN_BRACES.finditer(value):
        if match[0] not in PLACEHOLDERS:
            raise wrong(f"{match[0]} has no meaning in an image", hint=did_you_mean(match[0], list(PLACEHOLDERS)))
    if value.split() != [value]:
        raise wrong(
            f"{shown(value)} is no image: there are blanks in it", hint="as docker writes it: <host>/<name>:<tag>"
        )
    host, _, name = value.partition("/")
    if ".dkr.ecr." in host:
        _check_name(name)
    return value


def registry_region(image: str) -> str:
    """Return the Region whose ECR an image lies in; nothing if it lies in no ECR, or in that of each training."""
    found = _REGISTRY.match(image)
    return found["region"] if found and found["region"] != "{region}" else ""


def _check_name(name: str) -> None:
    found = _IN_ECR.fullmatch(name)
    if found is None:
        raise wrong(
            f"{shown(name)} cannot name an image in ECR",
            hint="small letters, digits and . _ - / between them, then :<tag> or @sha256:<digest>",
        )
    if not _SHORTEST <= len(found["repository"]) <= _LONGEST:
        raise wrong(
            f"{shown(found['repository'])} cannot name a repository in ECR",
            hint=f"such a name has {_SHORTEST} to {_LONGEST} characters",
        )


Image = Annotated[str, AfterValidator(check_image)]
