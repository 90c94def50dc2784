"""An address is one that a notice can go to in safety, and messages never tell more of it than they may."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from orchestrator.errors import SettingsError
from orchestrator.notices.channels import check_address, named
from orchestrator.notices.notice import KINDS
from orchestrator.settings.settings import Settings
from tests.fixtures.sweeps import make_sweep

TOPIC = "arn:aws:sns:eu-west-1:123456789012:sweeps"
HOOK = "https://hooks.example.com/services/T0/B0/secret"


@pytest.mark.parametrize(
    "address", [TOPIC, HOOK, "http://127.0.0.1:8080/", "ssm:eu-west-1:/team/chat", f"{TOPIC}.fifo"]
)
def test_an_address(address: str) -> None:
    assert check_address(address) == address


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("arn:aws:sqs:eu-west-1:123456789012:sweeps", "not an SNS topic's ARN"),
        ("http://hooks.example.com/x", "http sends notices in the clear"),
        ("https://ada:pa55word@hooks.example.com/x", "put it into a secret"),
        ("ftp://hooks.example.com/x", "not an address"),
        ("file:///etc/passwd", "not an address"),
        ("https://", "not an address"),
        ("https://[::1", "not a URL"),
        ("https://example.com:port/", "not a URL"),
        ("https://example.com/\r\nX-Evil: 1", "not an address"),
        ("ssm:/team/chat", "is no reference"),
        ("", "not an address"),
    ],
)
def test_no_address(address: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        check_address(address)
    assert "pa55word" not in str(raised.value)
    with pytest.raises(ValidationError, match=said):
        make_sweep(notify={"to": [address]})


def test_a_webhook_is_called_by_its_host() -> None:
    assert [named(one) for one in (HOOK, TOPIC, "ssm:eu-west-1:/x")] == ["hooks.example.com", TOPIC, "ssm:eu-west-1:/x"]


def test_the_settings_name_the_team_s_addresses() -> None:
    assert Settings(notify=f"{TOPIC}, {HOOK}").notify == (TOPIC, HOOK)  # type: ignore[arg-type]  # as in the environment
    for wrong in ({"notify": ["nowhere"]}, {"notify": 3}, {"notify_secret": "s3cret"}, {"owner_budget": "-3"}):
        with pytest.raises(SettingsError, match=next(iter(wrong))):
            Settings(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("notify", "said"),
    [
        ({}, "to"),
        ({"to": []}, "at least 1 item"),
        ({"to": [HOOK, HOOK]}, "is listed twice"),
        ({"to": [HOOK], "events": ["finshed"]}, "finished"),
        ({"to": [HOOK], "secret": "s3cret"}, "is no reference"),
        ({"to": HOOK}, "valid list"),
    ],
)
def test_what_a_sweep_file_may_not_say(notify: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        make_sweep(notify=notify)


def test_a_sweep_names_its_own_addresses_and_kinds() -> None:
    made = make_sweep(notify={"to": [HOOK], "events": ["failed"], "secret": "ssm:eu-west-1:/x"}).notify
    assert made is not None
    assert (made.channels.to, made.channels.kinds, made.channels.secret) == ((HOOK,), ("failed",), "ssm:eu-west-1:/x")
    every = make_sweep(notify={"to": [HOOK]}).notify
    assert every is not None
    assert every.channels.kinds == KINDS
    assert "notify" not in make_sweep().model_dump(mode="json")
