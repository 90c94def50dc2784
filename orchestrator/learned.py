"""What was learned from runs, and what a person has said of it: shown, pinned, forgotten."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timezone
from math import log
from typing import TYPE_CHECKING

from orchestrator.errors import Damaged, NewerVersion, UsageError, did_you_mean
from orchestrator.runs.past.marks import EVERY, Pin, Subject, What, forget, pin, pins, unpin
from orchestrator.wire.names import valid_run_name
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from orchestrator.catalog.catalog import Catalog
    from orchestrator.catalog.market import Past
    from orchestrator.catalog.priors import LanePrior
    from orchestrator.planner.hours.learned import LearnedType
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.spec.sweep import Sweep

SPOT_ONLY = (What.PRICE, What.INTERRUPTIONS)
"""Kinds that are learned of spot alone: other prices are the catalog's, and nobody takes other machines away."""
_EIGHT_IN_TEN = 2 * 1.2816
"""Standard deviations between the quantiles 0.1 and 0.9."""


@dataclass(frozen=True)
class LearnedRow:
    """One thing that was learned, or that a person has pinned."""

    what: What
    place: str
    """The lane; of a runtime, the instance type."""
    workload: str
    """Whose runtime it is; empty of all else."""
    value: float | None
    """What a plan counts: hours; of a price dollars an hour, of interruptions how many an hour."""
    prior: float | None
    """What it would count if nothing had run: None if that is not known, or is the guess of a runtime."""
    seen: float | None
    """What our own runs have shown."""
    rests_on: float
    """The amount of what was seen."""
    counted_in: str
    """What that is counted in."""
    weight: float
    """The part that it has in the value, beside the prior: 0 to 1."""
    refused: float | None = None
    """The chance that a lane refuses machines; of a wait only."""
    pinned_by: str = ""
    pinned_at: datetime | None = None


@dataclass(frozen=True)
class LearnedMark:
    """The record of what a person has said of something that is learned."""

    mark: str
    """`pin`, `unpin` or `forget`."""
    what: What
    place: str
    """The lane; of a runtime, the instance type; * for all."""
    workload: str
    value: float | None
    by: str
    at: datetime


