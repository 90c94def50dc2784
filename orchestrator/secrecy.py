"""What must not be told: whether a text looks like a key, or a name like a key's."""

from __future__ import annotations

import re
from typing import NamedTuple


class _Kind(NamedTuple):
    """Keys of one kind, as those who give them out write them."""

    name: str
    begins: tuple[str, ...]
    """Texts of which each such key has one: looking for them is a hundred times faster than for the pattern."""
    pattern: str


_KINDS = (
    _Kind("a private key", ("PRIVATE KEY",), r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    _Kind("an AWS access key", ("AKIA", "ASIA"), r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _Kind(
        "an AWS secret key",
        ("secret_access_key", "SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey"),
        r"(?:secret_access_key|SECRET_ACCESS_KEY|[sS]ecretAccessKey)\W{1,6}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
    ),
    _Kind("a GitHub token", ("gho_", "ghp_", "ghs_", "ghu_", "ghr_"), r"\bgh[opsur]_[A-Za-z0-9]{36}"),
    _Kind("a GitHub token", ("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{60}"),
    _Kind("a GitLab token", ("glpat-",), r"\bglpat-[A-Za-z0-9_-]{20}"),
    _Kind("a Hugging Face token", ("hf_",), r"\bhf_[A-Za-z]{34}\b"),
    _Kind("an API key", ("sk-",), r"\bsk-(?:ant-|proj-|svcacct-)?[A-Za-z0-9_-]{32}"),
    _Kind("an API key", ("sk_live_",), r"\bsk_live_[A-Za-z0-9]{24}"),
    _Kind("an API key", ("AIza",), r"\bAIza[A-Za-z0-9_-]{35}\b"),
    _Kind("a Slack token", ("xox",), r"\bxox[abeoprs]-[0-9]{8}[A-Za-z0-9-]{10}"),
    _Kind("a PyPI token", ("pypi-AgEI",), r"\bpypi-AgEI[A-Za-z0-9_-]{50}"),
    _Kind("an npm token", ("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
    _Kind("a Weights & Biases key", ("wandb_v1_",), r"\bwandb_v1_[A-Za-z0-9_]{40}"),
    _Kind("a signed token", ("eyJ",), r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20}"),
)
_BARE_SECRET = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9/+]{40}")
"""An AWS secret key without its name: a digest in hexadecimal has no capital letters beside small ones."""
_WITH_PASSWORD = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/@:?#]*:[^\s/@]+@")
_NAME = re.compile(
    r"(?:.*_)?(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|SECRETS|TOKEN|API_?KEY|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY)", re.I
)
ALLOWED = "sweep: plain"
"""What a line of a file says that only looks as if a key were in it."""
_EXAMPLE = "EXAMPLE"
"""What the keys have in them that AWS's documentation shows."""


def looks_like_key(text: str) -> str:
    """Return what kind of key is in a text, such as `an AWS access key`; nothing if there seems to be none."""
    for kind in _KINDS:
        if any(begin in text for begin in kind.begins) and re.search(kind.pattern, text):
            return kind.name
    return "a URL with a password" if "://" in text and _WITH_PASSWORD.search(text) else ""


def looks_like_aws_secret(text: str) -> bool:
    """Return whether a text, as a whole, may be an AWS secret key. Some digests look so, too."""
    return _BARE_SECRET.fullmatch(text.strip()) is not None


def find_key(content: bytes) -> tuple[str, int] | None:
    """Return what kind of key is in a file's content, and in which line; None if there seems to be none.

    Examples of AWS's documentation do not count, nor do lines that say `sweep: plain`.
    """
    for kind in _KINDS:
        if any(begin.encode() in content for begin in kind.begins):
            for found in re.finditer(kind.pattern.encode(), content):
                start = content.rfind(b"\n", 0, found.start()) + 1
                stop = content.find(b"\n", found.end())
                line = content[start:stop] if stop >= 0 else content[start:]
                if ALLOWED.encode() not in line and _EXAMPLE.encode() not in found[0]:
                    return kind.name, content.count(b"\n", 0, start) + 1
    return None


def names_secret(name: str) -> bool:
    """Return whether a variable of this name usually holds a secret, as `WANDB_API_KEY` does."""
    return _NAME.fullmatch(name) is not None
