"""A month of nights on pushed catalogs: what is trained, and when nothing is, is exactly what it should be.

EventBridge Scheduler is played as AWS does it: it leaves out the night whose hour does not exist, and ticks twice on
the one whose hour exists twice. Each night's conductor is killed at its first put, the next one at its second, and so
on. What should be trained is told here by a few lines that know nothing of keys, notes or plans.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from orchestrator.localcloud.services.schedules import timetable
from orchestrator.nightly.calendar import catch_up
from orchestrator.nightly.goal import read_goal
from tests.nightly.world import HOUR, Killed, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BERLIN = ZoneInfo("Europe/Berlin")
LRS = (0.1, 0.01)
SPRING, AUTUMN = date(2026, 3, 10), date(2026, 10, 10)
"""First nights of months in which clocks change: on the 29th of March, and on the 25th of October."""


class Expected:
    """What a workload has trained, by the plainest means: a set of what was done."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.done: set[tuple[str, float, str, str]] = set()
        self.trainings: list[tuple[str, str, float]] = []
        """The content, the learning rate and the code of every training, in the order of the nights."""
        self.quiet: list[str] = []
        self.code = "code 1"

    def night(self, day: str) -> None:
        """Add what this night should train: all that was never done, where somebody answers."""
        world, before = self.world, len(self.trainings)
        for campaign, replicas in sorted(world.data.items()):
            content = next((text for region, text in sorted(replicas.items()) if region not in world.down), None)
            for lr in LRS if content else ():
                what = (str(content), lr, self.code, world.image)
                if what not in self.done:
                    self.trainings.append((day, str(content), lr))
                    if not world.fails(campaign, lr):
                        self.done.add(what)
        if len(self.trainings) == before:
            self.quiet.append(day)


def happenings(world: World, expected: Expected) -> dict[int, Callable[[], None]]:
    """What happens on which day of the month, before its night."""

    def begin() -> None:
        world.lies("oslo", "a", "eu-central-1", "eu-west-1")
        world.lies("paris", "b", "eu-west-1")

    def new_code() -> None:
        world.write_code("print('loss=2')\n")
        expected.code = "code 2"
        world.schedule()

    def fail_halfway() -> None:
        world.lies("bonn", "e")
        world.lies("cork", "f")
        world.fails = lambda campaign, lr: campaign == "bonn" and lr == 0.1

    def lose_region() -> None:
        world.lies("dover", "g", "eu-west-1")
        world.lies("essen", "h")
        world.down = {"eu-west-1"}

    return {
        0: begin,
        3: lambda: world.lies("rome", "c"),
        6: lambda: world.lies("paris", "d", "eu-west-1"),  # new bytes under an old name
        9: fail_halfway,
        10: lambda: setattr(world, "fails", lambda *_: False),
        12: lose_region,
        13: lambda: world.down.clear(),
        15: lambda: world.lies("turin", "i"),  # on the night when clocks change in October
        17: new_code,
        19: lambda: world.lies("ulm", "j"),  # on the night when clocks change in March
        22: lambda: setattr(world, "image", "sha256:2"),
        25: lambda: world.data.pop("ulm") and world.push(),
        27: lambda: world.lies("ulm-again", "j"),  # old bytes under a new name
    }


def ticks(world: World, first: date, nights: int) -> Iterator[float]:
    """When EventBridge Scheduler ticks: at two o'clock as AWS's clocks have it, and once a day in UTC."""
    entry = world.conductor()._shelf.entry("nightly")
    expression = catch_up(read_goal(world.bucket, entry.goal).when, first)  # type: ignore[arg-type]
    found = set()
    for number in range(nights):
        day = first + timedelta(days=number)
        for fold in (0, 1):
            there = datetime(day.year, day.month, day.day, 2, tzinfo=BERLIN, fold=fold)
            if there.astimezone(timezone.utc).astimezone(BERLIN).hour == 2:
                found.add(there.timestamp())
        midnight = datetime(day.year, day.month, day.day, tzinfo=timezone.utc).timestamp()
        late = timetable.next_due(expression, "UTC", since=0, after=midnight)
        found.add(late or 0.0)
    return iter(sorted(found))


def conduct_with_deaths(world: World, by: str) -> int:
    """Tick with a process that dies at its first put, then one at its second, until one is through; count the dead."""
    if not world.pushed:
        world.push()
    for life in range(1, 100):
        left = life

        def die(what: str) -> None:
            nonlocal left
            left -= what in ("put", "submit", "submitted", "judge")
            if left < 0:
                raise Killed

        world.before = world.bucket.before = die
        try:
            world.tick(by)
        except Killed:
            continue
        finally:
            world.before = world.bucket.before = lambda _: None
        return life - 1
    raise AssertionError("it never ends")


def play(world: World, first: date, nights: int) -> tuple[Expected, int]:
    """Play so many nights, and return what should have been trained, and how many conductors died."""
    expected, dead, begun = Expected(world), 0, set()
    happens = happenings(world, expected)
    world.moment = datetime(first.year, first.month, first.day, tzinfo=timezone.utc).timestamp() - 12 * HOUR
    happens[0]()
    world.schedule()
    for moment in ticks(world, first, nights):
        world.moment = max(world.moment, moment)
        day = datetime.fromtimestamp(moment, BERLIN).date()
        if day not in begun:
            begun.add(day)
            happen = happens.get((day - first).days)
            if happen and day != first:
                happen()
            expected.night(day.isoformat())
        dead += conduct_with_deaths(world, f"job of {moment}")
    return expected, dead


def _night_of(run: str) -> str:
    """Return the date in a run's name."""
    day = run.split("-")[1]
    return f"{day[:4]}-{day[4:6]}-{day[6:]}"


def check(world: World, expected: Expected, first: date, nights: int) -> None:
    """Compare what was trained with what should have been, night by night."""
    by_night = [(_night_of(each.night), each.content, each.lr) for each in world.trained]
    assert sorted(by_night) == sorted(expected.trainings)
    done = [(each.content, each.lr, each.code, each.image) for each in world.trained if each.done]
    assert len(done) == len(set(done)), "something was trained twice"
    shelf = world.conductor()._shelf
    days = [(first + timedelta(days=number)).isoformat() for number in range(nights)]
    assert shelf.nights("nightly") == days
    for name in days:
        night = shelf.night("nightly", name)
        assert night
        end = world.conductor().notes(night).ended()
        assert end
        assert end.why.startswith("nothing new") == (name in expected.quiet)
        assert (end.exit == 0) == (name != days[9] if nights > 9 else True)
    assert world.submits == len(world.runs) == len({each.night for each in world.trained})
    assert sorted(world.closed) == sorted(world.runs)


def test_a_week_in_which_clocks_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the 29th of March there is no two o'clock: the tick in UTC begins that night."""
    world = World.make(tmp_path, monkeypatch)
    first = date(2026, 3, 27)
    expected, dead = play(world, first, 5)
    check(world, expected, first, 5)
    assert dead > 30
    assert expected.quiet == ["2026-03-28", "2026-03-29", "2026-03-31"]


@pytest.mark.long
@pytest.mark.parametrize("first", [SPRING, AUTUMN], ids=["spring", "autumn"])
def test_a_month(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: date) -> None:
    world = World.make(tmp_path, monkeypatch)
    expected, dead = play(world, first, 31)
    check(world, expected, first, 31)
    assert len(expected.quiet) == 31 - 11
    assert dead > 150
    late = {night for night, said in world.alarms if "no conductor began it" in said}
    assert late == ({"2026-03-29"} if first == SPRING else set())
