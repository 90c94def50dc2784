"""Plays systemd on an EC2 instance of the local cloud: power.py ADDRESS NAME WORDS ... A script of its own.

NAME is the program that was called: shutdown, poweroff, halt, reboot, systemctl, systemd-run. What is to happen, now or
later on the cloud's clock, is told to the cloud at ADDRESS. Standard library only.
"""

from __future__ import annotations

import json
import re
import sys
import time
import urllib.request
from typing import Any

_UNITS = {
    **dict.fromkeys(("us", "usec", "µs"), 1e-6),
    **dict.fromkeys(("ms", "msec"), 1e-3),
    **dict.fromkeys(("", "s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
    **dict.fromkeys(("w", "week", "weeks"), 604_800.0),
}
"""The units of systemd.time(7), in seconds."""
_WITH_VALUE = ("-p", "--property", "-E", "--setenv", "--timer-property", "--description", "-u", "--unit", "--slice")
"""Options of systemd-run whose value may be the next word."""
_LATER = ("--on-active", "--on-boot")


class Misused(Exception):
    """A call that the program refuses. Its message says why."""


def main(address: str, name: str, *words: str) -> int:
    """Do what a program was called for, and return its exit status."""
    try:
        order = _PROGRAMS[name.rpartition("/")[2]](list(words))
    except Misused as error:
        sys.stderr.write(f"{name}: {error}\n")
        return 1
    request = urllib.request.Request(
        f"{address}/local/power",
        data=json.dumps(order).encode(),
        headers={"Content-Type": "application/json"},
        method="POST",
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as answer:
        sys.stderr.write(answer.read().decode())
    return 0


def seconds(span: str) -> float:
    """Return the seconds of a span of time, such as 90, 5min or 1h 30min."""
    parts = re.findall(r"([0-9.]+)\s*([a-zµ]*)\s*", span)
    if not parts or "".join(re.split(r"\s", span)) != "".join(number + unit for number, unit in parts):
        raise Misused(f"{span!r} is no span of time: write it like 90, 5min or 1h 30min")
    if unknown := [unit for _, unit in parts if unit not in _UNITS]:
        raise Misused(f"{span!r} is no span of time: there is no unit {unknown[0]!r}")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def shutdown(words: list[str]) -> dict[str, Any]:
    """Read `shutdown [-h|-P|-c] [TIME] [MESSAGE]`, see shutdown(8). Without a time, that is a minute from now."""
    options = [word for word in words if word.startswith("-")]
    others = [word for word in words if not word.startswith("-")]
    if "-c" in options:
        return {"do": "cancel"}
    if "-r" in options or "--reboot" in options:
        raise Misused("the local cloud's instances do not reboot")
    if "-H" in options or "--halt" in options:
        return halt([])
    return {"do": "shutdown", "after": _until(others[0] if others else "+1")}


def _until(when: str) -> float:
    """Return the seconds until a time as shutdown(8) writes it: now, +minutes, hh:mm."""
    if when == "now":
        return 0.0
    if found := re.fullmatch(r"\+?(\d+)", when):
        return float(found[1]) * 60
    if found := re.fullmatch(r"(\d{1,2}):(\d{2})", when):
        now = time.localtime()
        wanted = int(found[1]) * 3600 + int(found[2]) * 60
        return float((wanted - (now.tm_hour * 3600 + now.tm_min * 60 + now.tm_sec)) % 86_400)
    raise Misused(f"{when!r} is no time: write it like now, +5 or 23:00")


def poweroff(_: list[str]) -> dict[str, Any]:
    """Read `poweroff`."""
    return {"do": "shutdown", "after": 0}


def halt(_: list[str]) -> dict[str, Any]:
    """Read `halt`: the processors stop, and the instance goes on, for EC2 hears nothing of it."""
    return {"do": "halt"}


def reboot(_: list[str]) -> dict[str, Any]:
    """Refuse `reboot`."""
    raise Misused("the local cloud's instances do not reboot")


def systemctl(words: list[str]) -> dict[str, Any]:
    """Read `systemctl poweroff` and `systemctl stop UNIT`; refuse all else."""
    named = [word for word in words if not word.startswith("-")]
    if named[:1] in (["poweroff"], ["halt"]):
        return poweroff([]) if named[0] == "poweroff" else halt([])
    if named[:1] == ["stop"] and len(named) == 2:
        return {"do": "stop", "unit": _bare(named[1])}
    raise Misused("the local cloud's instances know `systemctl poweroff` and `systemctl stop UNIT` only")


def systemd_run(words: list[str]) -> dict[str, Any]:
    """Read `systemd-run [--on-active=TIME] [--on-boot=TIME] [--unit=NAME] COMMAND ...`; others change nothing here.

    User data runs as soon as an instance has booted here, so what counts from its boot counts from now.
    """
    after, unit = 0.0, ""
    while words and words[0].startswith("-"):
        option, equals, value = words.pop(0).partition("=")
        if not equals and (option in (*_WITH_VALUE, *_LATER)):
            value = words.pop(0) if words else ""
        if option in _LATER:
            after = seconds(value)
        elif option in ("-u", "--unit"):
            unit = _bare(value)
        elif option.startswith("--on-"):
            raise Misused(f"the local cloud's instances know no {option}: use --on-active or --on-boot")
    if not words:
        raise Misused("command line to execute required")
    return {"do": "run", "after": after, "unit": unit, "command": words}


def _bare(unit: str) -> str:
    return re.sub(r"\.(timer|service)$", "", unit)


_PROGRAMS = {
    "shutdown": shutdown,
    "poweroff": poweroff,
    "halt": halt,
    "reboot": reboot,
    "systemctl": systemctl,
    "systemd-run": systemd_run,
}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