class Learned:
    """Shows what was learned, and takes what a person says of it. Nothing that was observed is ever deleted."""

    def __init__(self, catalog: Catalog, ledger: Ledger, owner: str) -> None:
        self._catalog, self._ledger, self._owner = catalog, ledger, owner

    def rows(self, sweep: Sweep | None = None) -> list[LearnedRow]:
        """Return what was learned of lanes, and of the runtimes of this sweep's workload; without one, of every one."""
        from orchestrator.db.engine import reading

        with reading(self._catalog.engine_to_read) as connection:
            held = {one.subject: one for one in pins(connection)}
        found = [*self._runtimes(sweep), *self._of_lanes(held)]
        rows = [_with_pin(row, held.pop(_subject_of(row), None)) for row in found]
        wanted = [one for one in held.values() if sweep is None or one.subject.workload in ("", sweep.name)]
        rows += [_pinned_row(one) for one in wanted]
        order = list(What)
        return sorted(rows, key=lambda row: (order.index(row.what), row.workload, row.place))

    def pin(self, what: str, place: str, value: float, workload: str = "") -> LearnedMark:
        """Let a value count whatever is learned; a runtime is a `workload`'s. UsageError for what is unknown."""
        subject = Subject(What(what), place, workload)
        self._check(subject)
        now = datetime.now(timezone.utc)
        pin(self._catalog.engine, subject, value, self._owner, now)
        return self._mark("pin", subject, now, value)

    def unpin(self, what: str, place: str, workload: str = "") -> LearnedMark:
        """Let what is learned count again. UsageError if nothing is pinned."""
        subject, now = Subject(What(what), place, workload), datetime.now(timezone.utc)
        if not unpin(self._catalog.engine, subject, self._owner, now):
            raise UsageError(f"no {what} of {place} is pinned", hint="`sweep learned` shows pins")
        return self._mark("unpin", subject, now)

    def forget(self, what: str, place: str | None = None, workload: str = "") -> LearnedMark:
        """Let nothing count that was observed until now, of a place or of every one. UsageError for what is unknown."""
        subject = Subject(What(what), place or EVERY, workload)
        if place is not None or subject.what is What.RUNTIME or workload:
            self._check(subject)
        known = sorted({its for _, its in self._ledger.workloads()})
        if workload and workload not in known:
            raise UsageError(f"no run of {workload!r} is known", hint=did_you_mean(workload, known))
        now = datetime.now(timezone.utc)
        forget(self._catalog.engine, subject, self._owner, now)
        return self._mark("forget", subject, now)

    def _mark(self, mark: str, subject: Subject, at: datetime, value: float | None = None) -> LearnedMark:
        return LearnedMark(mark, subject.what, subject.place, subject.workload, value, self._owner, at)

    def _check(self, subject: Subject) -> None:
        """Raise UsageError for a subject that cannot be, or that no price is known of."""
        if subject.workload and subject.what is not What.RUNTIME:
            raise UsageError(
                f"--workload is for a runtime: the {subject.what.value} of a lane is that of all workloads"
            )
        if subject.workload and not valid_run_name(subject.workload):
            raise UsageError(f"{subject.workload!r} cannot name a workload: small letters, digits, single hyphens")
        machines = self._catalog.known_machines()
        if subject.what is What.RUNTIME:
            types = sorted({instance_type for _, _, instance_type in machines})
            if not subject.workload:
                raise UsageError("a runtime is of a workload", hint="name it with --workload")
            if subject.place not in (EVERY, *types):
                raise UsageError(f"no price of {subject.place} is known", hint=did_you_mean(subject.place, types))
            return
        lane = parse_lane(subject.place)
        if subject.what in SPOT_ONLY and lane.purchase is not Purchase.SPOT:
            raise UsageError(f"a {subject.what.value} is learned of spot only, not of {lane}")
        if (lane.platform, lane.region, lane.instance_type) not in machines:
            every = sorted("/".join((*machine, lane.purchase.value)) for machine in machines)
            raise UsageError(f"no price of {lane} is known", hint=did_you_mean(str(lane), every))

    def _runtimes(self, sweep: Sweep | None) -> Iterator[LearnedRow]:
        """Yield the runtimes that were learned, by workload and instance type."""
        from orchestrator.planner.hours.learn import learn
        from orchestrator.planner.hours.pinned_runtimes import pinned_runtimes, with_pinned
        from orchestrator.runs.known.history import history

        for its in self._sweeps() if sweep is None else [sweep]:
            past = history(self._catalog.engine_to_read, its.name)
            sizes = sorted({int(size) for size in past.history["bytes"]}) or [0]
            learned = learn(its, sizes, past.history)
            counted = with_pinned(its, sizes, learned, pinned_runtimes(past.seen.pins))
            for name, one in sorted(counted.types.items()) if counted else ():
                seen = learned.types.get(name) if learned else None
                if counted is None or seen is None or learned is None:
                    continue  # a pin of what nobody has seen
                yield LearnedRow(
                    What.RUNTIME,
                    name,
                    its.name,
                    value=counted.base_hours * one.pace,
                    prior=None,
                    seen=learned.base_hours * seen.pace,
                    rests_on=seen.tasks,
                    counted_in="tasks",
                    weight=_weight_of_tasks(seen),
                )

    def _sweeps(self) -> list[Sweep]:
        """Return the sweep of the newest run of each workload."""
        newest: dict[str, Sweep] = {}
        for name, workload in self._ledger.workloads():
            if workload in newest:
                continue
            try:
                anchor = self._ledger.anchor(name)
                if anchor is not None:
                    newest[workload] = anchor.plan.sweep
            except (Damaged, NewerVersion) as error:  # an older run may tell the same
                self._ledger.damage.note(error)
        return [newest[workload] for workload in sorted(newest)]

    def _of_lanes(self, held: dict[Subject, Pin]) -> Iterator[LearnedRow]:
        """Yield what was learned of lanes."""
        from orchestrator.runs.known.history import history_of_lanes

        past = history_of_lanes(self._catalog.engine_to_read)
        seen = {_spot(key) for key in _keys(past.discounts, 3)}
        seen |= {_spot(key) for key in _keys(past.seen.interrupted, 3)}
        for table in (past.seen.starts, past.seen.asked):
            seen |= {_lane(key) for key in _keys(table, 4)}
        named = {parse_lane(one.place) for one in held if one.what is not What.RUNTIME}
        priors = self._catalog.lane_priors(sorted(seen | named, key=str))
        yield from _prices(past, priors)
        yield from _interruptions(past, priors)
        yield from _waits(past)
        yield from _starts(past, priors)


def parse_lane(text: str) -> Lane:
    """Return the lane of this name. UsageError for what is none."""
    try:
        return Lane.parse(text)
    except ValueError as error:
        hint = "write it as `sweep learned` shows it: sagemaker/us-east-1/ml.g5.xlarge/spot"
        raise UsageError(f"{text!r} is no lane", hint=hint) from error


