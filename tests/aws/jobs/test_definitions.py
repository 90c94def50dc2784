from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.aws.jobs.definitions import render
from orchestrator.errors import SettingsError

LAUNCHER = Path(__file__).parents[3] / "job_definitions" / "launcher.json"
VALUES = {
    "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/sweep-launcher:0.1.0",
    "job_role": "arn:aws:iam::123456789012:role/launcher",
    "execution_role": "arn:aws:iam::123456789012:role/execution",
    "log_group": "/aws/batch/job",
    "owner": "ada",
}


def test_the_launcher_asks_for_the_smallest_machine_there_is() -> None:
    container = render(LAUNCHER.read_text(), VALUES)["containerProperties"]
    assert container["image"] == VALUES["image"]
    assert {r["type"]: r["value"] for r in container["resourceRequirements"]} == {"VCPU": "0.25", "MEMORY": "512"}
    assert (container["jobRoleArn"], container["executionRoleArn"]) == (VALUES["job_role"], VALUES["execution_role"])


def test_only_bad_luck_is_retried_and_the_last_rule_closes_the_list() -> None:
    definition = render(LAUNCHER.read_text(), VALUES)
    rules = definition["retryStrategy"]["evaluateOnExit"]
    assert rules[0] == {"onExitCode": "75", "action": "RETRY"}
    assert {"onStatusReason": "Host EC2*", "action": "RETRY"} in rules
    assert rules[-1] == {"onReason": "*", "action": "EXIT"}
    assert len(rules) <= 5
    assert "timeout" not in definition


def test_a_value_cannot_break_the_json() -> None:
    assert render('{"a": "${owner}"}', {"owner": 'quote " and \\ and ${image}'}) == {"a": 'quote " and \\ and ${image}'}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": "${imgae}"}', r"no value for \$\{imgae\} .*there are: .*image"),
        ('{"a": "$"}', "a placeholder is badly written"),
        ('{"a": \n', r"launcher\.json:2:1: not JSON"),
    ],
)
def test_a_definition_that_cannot_be_rendered_is_one_clear_line(text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        render(text, VALUES)


def test_the_file_is_plain_json() -> None:
    assert json.loads(LAUNCHER.read_text())["jobDefinitionName"] == "sweep-launcher"
