"""Asks the metadata service of an EC2 instance, with a session token (IMDSv2).

It travels into the training: standard library only.
"""

from __future__ import annotations

import os
import urllib.error
import urllib.request

METADATA = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
"""AWS's own variable, with the address of the instance's metadata service."""
_METADATA_AT = "http://169.254.169.254"
_TIMEOUT_S = 2.0
_TTL = {"X-aws-ec2-metadata-token-ttl-seconds": "300"}


def read_metadata(path: str) -> str | None:
    """Return what the instance's metadata has at a path below /latest/; None if there is no such thing.

    Raise OSError when the metadata service gives no answer.
    """
    token = _ask("api/token", "PUT", _TTL)
    try:
        return _ask(path, "GET", {"X-aws-ec2-metadata-token": token})
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


def _ask(path: str, method: str, headers: dict[str, str]) -> str:
    url = f"{os.environ.get(METADATA, _METADATA_AT).rstrip('/')}/latest/{path}"
    request = urllib.request.Request(url, method=method, headers=headers)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy knows this machine
    with direct.open(request, timeout=_TIMEOUT_S) as answer:
        return str(answer.read().decode())
