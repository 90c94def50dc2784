"""What differs by Region: one text for all of them, with `{region}` in it, or a text for each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from orchestrator.errors import did_you_mean
from orchestrator.spec.model import shown, wrong

if TYPE_CHECKING:
    from collections.abc import Callable

REGION = "{region}"
_REGION = re.compile(r"[a-z]{2,4}(?:-[a-z]+)*-([a-z]+)-\d+")
_DIRECTIONS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest", "central")
"""The words before the number of a Region: AWS takes no others, also for those that it opens."""
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_BUCKET = re.compile(r"[a-z0-9{][a-z0-9.{}-]{1,}[a-z0-9}]")
MAX_URI = 1024


def by_region(check: Callable[[str], str]) -> BeforeValidator:
    """Return the validator of a text, or of a mapping of Regions to texts, each of which `check` takes or raises."""

    def validate(value: Any) -> Any:
        if isinstance(value, dict):
            if not value:
                raise wrong("for no Region at all", hint="write a Region and its value, or leave the line out")
            return {region_name(region): _checked(text, (region,), check) for region, text in value.items()}
        return _checked(value, (), check)

    return BeforeValidator(validate, json_schema_input_type=str | dict[str, str])


def region_name(name: Any) -> str:
    """Return the name if it can be a Region's."""
    match = _REGION.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        raise wrong(f"{shown(name)} is no Region", hint="such as eu-west-1", at=(name,))
    if match[1] not in _DIRECTIONS:
        begin, end = match.span(1)
        likely = [f"{name[:begin]}{direction}{name[end:]}" for direction in _DIRECTIONS]
        raise wrong(f"{shown(name)} is no Region", hint=did_you_mean(name, likely), at=(name,))
    return str(name)


def _name_regions(given: dict[str, Any] | None) -> dict[str, Any] | None:
    for region in given or ():
        region_name(region)
    return given


FOR_REGIONS = AfterValidator(_name_regions)
"""Checks that the names of a mapping are Regions'."""


def in_region(value: str | dict[str, str], region: str) -> str:
    """Return what holds in a Region; nothing where it has no value."""
    text = value.get(region, "") if isinstance(value, dict) else value
    return text.replace(REGION, region)


def _checked(text: Any, at: tuple[str, ...], check: Callable[[str], str]) -> str:
    if not isinstance(text, str):
        raise wrong(f"expected text, got {shown(text)}", hint="or a text for each Region", at=at)
    for match in _PLACEHOLDER.finditer(text):
        if match[0] != REGION:
            raise wrong(f"{match[0]} has no meaning here", hint=did_you_mean(match[0], [REGION]), at=at)
    try:
        return check(text)
    except type(wrong("")) as error:
        context = error.context or {}
        raise wrong(context["message"], hint=context["hint"], at=at) from error


def s3_uri(text: str) -> str:
    """Return the text if it is the address of an object or a prefix in S3."""
    scheme, _, rest = text.partition("://")
    bucket = rest.partition("/")[0]
    if scheme != "s3" or not _BUCKET.fullmatch(bucket) or len(text) > MAX_URI:
        raise wrong(f"not an S3 URI: {shown(text)}", hint="write s3://<bucket>/<key>; the bucket may hold {region}")
    return text


S3ByRegion = Annotated[str | dict[str, str], by_region(s3_uri)]
"""An address in S3, with `{region}` in it, or one for each Region."""
