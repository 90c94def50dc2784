"""A place has several sites, such as zones: all are asked before the next place is, and each attempt names its own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import NoCapacity, SweepError
from orchestrator.launcher.decide import End, Start, decide
from orchestrator.launcher.moving.saved import Ahead
from orchestrator.launcher.sites import before_the_round, choose_site, count_rounds, is_in_a_round
from orchestrator.launcher.tried import Tried
from orchestrator.wire.exits import Exit
from orchestrator.wire.names import digest
from orchestrator.wire.result import Attempt, Cause, Outcome, TaskState
from orchestrator.wire.task import Expected, Lane, Limits, Place, Purchase
from tests.launcher.fakes import PLACES, Bench, FakeRunner, Life, failed, task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.platforms.base import Request
    from orchestrator.wire.task import Task
    from orchestrator.wire.template import Template

ZONES = ("a", "b", "c")
NOW = 1_000_000.0
HASTY = Limits(3600, patience_s=0)


def tried(*ends: tuple[str, Cause], place: int = 0) -> list[Tried]:
    """Return attempts at the zones of a place, and how they ended, all of them just now."""
    return [made(number, place, zone, cause) for number, (zone, cause) in enumerate(ends, 1)]


def made(number: int, place: int, zone: str, cause: Cause) -> Tried:
    lane = PLACES[place].lane
    attempt = Attempt(7, number, place, lane, f"t-{number}", "hash", 3600, NOW, 3.6, site=zone)
    return Tried(attempt, Outcome(number, lane, f"t-{number}", TaskState.FAILED, cause, "none there", ended_at=NOW))


def refused(*zones: str) -> list[Tried]:
    return tried(*((zone, Cause.CAPACITY) for zone in zones))


def after(history: list[Tried], *, limits: Limits = HASTY, places: tuple[Place, ...] = PLACES) -> Start | End:
    return decide(task(limits=limits, places=places), history, 0.0, NOW, Ahead(sites=ZONES))


def test_a_place_has_refused_once_all_its_zones_have_however_short_its_patience_is() -> None:
    assert after(refused("a")) == Start(0, 3600)
    assert after(refused("a", "b")) == Start(0, 3600)
    assert after(refused("a", "b", "c")) == Start(1, 3600)


def test_nobody_waits_between_two_zones_but_before_the_next_round() -> None:
    patient = Limits(3600, patience_s=600)
    assert after(refused("a", "b"), limits=patient) == Start(0, 3600, refusals=0)
    assert after(refused("a", "b", "c"), limits=patient) == Start(0, 3600, refusals=1)
    assert after(refused("a", "b", "c", "a"), limits=patient) == Start(0, 3600, refusals=0)
    assert after(refused("a", "b", "c", "a", "b", "c"), limits=patient) == Start(0, 3600, refusals=2)


def test_a_task_with_a_deadline_asks_all_zones_of_a_place_before_it_goes_elsewhere() -> None:
    here, there = Expected(1.0, 1.0), Expected(1.0, 1.2)
    places = (replace(PLACES[0], expected=here), replace(PLACES[1], expected=there))
    limits = Limits(3600, max_wait_s=7200, patience_s=600, end_by=NOW + 30_000, saved_every_s=60)
    for asked in (["a"], ["a", "b"]):
        step = after(refused(*asked), limits=limits, places=places)
        assert isinstance(step, Start)
        assert (step.place, step.refusals) == (0, 0)
    step = after(refused("a", "b", "c"), limits=limits, places=places)
    assert isinstance(step, Start)
    assert step.place == 1


def test_the_zone_that_took_the_machine_away_is_asked_last_but_it_is_asked() -> None:
    history = tried(("a", Cause.INTERRUPTED))
    assert choose_site(ZONES, 0, history) == "b"
    history += [made(2, 0, "b", Cause.CAPACITY)]
    assert choose_site(ZONES, 0, history) == "c"
    history += [made(3, 0, "c", Cause.CAPACITY)]
    assert choose_site(ZONES, 0, history) == "a"


def test_the_order_of_now_counts_not_that_of_an_hour_ago() -> None:
    assert choose_site(("c", "b", "a"), 0, refused("c")) == "b"
    assert choose_site(("b", "c", "a"), 0, refused("a", "b", "c")) == "b"


def test_a_place_without_zones_is_asked_as_ever() -> None:
    assert choose_site((), 0, refused("")) == ""
    assert not is_in_a_round((), refused("", ""))
    assert count_rounds((), refused("", "")) == 2
    history = refused("")
    assert before_the_round((), history) == history


@given(st.lists(st.sampled_from(ZONES), unique=True, min_size=1), st.integers(1, 12))
def test_zones_are_asked_in_turn_and_every_round_is_whole(zones: list[str], times: int) -> None:
    history: list[Tried] = []
    for number in range(1, times + 1):
        history.append(made(number, 0, choose_site(zones, 0, history), Cause.CAPACITY))
    asked = [one.attempt.site for one in history]
    assert asked == [zones[number % len(zones)] for number in range(times)]
    assert count_rounds(zones, history) == times // len(zones)
    assert is_in_a_round(zones, history) == (times % len(zones) > 0)
    assert len(before_the_round(zones, history)) == times - times % len(zones)


class ZonedRunner(FakeRunner):
    """A platform whose Regions have zones of their own, of which only some have machines."""

    def __init__(self, *lives: Life, full: tuple[str, ...] = ()) -> None:
        super().__init__(*lives)
        self.full = full
        self.order = ZONES

    def sites(self, template: Template, place: Place) -> Sequence[str]:
        return () if place.site else [f"{template.region}-{zone}" for zone in self.order]

    def request(self, template: Template, task: Task, place: Place, attempt: int, max_runtime_s: int) -> Request:
        made = super().request(template, task, place, attempt, max_runtime_s)
        body = {**made.body, "zone": place.site}
        return replace(made, body=body, hash=digest(body))

    def start(self, request: Request) -> None:
        if request.body["zone"] in self.full:
            raise NoCapacity(f"none in {request.body['zone']}")
        super().start(request)


def bench(*lives: Life, full: tuple[str, ...] = (), **changes: object) -> tuple[Bench, ZonedRunner]:
    made = Bench(**changes)  # type: ignore[arg-type]
    made.platform = runner = ZonedRunner(*lives, full=full)
    return made, runner


def sites_of(made: Bench) -> list[str]:
    return [one.site for one in made.control.attempts(7)]


def test_the_next_zone_then_the_next_region_and_results_say_which() -> None:
    made, _ = bench(full=("us-west-2-a", "us-west-2-b", "us-west-2-c", "eu-west-1-a"), limits=HASTY)
    assert made.launch() is Exit.DONE
    assert sites_of(made) == ["us-west-2-a", "us-west-2-b", "us-west-2-c", "eu-west-1-a", "eu-west-1-b"]
    assert [one.site for one in made.result.outcomes] == sites_of(made)
    assert [one.cause for one in made.result.outcomes[:-1]] == [Cause.CAPACITY] * 4


def test_where_no_zone_of_any_region_has_machines_the_task_ends_unavailable() -> None:
    full = tuple(f"{place.lane.region}-{zone}" for place in PLACES for zone in ZONES)
    made, _ = bench(full=full, limits=HASTY)
    assert made.launch() is Exit.UNAVAILABLE
    assert sites_of(made) == list(full)
    assert made.result.reason == "no capacity at any of its 3 places: none in us-east-1-c"


def test_a_launcher_that_comes_later_asks_the_very_zone_that_was_recorded() -> None:
    """The prices have changed since, and with them the order."""
    made, runner = bench(limits=HASTY)
    died: list[str] = []

    def die_once(what: str) -> None:
        if what == "start" and not died:
            died.append(what)
            raise SystemExit

    runner.before = die_once
    try:
        made.launch()
    except SystemExit:
        runner.order = ("c", "b", "a")
    assert made.launch() is Exit.DONE
    assert sites_of(made) == ["us-west-2-a"]
    assert json.loads(json.dumps(next(iter(runner.trainings.values())).request.body))["zone"] == "us-west-2-a"


def test_what_an_older_launcher_recorded_without_a_zone_is_adopted() -> None:
    made, runner = bench(Life(refusals=[SweepError("the launcher dies")]))
    made.platform = plain = FakeRunner(Life(looks=[(TaskState.RUNNING, Cause.NONE), failed(Cause.CAPACITY)]))
    driver = made.driver()
    driver._take_step()
    driver._take_step()
    assert sites_of(made) == [""]
    runner.trainings, runner.lives = plain.trainings, []
    made.platform = runner
    assert made.launch() is Exit.DONE
    assert sites_of(made)[:2] == ["", "us-west-2-a"]


def test_an_attempt_is_at_its_place_in_whichever_zone_and_at_no_other_reservation() -> None:
    attempt = refused("a")[0].attempt
    assert attempt.is_at(PLACES[0])
    assert not attempt.is_at(PLACES[1])
    assert not attempt.is_at(replace(PLACES[0], site="b"))
    other = Lane("fake", "us-west-2", "ml.g5.xlarge", Purchase.ON_DEMAND)
    assert not attempt.is_at(replace(PLACES[0], lane=other))
