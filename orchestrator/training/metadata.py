"""Asks the metadata service of an EC2 instance, with a session token (IMDSv2).

It travels into the training: standard library only.
"""

from __future__ import annotations

import os
import threading
import time
import urllib.error
import urllib.request

METADATA = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
"""AWS's own variable, with the address of the instance's metadata service."""
_METADATA_AT = "http://169.254.169.254"
_TIMEOUT_S = 2.0
_LASTS_S = 300
_RENEWED_BEFORE_S = 60
_TTL = {"X-aws-ec2-metadata-token-ttl-seconds": str(_LASTS_S)}
_REFUSED = 401
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy knows this machine
_tokens: dict[str, tuple[str, float]] = {}
"""The token of each address that was asked, and until when it is used."""
_lock = threading.Lock()


def read_metadata(path: str) -> str | None:
    """Return what the instance's metadata has at a path below /latest/; None if there is no such thing.

    Raise OSError when the metadata service gives no answer.
    """
    base = os.environ.get(METADATA, _METADATA_AT).rstrip("/")
    token, is_new = _token(base)
    try:
        return _read(base, path, token)
    except urllib.error.HTTPError as error:
        if error.code != _REFUSED or is_new:
            raise
    _tokens.pop(base, None)  # it has ended before its time
    return _read(base, path, _token(base)[0])


def _token(base: str) -> tuple[str, bool]:
    """Return a session token, and whether it was made for this call."""
    with _lock:
        token, until = _tokens.get(base, ("", 0.0))
        if token and time.monotonic() < until:
            return token, False
        asked_at = time.monotonic()
        token = _ask(f"{base}/latest/api/token", "PUT", _TTL)
        _tokens[base] = (token, asked_at + _LASTS_S - _RENEWED_BEFORE_S)
        return token, True


def _read(base: str, path: str, token: str) -> str | None:
    try:
        return _ask(f"{base}/latest/{path}", "GET", {"X-aws-ec2-metadata-token": token})
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


def _ask(url: str, method: str, headers: dict[str, str]) -> str:
    request = urllib.request.Request(url, method=method, headers=headers)
    with _direct.open(request, timeout=_TIMEOUT_S) as answer:
        return str(answer.read().decode())
