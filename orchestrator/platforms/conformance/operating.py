"""The conformance suite's part for a platform's Operating: see `suite.py`, which every platform is tested by."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from orchestrator.platforms.registry import make_operating
from orchestrator.wire.result import Cause, TaskState

if TYPE_CHECKING:
    from orchestrator.platforms.account.operating import Operating
    from orchestrator.platforms.conformance.subject import Subject

ROLES = ("submit", "launcher", "training")


class OperatingConformance:
    """The tests of the part that is asked whenever an account is set up or cleaned up."""

    def test_what_a_role_needs_is_statements_of_a_policy(self, subject: Subject) -> None:
        operating = _operating(subject)
        for role in ROLES:
            for statement in operating.permissions(role):
                assert statement["Effect"] in ("Allow", "Deny")
                assert {"Action", "Resource"} <= statement.keys()
                assert json.loads(json.dumps(statement)) == statement
        assert list(operating.permissions("nobody")) == []
        assert all(service.endswith(".amazonaws.com") for service in operating.trusted())

    def test_each_feed_has_a_name_of_its_own(self, subject: Subject) -> None:
        names = [feed.name for feed in _operating(subject).feeds()]
        assert all(names)
        assert len(set(names)) == len(names)

    def test_the_image_of_a_lane_is_a_text(self, subject: Subject) -> None:
        assert isinstance(_operating(subject).image(subject.template, subject.place.lane), str)

    def test_what_runs_is_alive_where_the_platform_looks_and_its_steps_follow_each_other(
        self, subject: Subject
    ) -> None:
        operating, clients, lane = _operating(subject), subject.clients, subject.place.lane
        attempt = subject.attempt(subject.task(28, "hang"))
        assert list(operating.steps(clients, attempt)) == []
        attempt = subject.start(subject.task(28, "hang"))
        subject.outcome(attempt, TaskState.RUNNING)
        regions = operating.regions(clients)
        alive = {one.training: one for one in operating.alive(clients, lane.region)}
        assert lane.region not in regions or attempt.training in alive
        for one in alive.values():
            if one.training == attempt.training:
                assert (one.run, one.task, one.attempt, one.lane) == (subject.template.run, 28, 1, lane)
        subject.connect().stop(attempt)
        assert subject.outcome(attempt).cause is Cause.STOPPED
        assert attempt.training not in {one.training for one in operating.alive(clients, lane.region)}
        steps = list(operating.steps(clients, attempt))
        assert all(step.ended_at is not None and step.began_at <= step.ended_at for step in steps)
        assert [step.began_at for step in steps] == sorted(step.began_at for step in steps)


def _operating(subject: Subject) -> Operating:
    return make_operating(subject.place.lane.platform)
