"""What may a caller do? Policies are held against an oracle that was written from AWS's documentation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.localcloud.iam import policy
from orchestrator.localcloud.iam.evaluation import Asked, Decision, Policies, evaluate, trusts
from orchestrator.localcloud.iam.policy import Malformed
from tests.fixtures.examples import examples
from tests.localcloud.iam import oracle

BUCKET = "arn:aws:s3:::data"
ACTIONS = ("s3:GetObject", "s3:PutObject", "batch:SubmitJob")
ARNS = ("arn:aws:s3:::data/a/b", "arn:aws:s3:::data", "arn:aws:batch:eu-west-1:123:job/x:1", "*")
KEYS = ("aws:RequestTag/team", "aws:TagKeys", "s3:max-keys", "aws:SourceArn")

few = st.lists(st.sampled_from(["a", "b", "ab", "1", "7", "true", "arn:aws:s3:::a"]), min_size=1, max_size=3)
numbers = st.lists(st.sampled_from(["1", "2", "7"]), min_size=1, max_size=2)
patterns = st.lists(
    st.sampled_from(["a", "a*", "?", "*", "*b", "arn:aws:s3:::*", "arn:*:s3:::a"]), min_size=1, max_size=2
)
action_patterns = st.sampled_from(["s3:GetObject", "S3:getobject", "s3:*", "*", "s3:?etObject", "batch:Submit*"])
arn_patterns = st.sampled_from(
    ["*", "arn:aws:s3:::data/*", "arn:aws:s3:::*", "arn:aws:s3:::dat?", "arn:aws:batch:*:123:job/*", "arn:*:*:*:*:*"]
)
one_or_more = st.lists(action_patterns, min_size=1, max_size=2)
some_arns = st.lists(arn_patterns, min_size=1, max_size=2)
prefixes = st.sampled_from(["", "ForAllValues:", "ForAnyValue:"])
suffixes = st.sampled_from(["", "IfExists"])


@st.composite
def condition(draw: st.DrawFn) -> dict[str, dict[str, list[str]]]:
    kind = draw(st.sampled_from(["String", "Like", "Arn", "Numeric", "Bool", "Null"]))
    key = draw(st.sampled_from(KEYS))
    if kind == "Null":
        return {"Null": {key: [draw(st.sampled_from(["true", "false"]))]}}
    negation = draw(st.sampled_from(["", "Not"]))
    name, values = {
        "String": (f"String{negation}Equals", few),
        "Like": (f"String{negation}Like", patterns),
        "Arn": (f"Arn{negation}Like", patterns.map(lambda each: [one for one in each if ":" in one] or ["*"])),
        "Numeric": (f"Numeric{'NotEquals' if negation else 'LessThan'}", numbers),
        "Bool": ("Bool", st.lists(st.sampled_from(["true", "false"]), min_size=1, max_size=1)),
    }[kind]
    key = {"Numeric": "s3:max-keys", "Arn": "aws:SourceArn"}.get(kind, key)
    return {f"{draw(prefixes)}{name}{draw(suffixes)}": {key: draw(values)}}


@st.composite
def document(draw: st.DrawFn) -> dict[str, Any]:
    statements = []
    for _ in range(draw(st.integers(1, 3))):
        statement: dict[str, Any] = {"Effect": draw(st.sampled_from(["Allow", "Allow", "Allow", "Deny"]))}
        statement[draw(st.sampled_from(["Action", "Action", "NotAction"]))] = draw(one_or_more)
        statement[draw(st.sampled_from(["Resource", "Resource", "NotResource"]))] = draw(some_arns)
        if draw(st.booleans()):
            statement["Condition"] = draw(condition())
        statements.append(statement)
    return {"Version": "2012-10-17", "Statement": statements}


@st.composite
def contexts(draw: st.DrawFn) -> dict[str, list[str]]:
    known: dict[str, list[str]] = {}
    if draw(st.booleans()):
        known["aws:RequestTag/Team"] = [draw(st.sampled_from(["a", "b", "true"]))]
    if draw(st.booleans()):
        known["s3:max-keys"] = [draw(st.sampled_from(["1", "7"]))]
    if draw(st.booleans()):
        known["aws:SourceArn"] = [draw(st.sampled_from(["arn:aws:s3:::a", "arn:aws:s3:::b"]))]
    return known


def decide(
    identity: list[dict[str, Any]],
    asked: tuple[str, str],
    context: dict[str, list[str]] | None = None,
    boundary: dict[str, Any] | None = None,
) -> Decision:
    policies = Policies(
        tuple(policy.read(f"p{n}", json.dumps(each)) for n, each in enumerate(identity)),
        boundary=policy.read("boundary", json.dumps(boundary)) if boundary else None,
    )
    known = {key.lower(): tuple(values) for key, values in (context or {}).items()}
    return evaluate(policies, Asked(*asked, known))


@settings(max_examples=examples(400))
@given(
    st.lists(document(), min_size=1, max_size=2),
    st.none() | document(),
    st.sampled_from(ACTIONS),
    st.sampled_from(ARNS),
    contexts(),
)
def test_policies_allow_what_the_documentation_says(
    identity: list[dict[str, Any]],
    boundary: dict[str, Any] | None,
    action: str,
    arn: str,
    context: dict[str, list[str]],
) -> None:
    found = decide(identity, (action, arn), context, boundary)
    assert found.allowed == oracle.allowed(identity, boundary, action, arn, context)
    assert bool(found.why) != found.allowed


@settings(max_examples=examples(300))
@given(condition(), st.lists(st.sampled_from(["a", "b", "ab", "1", "7"]), max_size=3))
def test_keys_with_several_values_are_held_value_by_value(line: dict[str, Any], values: list[str]) -> None:
    ((operator, ((key, wanted),)),) = ((operator, tuple(keys.items())) for operator, keys in line.items())
    if len(values) > 1 and not operator.startswith("For"):
        operator = f"ForAnyValue:{operator}" if operator != "Null" else operator
    if operator.startswith(("ForAllValues:Numeric", "ForAnyValue:Numeric", "Numeric")):
        values = [value for value in values if value.isdecimal()]
    statement = {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {operator: {key: wanted}}}
    found = decide([{"Statement": [statement]}], ("s3:GetObject", BUCKET), {key: values})
    assert found.allowed == oracle.line_holds(operator, key, wanted, {key: values})


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=8))
def test_stars_and_question_marks_mean_what_they_say(pattern: str, text: str) -> None:
    statement = {"Effect": "Allow", "Action": "*", "Resource": f"arn:aws:s3:::{pattern}"}
    found = decide([{"Statement": [statement]}], ("s3:GetObject", f"arn:aws:s3:::{text}"))
    assert found.allowed == oracle.like(pattern, text)


def one(effect: str, **more: Any) -> dict[str, Any]:
    return {"Statement": [{"Effect": effect, "Action": "s3:*", "Resource": "*", **more}]}


def test_a_refusal_says_which_kind_of_policy_is_missing_or_denies() -> None:
    get = ("s3:GetObject", BUCKET)
    assert decide([], get).why == "because no identity-based policy allows the s3:GetObject action"
    assert decide([one("Allow"), one("Deny")], get).why == "with an explicit deny in an identity-based policy"
    nothing = one("Allow", Action="batch:*")
    assert decide([one("Allow")], get, None, nothing).why == (
        "because no permissions boundary allows the s3:GetObject action"
    )


@pytest.mark.parametrize("effect", ["Allow", "Deny"])
def test_what_hangs_on_an_unknown_operator_is_denied_and_says_so(effect: str) -> None:
    odd = one(effect, Condition={"StringNearly": {"aws:RequestTag/a": "b"}})
    found = decide([one("Allow"), odd], ("s3:GetObject", BUCKET))
    assert found == Decision(False, "because the policy p1 has the unknown condition operator StringNearly")
    assert decide([one("Allow"), one(effect, Action="batch:*", **odd)], ("s3:GetObject", BUCKET)).allowed


def test_variables_stand_for_what_is_known_of_the_caller_and_for_nothing_else() -> None:
    own = one("Allow", Resource="arn:aws:s3:::home/${aws:username}/*")
    ask = ("s3:GetObject", "arn:aws:s3:::home/ann/x")
    assert decide([own], ask, {"aws:username": ["ann"]}).allowed
    assert not decide([own], ask, {"aws:username": ["*"]}).allowed
    assert not decide([own], ask).allowed
    star = one("Allow", Resource="arn:aws:s3:::home/${*}")
    assert decide([star], ("s3:GetObject", "arn:aws:s3:::home/*")).allowed
    assert not decide([star], ask).allowed


@pytest.mark.parametrize(
    ("operator", "wanted", "value", "holds"),
    [
        ("DateGreaterThan", "2026-01-01T00:00:00Z", "2026-11-22T10:00:00Z", True),
        ("DateLessThan", "2026-01-01T00:00:00Z", "1795000000", False),
        ("DateEquals", "no date", "2026-11-22T10:00:00Z", False),
        ("NumericGreaterThanEquals", "10", "10", True),
        ("NumericEquals", "ten", "10", False),
        ("IpAddress", "127.0.0.0/8", "127.0.0.1", True),
        ("NotIpAddress", "127.0.0.0/8", "127.0.0.1", False),
        ("StringEqualsIgnoreCase", "Team", "tEAM", True),
        ("StringNotEqualsIgnoreCase", "Team", "tEAM", False),
        ("StringEquals", "a*", "ab", False),
        ("ArnEquals", "arn:aws:s3:::a*", "arn:aws:s3:::ab", True),
        ("ArnEquals", "arn:aws:*", "arn:aws:s3:::ab", True),
        ("ArnLike", "arn:aws:s3:*b", "arn:aws:s3:::ab", False),
        ("Bool", "true", "True", True),
    ],
)
def test_an_operator_compares_in_its_own_way(operator: str, wanted: str, value: str, holds: bool) -> None:
    line = one("Allow", Condition={operator: {"some:key": wanted}})
    assert decide([line], ("s3:GetObject", BUCKET), {"some:key": [value]}).allowed is holds


@pytest.mark.parametrize("text", ["", "7", "{}", '{"Statement": [{"Effect": "Maybe"}]}', '{"Statement": 7}'])
def test_what_is_no_policy_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="the policy odd cannot be read"):
        policy.read("odd", text)


def test_only_whom_a_role_trusts_takes_it_on_and_only_as_its_conditions_say() -> None:
    document = {
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": ["scheduler.amazonaws.com"]},
                "Action": "sts:AssumeRole",
                "Condition": {"StringEquals": {"aws:SourceAccount": "123"}},
            }
        ]
    }
    trust = policy.read("trust", json.dumps(document))
    asked = Asked("sts:AssumeRole", "arn:aws:iam::123:role/x", {"aws:sourceaccount": ("123",)})
    assert trusts(trust, ("Service", "scheduler.amazonaws.com"), asked)
    assert not trusts(trust, ("Service", "ecs-tasks.amazonaws.com"), asked)
    assert not trusts(trust, ("Service", "scheduler.amazonaws.com"), Asked("sts:AssumeRole", asked.resource))
