"""Channels: the folders in which a training finds its dataset, and what else it reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

from orchestrator.spec.by_region import S3ByRegion
from orchestrator.spec.model import shown, wrong

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DATA = "training"
"""The name of the dataset's channel, unless the file says another."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_FOLDERS = (".", "..")


def channel_name(name: str) -> str:
    """Return the name if a training can have a channel of that name: a folder, and a variable."""
    if not _NAME.fullmatch(name) or name in _FOLDERS:
        raise wrong(f"{shown(name)} cannot name a channel", hint="letters, digits, _ - and .; at most 64")
    return name


def _names(channels: dict[str, str | dict[str, str]]) -> dict[str, str | dict[str, str]]:
    for name in channels:
        channel_name(name)
    return channels


def find_clash(name: str, others: Iterable[str]) -> str:
    """Return the channel that would have the same variable as this one; nothing if there is none."""
    return next((other for other in others if other != name and other.upper() == name.upper()), "")


def lacks(channels: Mapping[str, str | dict[str, str]], region: str) -> str:
    """Return in words which fixed channel has nothing in a Region; nothing if all have."""
    for name, uri in channels.items():
        if isinstance(uri, dict) and region not in uri:
            return f"train.channels.{name} has no data in {region}"
    return ""


ChannelName = Annotated[str, AfterValidator(channel_name)]
Channels = Annotated[dict[str, S3ByRegion], AfterValidator(_names)]
"""Fixed channels: a name, and where its data lies in each Region."""
