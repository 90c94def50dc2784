"""Sends notices: at least once to each address, with one id each time. What cannot be reached holds nothing up.

What an address has been told is noted in the control bucket, so that repeating an event is harmless. The note is
written after the sending: killed in between, the same notice goes out again, with the id that it had.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.aws.messages.sns import publish
from orchestrator.aws.secret_values import read_secret
from orchestrator.errors import AlreadyExists, CloudError, NotFound, SweepError
from orchestrator.notices.channels import check_url, is_reference, named, topic_region
from orchestrator.notices.notice import TEST
from orchestrator.notices.webhook import post
from orchestrator.training.references import Reference
from orchestrator.wire.names import canonical, digest
from orchestrator.wire.stored import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.aws.s3 import S3
    from orchestrator.aws.session import Clients
    from orchestrator.notices.channels import Channels
    from orchestrator.notices.notice import Notice

PATIENCE_S = 15.0
"""Seconds after which nobody waits any longer for an address, whatever it does."""

BEFORE = "it was told before"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Delivery:
    """What became of a notice at one address."""

    address: str
    """The address, as messages call it."""
    sent: bool
    why: str = ""
    """Says why it was not sent now: it failed, or it had been told before."""


def notify(notice: Notice, groups: Sequence[Channels], control: S3, clients: Clients) -> list[Delivery]:
    """Tell all addresses that want to know of such events, side by side, and those alone that do not know it yet.

    Nothing is raised for what cannot be reached: it is warned of, and told again when this is called again.
    """
    wanted = {address: group.secret for group in groups if notice.kind in (*group.kinds, TEST) for address in group.to}
    if not wanted:
        return []
    try:
        known = _told(notice, control)
        found = _send_all(notice, {one: secret for one, secret in wanted.items() if digest(one) not in known}, clients)
        told = {digest(one) for one, delivery in found.items() if delivery.sent}
        if told:
            _note(notice, told, control)
    except SweepError as error:
        log.warning("nobody is told that %s: %s", notice.text, error)
        return [Delivery(named(one), False, error.message) for one in wanted]
    for one in found.values():
        if not one.sent:
            log.warning("%s was not told of %s: %s", one.address, notice.id, one.why)
    before = [Delivery(named(one), False, BEFORE) for one in wanted if one not in found]
    return [*found.values(), *before]


def _send_all(notice: Notice, wanted: dict[str, str], clients: Clients) -> dict[str, Delivery]:
    found = {one: Delivery(named(one), False, f"no answer within {PATIENCE_S:.0f} s") for one in wanted}

    def send(address: str, secret: str) -> None:
        try:
            _send(notice, address, secret, clients)
            found[address] = Delivery(named(address), True)
        except SweepError as error:
            found[address] = Delivery(named(address), False, error.message)

    threads = [threading.Thread(target=send, args=item, daemon=True) for item in wanted.items()]
    for thread in threads:
        thread.start()
    ends = time.monotonic() + PATIENCE_S
    for thread in threads:
        thread.join(max(ends - time.monotonic(), 0))
    return dict(found)


def _send(notice: Notice, address: str, secret: str, clients: Clients) -> None:
    body = json.dumps(notice.payload(), ensure_ascii=False).encode("utf-8", "replace")
    if topic_region(address):
        publish(address, notice.text, body.decode(), notice.id, clients)
        return
    url = read_secret(Reference.parse(address), clients).strip() if is_reference(address) else address
    try:
        check_url(url)
    except ValueError as error:
        raise CloudError(str(error), where=named(address)) from None
    key = read_secret(Reference.parse(secret), clients) if secret else ""
    post(url, body, notice.id, key, time.time())


def _key(notice: Notice) -> str:
    return f"notices/{notice.id}.json"


def _told(notice: Notice, control: S3) -> set[str]:
    """Return the digests of the addresses that have been told. Who knows nothing of an event tells it again."""
    if notice.kind == TEST:
        return set()
    try:
        body = control.get(_key(notice)).json()
        return {str(one) for one in body["told"]}
    except NotFound:
        return set()
    except (ValueError, KeyError, TypeError, RecursionError):
        log.warning("%s cannot be understood: all are told again", control.uri(_key(notice)))
        return set()


def _note(notice: Notice, told: set[str], control: S3) -> None:
    if notice.kind == TEST:
        return
    while True:
        try:
            etag: str | None = control.get(_key(notice)).etag
        except NotFound:
            etag = None
        every = sorted(told | _told(notice, control))
        body = {"version": VERSION, "told": every, "text": notice.text, "at": notice.at}
        try:
            control.put_if(_key(notice), canonical(body).encode(), etag)
        except AlreadyExists:
            continue  # somebody else has told others
        return
