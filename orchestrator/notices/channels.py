"""Channels: addresses that are told of events, and of which.

An address is an SNS topic's ARN, an https URL, or a reference to a secret that holds such a URL: that of a chat's
webhook is a secret itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from orchestrator.notices.notice import KINDS
from orchestrator.training.references import Reference

_TOPIC = re.compile(r"arn:aws[a-z-]*:sns:([a-z0-9-]+):\d{12}:[A-Za-z0-9_-]{1,256}(?:\.fifo)?")
_HERE = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Channels:
    """Addresses that are told of the same kinds of events, with one secret to sign with."""

    to: tuple[str, ...]
    secret: str = ""
    """The reference to the secret that webhooks are signed with; empty for no signature."""
    kinds: tuple[str, ...] = KINDS


NOBODY = Channels(())


def topic_region(address: str) -> str | None:
    """Return the Region of an SNS topic; None for any other address."""
    found = _TOPIC.fullmatch(address)
    return found[1] if found else None


def is_reference(address: str) -> bool:
    """Return whether this is the place of a secret."""
    return address.startswith(("ssm:", "secret:"))


def check_address(address: str) -> str:
    """Return the address if it can be one. Raise ValueError, in words, for one that cannot."""
    if address.startswith("arn:") and not topic_region(address):
        raise ValueError(f"not an SNS topic's ARN: {address!r}; it is written arn:aws:sns:<region>:<account>:<name>")
    if address.startswith("arn:"):
        return address
    if is_reference(address):
        return check_reference(address)
    return check_url(address)


def check_reference(text: str) -> str:
    """Return the reference to a secret if it is one. Raise ValueError, in words, for what is none."""
    try:
        Reference.parse(text)
    except ValueError as error:
        raise ValueError(
            f"{_shown(text)} is no reference; write ssm:<region>:<name> or secret:<arn>#<field>"
        ) from error
    return text


def check_url(url: str) -> str:
    """Return the URL of a webhook if it can be one. Raise ValueError, in words that do not tell the URL, if not."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError("not a URL: write https://…, an SNS topic's ARN, or ssm:<region>:<name>") from error
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\x00-\x20\x7f]", url):
        raise ValueError("not an address: write https://…, an SNS topic's ARN, or ssm:<region>:<name>")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a URL with a password in it: put it into a secret, and write ssm:<region>:<name>")
    if parts.scheme == "http" and host not in _HERE:
        raise ValueError("http sends notices in the clear: write https://…")
    return url


def named(address: str) -> str:
    """Return an address as messages call it: a webhook by its host alone, for the rest of its URL may be a secret."""
    return address if topic_region(address) or is_reference(address) else urlsplit(address).hostname or "a webhook"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:37]}...")
