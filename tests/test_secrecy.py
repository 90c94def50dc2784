from __future__ import annotations

import secrets
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.secrecy import find_key, looks_like_aws_secret, looks_like_key, names_secret

LETTERS = string.ascii_letters + string.digits


def drawn(count: int, of: str = LETTERS) -> str:
    """Random letters: no real key ever stands in a test."""
    return "".join(secrets.choice(of) for _ in range(count))


KEYS = {
    "an AWS access key": lambda: "AKIA" + drawn(16, string.ascii_uppercase + "234567"),
    "an AWS secret key": lambda: f"aws_secret_access_key = {drawn(40)}",
    "a GitHub token": lambda: f"ghp_{drawn(36)}",
    "a GitLab token": lambda: f"glpat-{drawn(20)}",
    "a Hugging Face token": lambda: f"hf_{drawn(34, string.ascii_letters)}",
    "an API key": lambda: f"sk-ant-{drawn(40)}",
    "a Slack token": lambda: f"xoxb-{drawn(12, string.digits)}-{drawn(24)}",
    "a PyPI token": lambda: f"pypi-AgEI{drawn(60)}",
    "an npm token": lambda: f"npm_{drawn(36)}",
    "a Weights & Biases key": lambda: f"wandb_v1_{drawn(70)}",
    "a signed token": lambda: f"eyJ{drawn(20)}.eyJ{drawn(30)}.{drawn(43)}",
    "a private key": lambda: "-----BEGIN OPENSSH PRIVATE KEY-----",
    "a URL with a password": lambda: f"postgresql://ada:{drawn(8)}@db.example/team",
}


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_is_known_by_its_looks_wherever_it_stands(kind: str) -> None:
    for _ in range(20):
        key = KEYS[kind]()
        assert looks_like_key(key) == kind
        assert looks_like_key(f"x = '{key}'\n") == kind
        if kind != "a URL with a password":  # documentation is full of examples of those
            assert find_key(f"import os\n\nKEY = '{key}'\n".encode()) == (kind, 3)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0123456789abcdef0123456789abcdef01234567",  # a commit
        "sha256:" + "0f" * 32,
        "s3://team-data/berlin/v1/",
        "https://example.com:8080/a@b",
        "/opt/ml/input/data/training",
        "arn:aws:iam::123456789012:role/sweep-training",
        "-----BEGIN CERTIFICATE-----",
        "sk-learn-is-a-library",
        "task-0123456789-0123456789-0123456789",
        "resnet50.a1_in1k",
    ],
)
def test_what_only_resembles_a_key_is_none(text: str) -> None:
    assert looks_like_key(text) == ""
    assert not looks_like_aws_secret(text)


@given(st.text(alphabet="0123456789abcdef", min_size=40, max_size=40))
def test_a_digest_is_no_key(digest: str) -> None:
    assert not looks_like_key(digest)
    assert not looks_like_aws_secret(digest)


def test_an_aws_secret_alone_is_known_by_its_length_and_letters() -> None:
    assert looks_like_aws_secret("aA0" + drawn(37))


@pytest.mark.parametrize(
    "name",
    [
        "WANDB_API_KEY",
        "DB_PASSWORD",
        "password",
        "HF_TOKEN",
        "CLIENT_SECRET",
        "AWS_SECRET_ACCESS_KEY",
        "APIKEY",
        "TOKEN",
    ],
)
def test_a_name_tells_of_a_secret(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize(
    "name",
    ["TOKENIZERS_PARALLELISM", "MAX_TOKENS", "OMP_NUM_THREADS", "SECRETARY", "API_KEY_FILE", "MONKEY"],
)
def test_other_names_tell_of_none(name: str) -> None:
    assert not names_secret(name)
