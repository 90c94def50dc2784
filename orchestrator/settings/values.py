"""Which values can a setting have? What is wrong is told by a ValueError: who reads it knows where it stands."""

from __future__ import annotations

import math
import re
from pathlib import Path
from string import Formatter
from urllib.parse import urlsplit

from orchestrator.aws.regions import could_be_region
from orchestrator.notices.channels import check_address, check_reference
from orchestrator.settings.max_age import read_max_age

_SQLITE = "sqlite:///"
_LANE_FACTS = ("platform", "region", "instance_type", "purchase")
_QUEUE = re.compile(r"arn:aws[a-z-]*:sqs:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,80}")
"""A standard queue: EventBridge Scheduler takes no queue in order for this."""


def checked_value(name: str, value: object, *, optional: bool) -> object:
    """Return the value of a setting, a number made of its text. Raise ValueError, in words, for one that cannot be.

    What is `optional` may be None.
    """
    if name == "poll_s" or (name == "owner_budget" and value is not None):
        return _above_zero(value)
    if name == "launcher_platforms":
        names = value.split(",") if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not all(isinstance(each, str) for each in names):
            raise ValueError("input should be a list of names")
        return tuple(each.strip() for each in names)
    if name == "notify":
        return _addresses(value)
    if name == "max_age":
        read_max_age(value)
        return value
    if name == "platforms":
        return value
    if value is None and optional:
        return None
    if name == "model_registry":
        return _registry(value)
    if not isinstance(value, str):
        raise ValueError("input should be a valid string")
    if name == "region" and not could_be_region(value):
        raise ValueError(f"AWS has no Region {value[:40]!r}: they are called as in eu-west-1")
    if name == "region_bucket" and "{region}" not in value:
        raise ValueError("must contain {region}, as in my-sweeps-{region}")
    if name == "lane_queue":
        _check_lane_queue(value)
    if name in ("notify_secret", "mlflow_token"):
        check_reference(value)
    if name == "mlflow":
        _check_server(value)
    if name == "schedule_dead_letters" and not _QUEUE.fullmatch(value):
        raise ValueError(f"no ARN of an SQS queue: {value[:60]!r}; write it like arn:aws:sqs:REGION:ACCOUNT:NAME")
    return value


def database_beside(file: Path, url: str) -> str:
    """Return the URL, for a relative SQLite file beside the settings that name it, wherever sweep is called."""
    name = url.removeprefix(_SQLITE)
    is_relative = url.startswith(_SQLITE) and name not in ("", ":memory:") and not Path(name).is_absolute()
    return f"{_SQLITE}{file.parent.resolve() / name}" if is_relative else url


def _registry(value: object) -> str | bool:
    """Return the Region of a registry, or whether it is that of the control Region; the environment has text alone."""
    said = {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value
    if isinstance(said, bool) or (isinstance(said, str) and could_be_region(said)):
        return said
    raise ValueError(f"neither a Region nor true: {str(value)[:40]!r}; write it like eu-west-1")


def _check_server(value: str) -> None:
    """Raise ValueError unless this can be a server's address. A network of one's own may speak http."""
    parts = urlsplit(value)
    if "@" in value:
        raise ValueError("an address with a password in it: put a token into a secret, and write it as mlflow_token")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"no address of a server: {value[:40]!r}; write it like https://mlflow.example.com")


def _addresses(value: object) -> tuple[str, ...]:
    found = [each.strip() for each in value.split(",")] if isinstance(value, str) else value
    if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
        raise ValueError("input should be a list of addresses")
    return tuple(check_address(each) for each in found if each)


def _above_zero(value: object) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError("input should be a valid number")
    if number <= 0:
        raise ValueError("input should be greater than 0")
    return number


def _check_lane_queue(pattern: str) -> None:
    try:
        names = {name for _, name, *_ in Formatter().parse(pattern) if name is not None}
    except ValueError as error:
        raise ValueError(f"cannot be read: {error}") from error
    unknown = names - set(_LANE_FACTS)
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in _LANE_FACTS)
        raise ValueError(f"may contain {known}, and no {{{min(unknown)}}}")
