"""A team's runs: each made once, and opened from anywhere.

The bucket is asked before the database is believed: what the database has noted, and the bucket does not have, is no
run.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, CloudError, Damaged, NewerVersion, Refused, UsageError
from orchestrator.runs.run import Run
from orchestrator.runs.written import anchor as anchors

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.s3 import S3
    from orchestrator.plan.plan import Plan
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.home import Home
    from orchestrator.spec.sweep import Sweep

log = logging.getLogger(__name__)

_MAKE_ONE = "`sweep submit` makes one"
_NAME_BUCKET = f"{_MAKE_ONE}; a team's are found by their bucket: SWEEP_BUCKET, or `bucket` in sweep.toml"


class Runs:
    """The runs of one control bucket, as one database remembers them."""

    def __init__(self, ledger: Ledger, cloud_at: Callable[[Home | None], Cloud], bucket: str) -> None:
        """Take the name of the control bucket beside them; it is empty where the settings name none."""
        self.ledger = ledger
        self._bucket_name = bucket
        self._cloud_at = cloud_at
        """Returns the AWS of a run with this home. Without one, it is that of our settings."""

    @property
    def _bucket(self) -> S3:
        return self._cloud_at(None).s3

    def make(
        self, wanted: Anchor, check: Callable[[Anchor], None], stale: Callable[[Plan], str], *, again: bool
    ) -> Anchor:
        """Make this run, or return the one that is there; with `again`, make it under the first name that is free.

        Before anything is written, `check` raises what speaks against it, and Refused is raised for a plan of which
        `stale` says why it no longer holds. UsageError if another plan, or other sources, have the name already.
        """

        def reserve(candidate: Anchor) -> Anchor:
            check(candidate)
            return self.reserve(candidate, stale)

        return anchors.claim(wanted, self._bucket, anchors.Notes(reserve, self.ledger.forget), again=again)

    def foresee(
        self, wanted: Anchor, check: Callable[[Anchor], None], stale: Callable[[Plan], str], *, again: bool
    ) -> Anchor:
        """Return the run that `make` would make or find; raise what it would raise. Nothing is written."""
        for candidate in anchors.candidates(wanted):
            there = anchors.find(self._bucket, candidate.name)
            if there and not again:
                return anchors.same(there, candidate)
            if not there:
                break
        check(candidate)
        self._known(candidate.name)
        if not self._is_noted(candidate):
            _refuse_if(stale, candidate.plan)
        return candidate

    def reserve(self, wanted: Anchor, stale: Callable[[Plan], str]) -> Anchor:
        """Note the run with its slots, before it is made, so that what is refused leaves nothing behind.

        What this very run has noted is returned as it is: a submit was killed on its way, or another one is ahead of
        us. Anything else that is noted under its name, and is in no bucket, goes.
        """
        from orchestrator.runs.known.lease import booking, holds

        noted = self.ledger.note(wanted.name)
        if noted and not noted.is_same(wanted):
            self.ledger.forget(noted)  # so that it holds no slots
        self._known(wanted.name)
        with booking(self.ledger) as slots:
            noted = self.ledger.note(wanted.name) or self.ledger.anchor(wanted.name)
            if noted and noted.is_same(wanted) and holds(wanted.name, self.ledger):
                return noted
            if noted and not noted.is_same(wanted) and anchors.find(self._bucket, wanted.name):
                return wanted  # somebody has just made another run of this name: it will be found
            _refuse_if(stale, wanted.plan)
            slots.take(wanted, self._cloud_at(None).account)
        return wanted

    def _is_noted(self, wanted: Anchor) -> bool:
        """Return whether a submit of this very run was stopped before it was made, and holds its slots yet."""
        from orchestrator.runs.known.lease import holds

        noted = self.ledger.note(wanted.name)
        return noted is not None and noted.is_same(wanted) and holds(wanted.name, self.ledger)

    def resume(self, wanted: Anchor) -> Anchor | None:
        """Return the run that is there already, or None. UsageError if it is another one."""
        there = anchors.find(self._bucket, wanted.name)
        return there and anchors.same(there, wanted)

    def open(self, name: str | None = None) -> Run:
        """Open a run by its name; the newest if none is named. UsageError if there is none, or none here."""
        if name is None:
            names = self.names()
            if not names:
                raise UsageError("there are no runs yet", hint=_MAKE_ONE if self._bucket_name else _NAME_BUCKET)
            name = names[0]
        known = self._known(name)
        return self.opened(known or self._read(name))

    def listed(self, name: str) -> Run:
        """Open a run of `names` to show what the database knows of it, whichever bucket it was seen in."""
        return self.opened(self.ledger.anchor(name) or self._read(name))

    def opened(self, anchor: Anchor) -> Run:
        """Return this run, with the AWS of its home."""
        return Run(anchor, self.ledger, lambda: self._cloud_at(anchor.home))

    def names(self) -> list[str]:
        """Return the names of runs, newest first. An empty database first learns what the bucket holds."""
        if not self.ledger.names() and self._bucket_name:
            self.learn()
        return self.ledger.names()

    def of_sweep(self, sweep: Sweep, name: str | None = None) -> Run | None:
        """Return the run that a submit of this very sweep goes on with, or None.

        With a name it is the run of that name, however it stands; without one, the newest that has not ended. The
        bucket knows them all, so it is found whoever submitted it, and whatever its plan has cost.
        """
        if name is None:
            found = anchors.of_sweep(self._bucket, sweep, self.ledger.damage.note)
        else:
            named = anchors.find(self._bucket, anchors.run_name(name))
            found = [named] if named else []
        for anchor in found:
            if anchors.same_sweep(anchor.plan.sweep, sweep):
                self.ledger.remember(anchor, self._cloud_at(anchor.home).account)
                run = self.opened(anchor)
                run.sync_as_far_as_possible()
                if name is not None or not run.status().finished:
                    return run
        return None

    def _known(self, name: str) -> Anchor | None:
        """Return the run of this name if the database has understood it.

        UsageError for one that was seen in another bucket than ours, unless the bucket was copied.
        """
        try:
            known = self.ledger.anchor(name)
        except Damaged as error:
            log.warning("%s: it is read anew", error)
            return None
        bucket = self.ledger.bucket(name)
        if known is None or self._bucket_name in ("", bucket):
            return known
        if anchors.holds(self._bucket, known):
            self.ledger.remember(known, self._cloud_at(known.home).account)
            return known
        raise UsageError(
            f"run {known.name!r} is in the bucket {bucket}, and these settings name {self._bucket_name}",
            hint=f"SWEEP_BUCKET={bucket} before the command opens it",
        )

    def _read(self, name: str) -> Anchor:
        """Return the run of this name from the bucket, and remember it."""
        anchor = anchors.find(self._bucket, name)
        if anchor is None:
            hint = "`sweep runs` lists them"
            if self.ledger.note(name):
                hint = "a submit of it was stopped before it began: the same command again completes it"
            raise UsageError(f"no run {name!r}", where=f"s3://{self._bucket_name}", hint=hint)
        self.ledger.remember(anchor, self._cloud_at(anchor.home).account)
        return anchor

    def learn(self) -> list[str]:
        """Remember every run that the bucket holds. Return what could not be read, a line each.

        An empty database has nothing to fall back on: what keeps it from listing the bucket is raised.
        """
        known = set(self.ledger.names())
        try:
            new = [name for name in anchors.names(self._bucket) if name not in known]
        except (CloudError, AccessError) as error:
            if not known:
                raise
            return [f"runs that others have submitted may be missing: {error}"]
        return [line for name in new if (line := self._learn_of(name))]

    def _learn_of(self, name: str) -> str:
        """Remember this run of the bucket. Return in a line why it cannot be read; nothing if it can, or is gone."""
        try:
            anchor = anchors.find(self._bucket, name)
        except (Damaged, NewerVersion) as error:
            self.ledger.damage.note(error)
            return f"run {name}: {error}"
        except (CloudError, AccessError) as error:
            return f"run {name}: {error}"
        if anchor:
            self.ledger.remember(anchor, self._cloud_at(anchor.home).account)
        return ""


def _refuse_if(stale: Callable[[Plan], str], plan: Plan) -> None:
    """Raise Refused for a plan that no longer holds."""
    reason = stale(plan)
    if reason:
        raise Refused(f"plan {plan.id} is stale: {reason}", hint="--replan plans anew, and asks")