def _spot(key: Sequence[str]) -> Lane:
    """Return the spot lane of a platform, a Region and an instance type."""
    platform, region, instance_type = key
    return Lane(platform, region, instance_type, Purchase.SPOT)


def _lane(key: Sequence[str]) -> Lane:
    """Return the lane of a platform, a Region, an instance type and a purchase."""
    platform, region, instance_type, purchase = key
    return Lane(platform, region, instance_type, Purchase(purchase))


def _keys(table: pd.DataFrame, parts: int) -> Iterable[tuple[str, ...]]:
    return table.iloc[:, :parts].itertuples(index=False, name=None)


def _subject_of(row: LearnedRow) -> Subject:
    return Subject(row.what, row.place, row.workload)


def _with_pin(row: LearnedRow, one: Pin | None) -> LearnedRow:
    """Return the row with the pin that takes the place of what was learned."""
    if one is None:
        return row
    return replace(row, value=one.value, weight=0.0, pinned_by=one.by, pinned_at=one.at)


def _pinned_row(one: Pin) -> LearnedRow:
    """Return the row of a pin of what nobody has seen."""
    subject = one.subject
    row = LearnedRow(subject.what, subject.place, subject.workload, one.value, None, None, 0, "", 0.0)
    return replace(row, pinned_by=one.by, pinned_at=one.at)


def _weight_of_tasks(its: LearnedType) -> float:
    """Return the part that the tasks of a type have in its runtime, beside the speed of its accelerators."""
    from orchestrator.planner.hours.learn import TYPE_SD

    noise = log(its.high / its.low) / _EIGHT_IN_TEN
    return its.tasks / (its.tasks + (noise / TYPE_SD) ** 2)


def _prices(past: Past, priors: dict[Lane, LanePrior]) -> Iterator[LearnedRow]:
    from orchestrator.planner.offer.spot_prices import PRIOR_HOURS

    for *key, hours, paid in past.discounts.itertuples(index=False, name=None):
        lane = _spot(key)
        prior, on_demand = priors[lane].usd_per_hour, priors[lane].on_demand_usd_per_hour
        value = None
        if prior is not None:
            ceiling = on_demand or prior
            value = min((hours * paid + PRIOR_HOURS * min(prior, ceiling)) / (hours + PRIOR_HOURS), ceiling)
        weight = hours / (hours + PRIOR_HOURS)
        yield LearnedRow(What.PRICE, str(lane), "", value, prior, paid, hours, "hours", weight)


def _interruptions(past: Past, priors: dict[Lane, LanePrior]) -> Iterator[LearnedRow]:
    from orchestrator.planner.hours.interruptions import INTERRUPTIONS_PER_HOUR
    from orchestrator.planner.offer.spot_prices import PRIOR_HOURS

    for *key, hours, times in past.seen.interrupted.itertuples(index=False, name=None):
        lane = _spot(key)
        known = priors[lane].interruptions_per_hour
        prior = INTERRUPTIONS_PER_HOUR if known is None else known
        value, weight = (times + PRIOR_HOURS * prior) / (hours + PRIOR_HOURS), hours / (hours + PRIOR_HOURS)
        yield LearnedRow(What.INTERRUPTIONS, str(lane), "", value, prior, times / hours, hours, "hours", weight)


def _waits(past: Past) -> Iterator[LearnedRow]:
    from orchestrator.planner.hours.lane_times import PRIOR_ASKED_HOURS, chance_refused, expected_wait

    for *key, asked, refused, granted, waited in past.seen.asked.itertuples(index=False, name=None):
        chance, weight = chance_refused(asked, refused), asked / (asked + PRIOR_ASKED_HOURS)
        value, seen = float(expected_wait(chance, granted, waited)), waited / granted if granted else None
        place = "/".join(key)
        yield LearnedRow(What.WAITING, place, "", value, 0.0, seen, asked, "hours asked", weight, float(chance))


def _starts(past: Past, priors: dict[Lane, LanePrior]) -> Iterator[LearnedRow]:
    from orchestrator.planner.hours.lane_times import PRIOR_TRAININGS

    for *key, trainings, seen in past.seen.starts.itertuples(index=False, name=None):
        prior = priors[_lane(key)].start_h
        value = (trainings * seen + PRIOR_TRAININGS * prior) / (trainings + PRIOR_TRAININGS)
        weight = trainings / (trainings + PRIOR_TRAININGS)
        yield LearnedRow(What.START, "/".join(key), "", value, prior, seen, trainings, "trainings", weight)
