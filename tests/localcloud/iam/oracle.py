"""What AWS says that comes of policies, written from its documentation and in its order; slow, and of other means.

[L] IAM User Guide, "How AWS enforcement code logic evaluates requests"
[C] "IAM JSON policy elements: Condition operators" and "Single-valued vs. multivalued context keys"
"""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]
Context = dict[str, list[str]]


def allowed(identity: list[Document], boundary: Document | None, action: str, arn: str, context: Context) -> bool:
    """[L] A matching Deny in any policy ends it. Then some identity policy and the boundary, if any, must allow."""
    everything = [*identity, *([boundary] if boundary else [])]
    meant = [(policy, one) for policy in everything for one in policy["Statement"] if means(one, action, arn, context)]
    if [one for _, one in meant if one["Effect"] == "Deny"]:
        return False
    if not [policy for policy, _ in meant if any(policy is each for each in identity)]:
        return False
    return not boundary or bool([policy for policy, _ in meant if policy is boundary])


def means(statement: Document, action: str, arn: str, context: Context) -> bool:
    actions = [
        like(each.lower(), action.lower()) for each in listed(statement.get("Action", statement.get("NotAction")))
    ]
    is_meant = any(actions) if "Action" in statement else not any(actions)
    arns = [like_arn(each, arn) for each in listed(statement.get("Resource", statement.get("NotResource")))]
    is_there = any(arns) if "Resource" in statement else not any(arns)
    lines = [
        (operator, key, listed(values))
        for operator, keys in statement.get("Condition", {}).items()
        for key, values in keys.items()
    ]
    return is_meant and is_there and all(line_holds(*line, context) for line in lines)


def line_holds(operator: str, key: str, wanted: list[str], context: Context) -> bool:
    """[C] Keys are not case-sensitive; several values of a condition are OR, of a negated one NOR."""
    there = {name.lower(): values for name, values in context.items()}.get(key.lower(), [])
    if operator == "Null":
        return (not there) == (wanted[0] == "true")
    if operator.endswith("IfExists") and not there:
        return True
    name = operator.replace("IfExists", "")
    if name.startswith("ForAllValues:"):  # every value of the request, so true of none at all
        return all(one_holds(name[13:], value, wanted) for value in there)
    if name.startswith("ForAnyValue:"):  # at least one, so false of none at all
        return any(one_holds(name[12:], value, wanted) for value in there)
    if not there:  # "If the key is not present, the values do not match, and so a negated condition is true"
        return "Not" in name
    return one_holds(name, there[0], wanted)


def one_holds(name: str, value: str, wanted: list[str]) -> bool:
    if name in ("StringEquals", "StringNotEquals"):
        found = value in wanted
    elif name in ("StringLike", "StringNotLike"):
        found = any(like(each, value) for each in wanted)
    elif name in ("ArnLike", "ArnNotLike"):
        found = any(like_arn(each, value) for each in wanted)
    else:
        found = {
            "NumericLessThan": lambda: any(int(value) < int(each) for each in wanted),
            "NumericNotEquals": lambda: any(int(value) == int(each) for each in wanted),
            "Bool": lambda: value in wanted,
        }[name]()
    return found != ("Not" in name)


def like_arn(pattern: str, arn: str) -> bool:
    """Each of the six parts by itself; the last takes whatever colons follow."""
    if pattern == "*":
        return True
    if arn == "*":
        return False
    mine, theirs = pattern.split(":"), arn.split(":")
    mine = [*mine[:5], ":".join(mine[5:])]
    theirs = [*theirs[:5], ":".join(theirs[5:])]
    return all(like(one, other) for one, other in zip(mine, theirs, strict=True))


def like(pattern: str, text: str) -> bool:
    """`*` is any characters or none, `?` is one; tried letter by letter."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return like(pattern[1:], text) or (bool(text) and like(pattern, text[1:]))
    return bool(text) and pattern[0] in ("?", text[0]) and like(pattern[1:], text[1:])


def listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]
