"""Posts a notice to a webhook, signed: one try, no redirects, and a time-out that is short."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import urllib.error
import urllib.request
from http import HTTPStatus
from typing import Any

from orchestrator.errors import CloudError

TIMEOUT_S = 5.0
SIGNATURE = "X-Sweep-Signature"
"""Holds `t=<seconds since the epoch>,v1=<signature>`, as `sign` makes it."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Return None: a notice goes to its address and to no other."""


def post(url: str, body: bytes, notice: str, secret: str, now: float) -> None:
    """Post the JSON text of a notice, whose id is given, to a webhook. CloudError, without the URL, if it fails.

    `secret` signs it; without one it goes unsigned.
    """
    headers = {"Content-Type": "application/json", "User-Agent": "sweep-orchestrator", "X-Sweep-Id": notice}
    if secret:
        headers[SIGNATURE] = sign(body, secret, int(now))
    request = urllib.request.Request(url, body, headers, method="POST")
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=TIMEOUT_S):
            return
    except urllib.error.HTTPError as error:
        error.close()
        raise CloudError(f"it answers {error.code}{_phrase(error.code)}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise CloudError(f"it does not answer: {type(reason).__name__}") from None


def _phrase(code: int) -> str:
    """Return what a status code means, as HTTP says: what a server says in its place may be anything."""
    known = {status.value: f" {status.phrase}" for status in HTTPStatus}
    return known.get(code, "")


def sign(body: bytes, secret: str, at: int) -> str:
    """Return the signature's header: HMAC-SHA256, by the secret, of `<at>.<body>`."""
    code = hmac.new(secret.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={code}"
