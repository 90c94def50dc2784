"""Filters and pages of EC2's Describe operations."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_Item = TypeVar("_Item")


def matches(facts: Mapping[str, Sequence[str]], request: Mapping[str, Any]) -> bool:
    """Return whether something passes all filters of a request: one value of each, in which * and ? stand for others.

    Raise AwsError for a filter that is not known here.
    """
    for each in request.get("Filters", ()):
        name, wanted = each.get("Name", ""), each.get("Values", [])
        if name not in facts and not name.startswith("tag:"):
            raise AwsError("InvalidParameterValue", f"The filter '{name}' is invalid")
        patterns = [value.replace("[", "[[]") for value in wanted]
        if not any(fnmatchcase(value, pattern) for value in facts.get(name, ()) for pattern in patterns):
            return False
    return True


def check_names(facts: Mapping[str, Sequence[str]], request: Mapping[str, Any]) -> None:
    """Raise AwsError for a filter that is not known, also where there is nothing to look at."""
    for each in request.get("Filters", ()):
        if each.get("Name", "") not in facts and not each.get("Name", "").startswith("tag:"):
            raise AwsError("InvalidParameterValue", f"The filter '{each.get('Name')}' is invalid")


def page(items: Sequence[_Item], request: Mapping[str, Any]) -> tuple[list[_Item], str | None]:
    """Return the items of the page that a request asks for, and the token of the next one."""
    token = request.get("NextToken") or "0"
    if not token.isdecimal():
        raise AwsError("InvalidNextToken", "The token is not valid")
    size = request.get("MaxResults")
    if size is not None and size < 5:
        raise AwsError("InvalidParameterValue", f"Value ( {size} ) for parameter maxResults is invalid. Expecting >= 5")
    stop = int(token) + min(size or 1000, 1000)
    return list(items[int(token) : stop]), str(stop) if stop < len(items) else None
