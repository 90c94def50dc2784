"""Conditions of statements: operators, sets of values, keys that a request does not have.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
"""

from __future__ import annotations

import ipaddress
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from orchestrator.localcloud.iam.patterns import fill_in, means, means_arn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orchestrator.localcloud.iam.policy import Condition

_ALL, _ANY, _IF_EXISTS = "ForAllValues:", "ForAnyValue:", "IfExists"


class UnknownOperator(Exception):
    """An operator that is not known here. What hangs on it is denied."""


def hold(conditions: Sequence[Condition], context: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether all conditions of a statement hold. Raise UnknownOperator for one that nobody can tell."""
    found = [_holds(each, context) for each in conditions]  # each, so that an unknown operator is always told
    return all(found)


def _holds(condition: Condition, context: Mapping[str, tuple[str, ...]]) -> bool:
    operator = condition.operator
    there = context.get(condition.key, ())
    if operator == "Null":
        return any((wanted.lower() == "true") == (not there) for wanted in condition.values)
    quantifier = next((each for each in (_ALL, _ANY) if operator.startswith(each)), "")
    name = operator.removeprefix(quantifier).removesuffix(_IF_EXISTS)
    if name not in _OPERATORS:
        raise UnknownOperator(operator)
    test, is_negated = _OPERATORS[name]
    if not there and operator.endswith(_IF_EXISTS):
        return True
    wanted = [filled for value in condition.values if (filled := _wanted(name, value, context)) is not None]

    def passes(value: str) -> bool:
        return any(test(value, each) for each in wanted) is not is_negated

    if quantifier == _ALL:
        return all(map(passes, there))
    if quantifier == _ANY:
        return any(map(passes, there))
    if is_negated:  # a key that is not there has none of the values
        return all(map(passes, there))
    return any(map(passes, there))


def _wanted(name: str, value: str, context: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return a value that a condition names, with variables filled in: only texts and ARNs may have them."""
    return fill_in(value, context) if name.startswith(("String", "Arn")) else value


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _moment(text: str) -> float | None:
    seconds = _number(text)
    if seconds is not None:
        return seconds
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def _compared(read: Callable[[str], float | None], test: Callable[[float, float], bool]) -> Callable[[str, str], bool]:
    """Return a test of two texts that compares what they stand for; what stands for nothing fails it."""

    def compare(value: str, wanted: str) -> bool:
        one, other = read(value), read(wanted)
        return one is not None and other is not None and test(one, other)

    return compare


def _is_in_network(value: str, wanted: str) -> bool:
    try:
        return ipaddress.ip_address(value) in ipaddress.ip_network(wanted, strict=False)
    except ValueError:
        return False


def _is_literally(value: str, wanted: str) -> bool:
    return means(wanted.translate(_NO_STARS), value)


def _is_in_any_case(value: str, wanted: str) -> bool:
    return _is_literally(value.lower(), wanted.lower())


_NO_STARS = str.maketrans({"*": "\ue000", "?": "\ue001"})
_COMPARISONS: dict[str, tuple[Callable[[float, float], bool], bool]] = {
    "Equals": (lambda one, other: one == other, False),
    "NotEquals": (lambda one, other: one == other, True),
    "LessThan": (lambda one, other: one < other, False),
    "LessThanEquals": (lambda one, other: one <= other, False),
    "GreaterThan": (lambda one, other: one > other, False),
    "GreaterThanEquals": (lambda one, other: one >= other, False),
}
_OPERATORS: dict[str, tuple[Callable[[str, str], bool], bool]] = {
    "StringEquals": (_is_literally, False),
    "StringNotEquals": (_is_literally, True),
    "StringEqualsIgnoreCase": (_is_in_any_case, False),
    "StringNotEqualsIgnoreCase": (_is_in_any_case, True),
    "StringLike": (lambda value, wanted: means(wanted, value), False),
    "StringNotLike": (lambda value, wanted: means(wanted, value), True),
    "Bool": (lambda value, wanted: value.lower() == wanted.lower(), False),
    "ArnEquals": (lambda value, wanted: means_arn(wanted, value), False),
    "ArnLike": (lambda value, wanted: means_arn(wanted, value), False),
    "ArnNotEquals": (lambda value, wanted: means_arn(wanted, value), True),
    "ArnNotLike": (lambda value, wanted: means_arn(wanted, value), True),
    "IpAddress": (_is_in_network, False),
    "NotIpAddress": (_is_in_network, True),
    **{f"Numeric{name}": (_compared(_number, test), negated) for name, (test, negated) in _COMPARISONS.items()},
    **{f"Date{name}": (_compared(_moment, test), negated) for name, (test, negated) in _COMPARISONS.items()},
}
"""Each operator's test of one value, and whether the operator holds where no value passes it."""
