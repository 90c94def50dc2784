"""What data is, whatever it is called: the marks of folders, listed now."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.aws.s3 import S3
from orchestrator.errors import NotFound, Throttled, Unreachable
from orchestrator.wire.beside.lineage import mark_objects
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.aws.session import Clients

log = logging.getLogger(__name__)

AT_ONCE = 16
NOTHING = ""
"""The mark of a folder in which nothing lies."""


@dataclass(frozen=True)
class Marks:
    """The marks of folders, as far as their Regions answered."""

    by_uri: dict[str, str]
    down: frozenset[str]
    """Regions that did not answer."""


def read_marks(clients: Clients, folders: Iterable[tuple[str, str]]) -> Marks:
    """Return the marks of these folders, each given by its Region and its URI.

    A Region that does not answer is named, and its folders have none. A folder without objects, or in a bucket that is
    not there, has the mark NOTHING. Raise AccessDenied for one that may not be listed.
    """
    wanted = list(dict.fromkeys(folders))
    found: dict[str, str] = {}
    down: set[str] = set()

    def read(region: str, uri: str) -> None:
        if region in down:
            return
        try:
            found[uri] = _mark(clients, region, uri)
        except (Unreachable, Throttled) as error:
            log.warning("%s: its data is left out tonight", error)
            down.add(region)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for look in [pool.submit(read, region, uri) for region, uri in wanted]:
            look.result()
    return Marks(found, frozenset(down))


def _mark(clients: Clients, region: str, uri: str) -> str:
    place = S3Uri.parse(uri)
    try:
        listed = [item for item in S3(clients, region, place.bucket).list(place.key) if not item.key.endswith("/")]
    except NotFound:
        return NOTHING
    if not listed:
        return NOTHING
    return mark_objects((item.key.removeprefix(place.key), item.size, item.etag) for item in listed)
