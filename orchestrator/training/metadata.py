"""Asks the metadata service of an EC2 instance, with a session token (IMDSv2).

It travels into the training: standard library only.
"""

from __future__ import annotations

import http.client
import os
import socket
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
_OFF = 403
_IS_OFF = "; is it switched off (HttpEndpoint)?"
_FAR = "; in a container, or behind a proxy of the machine's, that may be the hop limit (HttpPutResponseHopLimit)"
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy knows this machine
_tokens: dict[str, tuple[str, float]] = {}
"""The token of each address that was asked, and until when it is used."""
_lock = threading.Lock()


class NoToken(OSError):
    """The metadata service gives no session token, and so tells nothing: in one line."""


def read_metadata(path: str) -> str | None:
    """Return what the instance's metadata has at a path below /latest/; None if there is no such thing.

    Raise OSError when the metadata service gives no answer: NoToken where it gives no session token.
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
        try:
            token = _ask(f"{base}/latest/api/token", "PUT", _TTL)
        except urllib.error.HTTPError as error:
            raise NoToken(f"{base} refuses a token: {error}{_IS_OFF if error.code == _OFF else ''}") from error
        except OSError as error:
            why = getattr(error, "reason", None) or error
            raise NoToken(f"{base} gives no token: {why}{_FAR if isinstance(why, socket.timeout) else ''}") from error
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
    try:
        with _direct.open(request, timeout=_TIMEOUT_S) as answer:
            return str(answer.read().decode())
    except http.client.HTTPException as error:
        raise OSError(f"{url} has broken off: {type(error).__name__}") from error
