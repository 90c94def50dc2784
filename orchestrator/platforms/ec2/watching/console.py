"""The last that an instance has printed on its console: what is known of one that went without a word in S3."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import AccessError, CloudError

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients

log = logging.getLogger(__name__)

_BY_CLOUD_INIT = re.compile(r"cloud-init\[\d+\]: ?(.*)")
"""Lines of user data, where cloud-init copies them to the console beside the kernel's."""
_OURS = "sweep: "
_BY_SHUTDOWN = "Terminated"
"""What a shell says of the processes that a shutdown ends."""
_HINTS = {
    "/latest/api/token: ": "its metadata gives no token: is it switched off (HttpEndpoint), or HttpPutResponseHopLimit "
    "too small?",
    "security-credentials/: HTTP Error 404": "it has no role: `sweep doctor` looks at its instance profile",
    "HTTP Error 403": "the role of its instance profile may not do that: `sweep doctor` says what it lacks",
    "python3: command not found": "the image has no Python 3: mend platforms.ec2.ami",
}
"""What is behind the last words, by a part of them; the first that fits is told."""
_TAIL = 2
"""Lines that are shown after the last of our own."""
_SHOWN = 400
"""Characters of all that are shown."""


def last_words(clients: Clients, region: str, instance: str) -> str:
    """Return in one line the last that user data has printed on an instance, the last of our own lines first.

    It is empty where it has printed nothing, or EC2 does not tell.
    """
    try:
        with aws_errors(f"read the console of {instance}", where=region):
            answer = clients.client("ec2", region).get_console_output(InstanceId=instance)
    except (AccessError, CloudError) as error:
        log.info("%s", error.message)
        return ""
    return find_last_words(answer.get("Output") or "")


def find_last_words(console: str) -> str:
    """Return what counts of all that a console has shown, in one line."""
    lines = [line.strip() for line in console.splitlines() if line.strip()]
    of_user_data = [found[1].strip() for found in map(_BY_CLOUD_INIT.search, lines) if found]
    said = [line for line in of_user_data or lines if line and line != _BY_SHUTDOWN]
    ours = [number for number, line in enumerate(said) if _OURS in line]
    first = [said[ours[-1]].partition(_OURS)[2]] if ours else []
    after = said[ours[-1] + 1 :] if ours else said
    shown = [*(f"{_OURS}{line}" for line in first), *after[-_TAIL:]]
    text = " | ".join(shown)[:_SHOWN]
    hint = next((hint for part, hint in _HINTS.items() if part in text), "")
    return f"{text} ({hint})" if hint else text
