"""Reads how often EC2 takes spot instances back: the Spot Advisor's bands, in one file of AWS for all Regions.

A band says which part of a type's instances was taken back within the last month. SageMaker publishes none; EC2's stand
in for them.
"""

from __future__ import annotations

import json
import math
import re
import threading
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.errors import CatalogError, NotFound, Unreachable
from orchestrator.platforms.feed import Feed, Reading

if TYPE_CHECKING:
    from datetime import datetime

    from orchestrator.aws.session import Clients

USUAL = "https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json"
MOST_BYTES = 64 * 2**20
"""The file has about five million bytes. What is much longer is not it."""
_WAIT_S = 20
_CLOCKS_DIFFER_S = 3600
_HOURS = 730
"""Hours of a month, as AWS counts them."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class _Advice(NamedTuple):
    """What the file says of Linux: the band of each type in each Region, and how often a band is interrupted."""

    bands: dict[str, dict[str, int]]
    per_hour: dict[int, float]


def read(address: str, clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001 (no API of AWS is asked)
    """Return how often each type is taken back in this Region. Raise SweepError for a file that cannot be read."""
    advice = _ADVICE.at(address, now)
    bands = advice.bands.get(region, {})
    known = {name: advice.per_hour.get(band) for name, band in sorted(bands.items())}
    of_region = {"platform": "ec2", "region": region, "observed_at": now}
    rows = ({**of_region, "instance_type": name, "per_hour": rate} for name, rate in known.items() if rate is not None)
    left_out = (
        f"{name} is in the band {bands[name]}, which the file does not tell" for name in known if known[name] is None
    )
    return Reading(tuple(rows), tuple(left_out))


def rate_of(label: str) -> float | None:
    """Return how often an hour an instance is taken back, from a band's label such as `<5%`; None for no such label.

    An instance is taken for one in the band's middle. Of the band without an end, `>20%`, a quarter more is taken.
    """
    numbers = [float(number) / 100 for number in _NUMBER.findall(label)]
    if label.startswith("<") and len(numbers) == 1:
        part = numbers[0] / 2
    elif label.startswith(">") and len(numbers) == 1:
        part = numbers[0] * 1.25
    elif len(numbers) == 2:
        part = sum(numbers) / 2
    else:
        return None
    return -math.log(1 - part) / _HOURS if part < 1 else None


class _Kept:
    """The file as it was last read, for all Regions that are asked about at one moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[str, datetime] | None = None
        self._advice = _Advice({}, {})

    def at(self, address: str, now: datetime) -> _Advice:
        with self._lock:
            if self._key != (address, now):
                self._advice = _parse(_fetch(address), address)
                self._key = (address, now)
            return self._advice


_ADVICE = _Kept()


def _fetch(address: str) -> bytes:
    if "://" not in address:
        try:
            return Path(address).expanduser().read_bytes()
        except OSError as error:
            raise CatalogError(f"cannot be read: {error.strerror}", where=address, hint="mend spot_advisor") from error
    if not address.startswith(("https://", "http://")):
        raise CatalogError("is neither a file nor an http address", where=address, hint="mend spot_advisor")
    try:
        with urllib.request.urlopen(address, timeout=_WAIT_S) as answer:
            content: bytes = answer.read(MOST_BYTES + 1)
            _check_clock(answer.headers.get("Date"), address)
    except urllib.error.HTTPError as error:
        raise NotFound(f"the Spot Advisor's file is not to be had: HTTP {error.code}", where=address) from error
    except (OSError, ValueError) as error:  # a URLError is an OSError
        why = getattr(error, "reason", error)
        hint = "`spot_advisor` in the settings may name a file, or another address"
        raise Unreachable(f"the Spot Advisor's file cannot be fetched: {why}", where=address, hint=hint) from error
    return content


def _check_clock(date: str | None, address: str) -> None:
    """Raise CatalogError where the other side's clock says something else than ours: then ours dates all wrongly."""
    try:
        off_s = abs(parsedate_to_datetime(date).timestamp() - time.time()) if date else 0.0
    except (TypeError, ValueError):
        return  # a date that nobody can read says nothing of clocks
    if off_s > _CLOCKS_DIFFER_S:
        raise CatalogError(
            f"this machine's clock is {off_s / 3600:.0f} hours off", where=address, hint="set it: facts are dated by it"
        )


def _parse(content: bytes, address: str) -> _Advice:
    try:
        if len(content) > MOST_BYTES:
            raise ValueError(f"longer than {MOST_BYTES:,} bytes")
        document = json.loads(content)
        rates = {int(band["index"]): rate_of(str(band["label"])) for band in document["ranges"]}
        bands = {str(region): _bands(systems) for region, systems in document["spot_advisor"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CatalogError(
            f"is no file of the Spot Advisor: {error!r}", where=address, hint="try again later"
        ) from error
    return _Advice(bands, {index: rate for index, rate in rates.items() if rate is not None})


def _bands(systems: dict[str, Any]) -> dict[str, int]:
    return {str(name): int(advice["r"]) for name, advice in systems.get("Linux", {}).items()}


def feed(address: str = USUAL) -> Feed:
    """Return the feed, which reads the file at this address."""
    return Feed(
        name="spot-advisor",
        kind="interruptions",
        about="how often spot instances are taken back",
        actions=(),
        read=partial(read, address),
        at=feed,
    )


FEED = feed()
