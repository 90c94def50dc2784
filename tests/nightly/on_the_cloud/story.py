"""What happens in a month, night by night, and when EventBridge Scheduler ticks."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from orchestrator.localcloud.services.schedules import timetable
from orchestrator.nightly.calendar import catch_up
from orchestrator.spec.schedule.schedule import Schedule
from tests.nightly.on_the_cloud.books import BROKEN, DIVERGING, MOST_H

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.nightly.on_the_cloud.place import Place

BERLIN = ZoneInfo("Europe/Berlin")
IRELAND, FRANKFURT = "eu-west-1", "eu-central-1"
RICH = 1e6


def next_spring(after: float) -> date:
    """Return the next day on which two o'clock does not exist in Berlin: the last Sunday of a March."""
    day = datetime.fromtimestamp(after, BERLIN).date() + timedelta(days=40)
    while day.month != 3 or day.weekday() != 6 or day.day < 25:
        day += timedelta(days=1)
    return day


def happenings(place: Place) -> dict[int, Callable[[], None]]:
    """What happens on the days before and after the one on which clocks change, each before its night."""

    def begin() -> None:
        place.costs(IRELAND, 4.0)
        place.costs(FRANKFURT, 4.4)
        place.lies("oslo", "0.60", FRANKFURT, IRELAND)
        place.lies("paris", "0.80", IRELAND)
        place.write_code(0)

    def break_data() -> None:
        """One night's data is broken and looks too good; what came with it is sound, and better than ever."""
        place.lies("rome", BROKEN, FRANKFURT)
        place.lies("bonn", "0.50", FRANKFURT)

    def fail_halfway() -> None:
        place.lies("cork", "0.90", IRELAND)
        place.fail(("0.90", 0.1))

    def lose_region() -> None:
        place.lies("dover", "0.95", IRELAND)
        place.lies("essen", "0.97", FRANKFURT)
        place.books.down = {IRELAND}
        place.cloud.steering.add("down", region=IRELAND)

    def find_region() -> None:
        place.books.down = set()
        place.cloud.steering.remove()

    def move_prices() -> None:
        place.costs(IRELAND, 6.0)
        place.lies("turin", "0.70", IRELAND, FRANKFURT)

    def new_code() -> None:
        """All that lies there is trained again: what is of no use any more was taken away."""
        for campaign in ("rome", "cork", "dover", "essen", "turin", "gent"):
            place.take_away(campaign)
        place.write_code(1)
        place.schedule(RICH)

    def save_money() -> None:
        """From now on a month can just pay one run of two tasks, and this one has paid some already."""
        place.lies("ulm", "0.30", FRANKFURT)
        place.schedule(2 * 4.4 * MOST_H + 0.001)

    return {
        -18: begin,
        -15: lambda: place.lies("paris", "0.75", IRELAND),  # new bytes under an old name
        -13: break_data,
        -11: fail_halfway,
        -10: place.fail,
        -8: lose_region,
        -7: find_region,
        -5: move_prices,
        -3: lambda: place.lies("gent", DIVERGING, FRANKFURT),
        -1: new_code,
        0: lambda: place.lies("linz", "0.85", FRANKFURT),  # there is no two o'clock tonight
        1: lambda: place.lies("linz-again", "0.85", FRANKFURT),  # old bytes under a new name
        2: save_money,
    }


def ticks(first: date, nights: int) -> Iterator[tuple[float, date, bool]]:
    """Yield when Scheduler ticks, each with its date there, and whether that is the late tick in UTC.

    AWS leaves out the night whose hour does not exist.
    """
    schedule = Schedule.model_validate({"cron": "0 2 * * *", "timezone": "Europe/Berlin"})
    expression = catch_up(schedule, first)
    for number in range(nights):
        day = first + timedelta(days=number)
        there = datetime(day.year, day.month, day.day, 2, tzinfo=BERLIN)
        if there.astimezone(timezone.utc).astimezone(BERLIN).hour == 2:
            yield there.timestamp(), day, False
        midnight = datetime(day.year, day.month, day.day, tzinfo=timezone.utc).timestamp()
        late = timetable.next_due(expression, "UTC", since=0, after=midnight)
        assert late is not None
        yield late, day, True


def play(place: Place, first: int, nights: int) -> list[date]:
    """Play so many nights, beginning so many days before clocks change. Return their dates."""
    spring = next_spring(place.cloud.steering.now())
    happens, begun = happenings(place), []
    start = spring + timedelta(days=first)
    noon = datetime(start.year, start.month, start.day, tzinfo=timezone.utc) - timedelta(hours=12)
    place.reach(noon.timestamp())
    happens[-18]()
    place.load()
    place.schedule(RICH)
    for moment, day, is_late in ticks(start, nights):
        place.reach(moment)
        if day not in begun:
            begun.append(day)
            happen = happens.get((day - spring).days)
            if happen and day != start:
                happen()
                place.load()
            place.books.night(day, late=is_late)
        place.conduct(f"job of {day}", after_act=day.day % 2 == 0)
    return begun
