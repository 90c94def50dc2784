"""`train.metrics`: the numbers that a training reports, or that a regex finds in its log."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from orchestrator.spec.model import shown, wrong
from orchestrator.wire.curve import report_pattern


def _spelt_out(value: Any) -> Any:
    """Return name → regex. A list of names has no regexes; a name without one is reported by the training."""
    if isinstance(value, list):
        for index, name in enumerate(value):
            if not isinstance(name, str):
                raise wrong(f"expected a metric's name, got {shown(name)}", at=(index,))
            if name in value[:index]:
                raise wrong(f"{name!r} is listed twice", at=(index,))
        value = dict.fromkeys(value)
    if isinstance(value, str):
        raise wrong(f"expected a list of metrics, got {shown(value)}", hint=f"write [{value}]")
    if not isinstance(value, dict):
        return value
    return {name: _reported(name) if regex is None else regex for name, regex in value.items()}


def _reported(name: Any) -> Any:
    if not isinstance(name, str):
        return None
    if not name or re.search(r"[\s=]", name):
        raise wrong(f"{shown(name)} cannot name a reported metric", hint="no blanks and no =; or give it a regex")
    return report_pattern(name)


def _checked(patterns: dict[str, str]) -> dict[str, str]:
    for name, regex in patterns.items():
        if not 0 < len(name) <= 255:
            raise wrong("a metric's name has 1 to 255 characters")
        try:
            groups = re.compile(regex).groups
        except (re.error, OverflowError, RecursionError) as error:
            raise wrong(f"not a regular expression: {error}", at=(name,)) from error
        if groups != 1:
            raise wrong(
                f"the regex has {groups} groups, not one",
                hint="put one pair of parentheses around the number, and (?:…) elsewhere",
                at=(name,),
            )
    return patterns


Metrics = Annotated[
    dict[str, str],
    BeforeValidator(_spelt_out, json_schema_input_type=list[str] | dict[str, str | None]),
    AfterValidator(_checked),
]
"""Names, each with the regex that finds its values. The file may leave out regexes, or write a list of names."""
