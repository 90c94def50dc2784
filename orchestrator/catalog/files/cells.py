"""What one cell of a catalog file may hold.

Each function returns the value of a cell. It raises ValueError, in words that can follow the column's name, if the
cell may not hold that.
"""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from orchestrator.catalog.market import ANY
from orchestrator.catalog.survey.commitments import LANES, SAVINGS_PLAN
from orchestrator.errors import did_you_mean
from orchestrator.wire.names import S3Uri
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Callable

_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d{1,2}")
_LOCAL_ZONE = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d(-[a-z0-9]+)+")
_ARN = re.compile(r"arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]+:\d{12}:\S+")
LARGEST = 1e9
"""The largest amount: nothing costs as many dollars, and sums of such amounts are finite."""
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


def text(cell: Any) -> str:
    value = str(cell).strip()
    if not value.isprintable() and any(unicodedata.category(character) in ("Cc", "Cs") for character in value):
        raise ValueError(f"{value!r} contains control characters")
    return value


def name(cell: Any) -> str:
    """Return the name of a campaign or of a version: together they are `campaign@version`."""
    value = text(cell)
    if "@" in value:
        raise ValueError(f"{value!r} may not contain @")
    return value


def dataset(cell: Any) -> str:
    value = text(cell)
    campaign, _, version = value.partition("@")
    if not campaign or not version or "@" in version:
        raise ValueError(f"{value!r} is not a dataset; write campaign@version")
    return value


def tags(cell: Any) -> tuple[str, ...]:
    return tuple(sorted({tag.strip() for tag in text(cell).split(";")} - {""}))


def region(cell: Any) -> str:
    value = text(cell)
    if is_local(value):
        raise ValueError(f"{value!r} is a local zone, not a Region")
    if not _REGION.fullmatch(value):
        raise ValueError(f"{value!r} is not a Region; write one like us-east-1")
    return value


def zone(cell: Any) -> str:
    """Return a Region or a local zone. Price lists have local zones, too, though nothing is trained there."""
    value = text(cell)
    return value if is_local(value) else region(value)


def is_local(zone: str) -> bool:
    return _LOCAL_ZONE.fullmatch(zone) is not None


def instance_type(cell: Any) -> str:
    value = text(cell)
    if value == ANY:
        raise ValueError(f"{value!r} is no instance type; write one like ml.g5.xlarge")
    return value


def or_any(parse: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a function that takes what `parse` understands, and `*` for all there are."""
    return lambda cell: ANY if text(cell) == ANY else parse(cell)


def purchase(cell: Any) -> str:
    """Return a way to buy that has a price and a quota. A training plan has neither: it is a commitment."""
    value = text(cell)
    choices = [Purchase.SPOT.value, Purchase.ON_DEMAND.value]
    if value == Purchase.COMMITTED.value:
        raise ValueError(f"{value!r} has neither a price nor a quota; write a training plan into commitments")
    if value not in choices:
        raise ValueError(f"{value!r} is no way to buy; {did_you_mean(value, choices)}")
    return value


def commitment(cell: Any) -> str:
    value = text(cell)
    choices = [*LANES, SAVINGS_PLAN]
    if value not in choices:
        raise ValueError(f"{value!r} is no kind of commitment; {did_you_mean(value, choices)}")
    return value


def arn(cell: Any) -> str:
    value = text(cell)
    if not _ARN.fullmatch(value):
        raise ValueError(f"{value!r} is not an ARN; write arn:aws:SERVICE:REGION:ACCOUNT:NAME, as AWS tells it")
    return value


def s3_uri(cell: Any) -> str:
    value = text(cell)
    try:
        bucket = S3Uri.parse(value).bucket
    except ValueError:
        bucket = ""
    if not _BUCKET.fullmatch(bucket):
        raise ValueError(f"{value!r} is not an S3 URI; write s3://bucket/prefix/")
    return value


def number(cell: Any, largest: int = 2**63 - 1) -> int:
    """Return a count. A spreadsheet's 12.0 and 1.2e1 are 12."""
    try:
        value = Decimal(str(cell).strip())
        whole = value == value.to_integral_value()
    except ArithmeticError as error:
        raise ValueError(f"{str(cell)!r} is not a whole number") from error
    if not whole:
        raise ValueError(f"{str(cell)!r} is not a whole number")
    if value < 0:
        raise ValueError(f"{value} is negative")
    if value > largest:
        raise ValueError(f"{str(cell)!r} is too large")
    return int(value)


def slots(cell: Any) -> int:
    return number(cell, 2**31 - 1)


def amount(cell: Any) -> float:
    """Return an amount, of dollars or gigabytes."""
    try:
        value = float(cell)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{str(cell)!r} is not a number") from error
    if not math.isfinite(value):
        raise ValueError(f"{str(cell)!r} is not a finite number")
    if value < 0:
        raise ValueError(f"{value:g} is negative")
    if value > LARGEST:
        raise ValueError(f"{value:g} is too large")
    return value + 0.0  # -0.0 and 0.0 are one price


def flag(cell: Any) -> bool:
    value = str(cell).strip().lower()
    if value not in ("true", "false", "1", "0"):
        raise ValueError(f"{str(cell)!r} is neither true nor false")
    return value in ("true", "1")


def part(cell: Any) -> float:
    """Return a part of a whole, from 0 to 1."""
    value = amount(cell)
    if value > 1:
        raise ValueError(f"{value:g} is above 1; write 0.3 for 30 %")
    return value


def score(cell: Any) -> int:
    """Return a whole number from 1 to 10."""
    found = number(cell)
    if not 1 <= found <= 10:
        raise ValueError(f"{str(cell)!r} is no score: these go from 1 to 10")
    return found


def day(cell: Any) -> date:
    if isinstance(cell, datetime):
        return cell.date()
    if isinstance(cell, date):
        return cell
    try:
        return date.fromisoformat(str(cell).strip())
    except ValueError as error:
        raise ValueError(f"{str(cell)!r} is not a date; write 2026-11-20") from error


def moment(cell: Any) -> datetime:
    """Return a time in UTC. A time without a zone is taken for UTC."""
    if isinstance(cell, date) and not isinstance(cell, datetime):
        return datetime.combine(cell, time(), timezone.utc)
    try:
        written = cell.isoformat(timespec="microseconds") if isinstance(cell, datetime) else str(cell).strip()
        value = datetime.fromisoformat(re.sub("[zZ]$", "+00:00", written))
        return value.replace(tzinfo=timezone.utc) if value.tzinfo is None else value.astimezone(timezone.utc)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{str(cell)!r} is not a time; write 2026-11-20T18:30:00Z") from error
